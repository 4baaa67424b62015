"""Simulated single scores: means and contrasts of the report, judge severity, gates, noise and plans."""

import math
import random
from fractions import Fraction

from normalizer.aggregate.intervals import (
    Method,
    of_cluster_sums,
    of_resampled_clusters,
    of_resampled_units,
    wilson_interval,
)
from normalizer.gate.verdict import decide
from normalizer.noise.components import components
from normalizer.noise.sample_size import items_needed
from normalizer.statistics.signflip import holm, sign_flip
from normalizer.statistics.spread import spread
from tools.coverage import Answers, Study, holds, intervals, question

_METHOD = Method(bootstrap=True, resamples=400, seed=0)
_TOTALS = {10: 35, 9: 25, 8: 15, 7: 8, 6: 6, 5: 4, 4: 3, 2: 2, 0: 2}
"""Totals from 0 to 10 in percent: most of them near the top, as judges give them."""
_MEAN = sum(total * share for total, share in _TOTALS.items()) / 100
_UNIT = 1000
"""Drawn numbers are rounded to thousandths, so that they are exact fractions."""


def _totals(rng: random.Random, n: int) -> list[int]:
    return rng.choices(list(_TOTALS), list(_TOTALS.values()), k=n)


def _exactly(value: float) -> Fraction:
    return Fraction(round(_UNIT * value), _UNIT)


def _mean(n: int) -> Study:
    named = f"mean of totals near the top, {n} units"

    def draw(rng: random.Random) -> Answers:
        totals = _totals(rng, n)
        values = sorted(set(totals))
        drawn = of_resampled_units(values, [totals.count(value) for value in values], 1, _METHOD)
        student = spread([Fraction(total) for total in totals], "mean", "unit")[0]["ci95"]
        return {f"{named}, t": holds(student, _MEAN), f"{named}, bootstrap": holds(drawn, _MEAN)}

    return intervals([f"{named}, {how}" for how in ("t", "bootstrap")], draw)


def _clustered(clusters: int) -> Study:
    """From 1 to 5 units in a cluster, whose values share a part."""
    named = f"mean, {clusters} clusters"

    def draw(rng: random.Random) -> Answers:
        sizes, sums = [], []
        for _ in range(clusters):
            shared, size = rng.gauss(0, 1), rng.randint(1, 5)
            sizes.append(size)
            sums.append(sum(round(_UNIT * (shared + rng.gauss(0, 1))) for _ in range(size)))
        [drawn] = of_resampled_clusters(sizes, [sums], _UNIT, _METHOD)
        return {
            f"{named}, t": holds(of_cluster_sums(sizes, sums, _UNIT), 0.0),
            f"{named}, bootstrap": holds(drawn, 0.0),
        }

    return intervals([f"{named}, {how}" for how in ("t", "bootstrap")], draw)


def _invalid_rate(n: int, share: float) -> Study:
    return question(
        f"rate of INVALID records, {100 * share:g} % of {n}",
        lambda rng: holds(wilson_interval(Fraction(sum(rng.random() < share for _ in range(n)), n), n), share),
    )


def _differences(rng: random.Random, pairs: int, gain: float = 0.0) -> list[Fraction]:
    """Paired differences of totals from 0 to 10: item deviation 2, noise 1 on each side."""
    gaps = []
    for _ in range(pairs):
        base = rng.gauss(6, 2)
        one, other = (round(min(10, max(0, base + more + rng.gauss(0, 1)))) for more in (0.0, gain))
        gaps.append(Fraction(other - one))
    return gaps


def _contrast(pairs: int) -> Study:
    return question(
        f"contrast, {pairs} pairs",
        lambda rng: holds(spread(_differences(rng, pairs), "difference", "pair")[0]["ci95"], 0.0),
    )


def _found(pairs: int, tests: int) -> Study:
    """Whether one of several sign-flip tests finds a difference where there is none, after Holm's correction."""

    def draw(rng: random.Random) -> bool:
        found = holm([sign_flip(_differences(rng, pairs), 0).p for _ in range(tests)])
        return any(p is not None and p <= Fraction(5, 100) for p in found)

    return question(f"{tests} tests of contrasts, {pairs} pairs, no difference: a p at most 0.05", draw, "at most 5 %")


def _gate(pairs: int, gain: float, margin: str, nominal: dict[str, str]) -> Study:
    """`nominal` has the promised share of each verdict that is asked about; `passes` is better or no worse."""
    start = f"gate, {'A/A' if gain == 0 else f'{-gain:g} worse'}, {pairs} pairs"
    start += f", margin {float(Fraction(margin)):g}" if margin != "0" else ""

    def draw(rng: random.Random) -> Answers:
        verdict = decide(_differences(rng, pairs, gain), Fraction(margin), 0.05)["verdict"]
        passes = verdict in ("better", "no_worse")
        return {f"{start}: {asked}": passes if asked == "passes" else verdict == asked for asked in nominal}

    return Study({f"{start}: {asked}": share for asked, share in nominal.items()}, draw)


def _noise_share(items: int, repeats: tuple[int, ...], share: float) -> Study:
    """`repeats` are the numbers of labels an item may have."""

    def draw(rng: random.Random) -> bool | None:
        table = []
        for _ in range(items):
            level = rng.gauss(0, math.sqrt(1 - share))
            table.append([_exactly(level + rng.gauss(0, math.sqrt(share))) for _ in range(rng.choice(repeats))])
        return holds(components(table)["noise_share_ci95"], share)

    told = f"{repeats[0]} to {repeats[-1]}" if len(repeats) > 1 else f"{repeats[0]}"
    return question(f"noise share {share}, {items} items, {told} repeats", draw)


def _planned(deviation: float, gap: float) -> Study:
    """Whether a study of the planned size finds the difference it was planned for."""
    pairs = items_needed(gap, deviation, power=0.8, alpha=0.05)

    def draw(rng: random.Random) -> bool:
        gaps = [_exactly(rng.gauss(gap, deviation)) for _ in range(pairs)]
        return bool(decide(gaps, Fraction(0), 0.05)["verdict"] == "better")

    return question(f"plan: difference of {gap:g}, deviation {deviation:g}: found", draw, "80 %")


STUDIES = [
    _mean(20),
    _mean(50),
    _clustered(12),
    _clustered(40),
    _invalid_rate(100, 0.05),
    _contrast(12),
    _contrast(50),
    _found(20, 1),
    _found(20, 3),
    _gate(50, 0.0, "0", {"worse": "2.5 %", "better": "2.5 %"}),
    _gate(50, 0.0, "1/2", {"passes": "none"}),
    _gate(50, -0.5, "0", {"worse": "none"}),
    _gate(150, -0.5, "0", {"worse": "none"}),
    _gate(50, -0.55, "1/2", {"passes": "at most 2.5 %"}),
    _noise_share(50, (3,), 0.3),
    _noise_share(50, (1, 2, 3, 4), 0.3),
    _planned(1.0, 0.3),
    _planned(2.0, 0.5),
]
