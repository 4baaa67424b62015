"""Print how wide intervals of differences are, beside other known ones: python -m tools.interval_coverage.widths.

The others assume no more than the scale: the betting interval of Waudby-Smith and Ramdas (2024, hedged capital with
plug-in bets), the empirical Bernstein bound of Maurer and Pontil (2009), Hoeffding's (1963). None of them is used by
the product; they depend on the order of pairs, or are wider.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from normalizer.estimation.clusters import Clusters
from normalizer.estimation.paired_test import examine_differences
from tools.interval_coverage import Ends
from tools.interval_coverage.differences import draw_differences, draw_failures, draw_three_valued
from tools.interval_coverage.known_methods import bernstein, bet, hoeffding
from tools.interval_coverage.scores import Design

_SIZES = (20, 50, 100, 200)


def _rescale(method: Callable[[Sequence[float]], Ends], gaps: Clusters, reach: int) -> Ends:
    """Return the interval of differences by a method for values from 0 to 1, cut to the scale."""
    values = [float((gap + reach) / (2 * reach)) for gap in gaps.sums()]
    random.Random(0).shuffle(values)
    low, high = method(values)
    return max(2 * reach * low - reach, -reach), min(2 * reach * high - reach, reach)


def _examine(assume: str, gaps: Clusters, reach: int, *, always_valid: bool = False) -> Ends:
    low, high = examine_differences(gaps, Fraction(reach), assume, always_valid=always_valid).interval
    return float(low), float(high)


METHODS: dict[str, Callable[[Clusters, int], Ends]] = {
    "scale": partial(_examine, "scale"),
    "spread": partial(_examine, "spread"),
    "always-valid": partial(_examine, "scale", always_valid=True),
    "betting": partial(_rescale, bet),
    "Bernstein": partial(_rescale, bernstein),
    "Hoeffding": partial(_rescale, hoeffding),
}
DESIGNS: dict[str, tuple[Callable[[random.Random, int], Clusters], float, int]] = {
    "totals from 0 to 10, deviation 1.4": (lambda rng, n: draw_differences(rng, Design(n)), 0.0, 10),
    "totals, a loss of 8 in 5 %": (lambda rng, n: draw_failures(rng, n, 0.05), -0.4, 10),
    "pass/fail, 10 % better, 10 % worse": (lambda rng, n: draw_three_valued(rng, n, 0.1, 0.1), 0.0, 1),
}


def main() -> None:
    """Print a row for each design and number of pairs: mean width, and cover in parentheses."""
    parser = argparse.ArgumentParser(prog="python -m tools.interval_coverage.widths", description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    print(f"| differences | pairs | {' | '.join(METHODS)} |\n| --- | ---: |{' ---: |' * len(METHODS)}", flush=True)
    for name, (draw, truth, reach) in DESIGNS.items():
        for n in _SIZES:
            drawn = [draw(random.Random(f"{n}/{run}"), n) for run in range(runs)]
            cells = []
            for method in METHODS.values():
                found = [method(gaps, reach) for gaps in drawn]
                width = sum(float(high - low) for low, high in found) / runs
                cover = sum(low <= truth <= high for low, high in found) / runs
                cells.append(f"{width:.3g} ({100 * cover:.0f} %)")
            print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
