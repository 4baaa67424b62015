"""Simulated single scores: means and differences, gates, noise and plans.

Designs are those that people have: few units, scores that are nearly all alike, several answers to one question, losses
that are rare and large. Each says in its name what makes it hard.
"""

import math
import random
from fractions import Fraction
from typing import NamedTuple

from normalizer.aggregate.intervals import wilson_interval
from normalizer.estimation.clusters import Clusters, gather
from normalizer.estimation.intervals import difference_interval, mean_interval
from normalizer.gate.verdict import PASSES, Terms, decide
from normalizer.noise.components import components
from normalizer.noise.sample_size import items_needed
from normalizer.statistics.signflip import holm, sign_flip
from tools.interval_coverage import Answers, Study, holds, question

_TOTALS = {10: 35, 9: 25, 8: 15, 7: 8, 6: 6, 5: 4, 4: 3, 2: 2, 0: 2}
"""Totals from 0 to 10 in percent: most of them near the top, as judges give them."""
_RARE = {10: 50, 9: 47, 0: 3}
"""Totals that are good but for a rare failure."""
_UNIT = 1000
"""Drawn numbers are rounded to thousandths, so that they are exact fractions."""


class _Design(NamedTuple):
    """Items, answers to each, and how alike these are."""

    items: int
    answers: int = 1
    alike: float = 0.0
    """The intraclass correlation: the share of the variance that the answers to one item have in common."""

    def __str__(self) -> str:
        if self.answers == 1:
            return f"{self.items} items"
        return f"{self.items} items with {self.answers} answers, ICC {self.alike:g}"


def _exactly(value: float) -> Fraction:
    return Fraction(round(_UNIT * value), _UNIT)


def _deviations(rng: random.Random, design: _Design) -> list[tuple[int, float]]:
    """Standard normal deviations of all answers, with their items."""
    found = []
    for item in range(design.items):
        shared = rng.gauss(0, math.sqrt(design.alike))
        found += [(item, shared + rng.gauss(0, math.sqrt(1 - design.alike))) for _ in range(design.answers)]
    return found


def _pass_fail(rng: random.Random, design: _Design, share: float) -> Clusters:
    """Scores of 0 and 1; the answers to an item have a chance in common, from a beta distribution."""
    values, items = [], []
    for item in range(design.items):
        more = (1 - design.alike) / design.alike if design.alike else 0
        chance = rng.betavariate(share * more, (1 - share) * more) if more else share
        values += [Fraction(rng.random() < chance) for _ in range(design.answers)]
        items += [item] * design.answers
    return gather(values, items)


def _graded(rng: random.Random, design: _Design) -> Clusters:
    """Scores from 0 to 10 around 6, with a standard deviation of 1.5."""
    drawn = _deviations(rng, design)
    return gather([_exactly(min(10, max(0, 6 + 1.5 * value))) for _, value in drawn], [item for item, _ in drawn])


def _listed(rng: random.Random, n: int, shares: dict[int, int]) -> Clusters:
    return gather([Fraction(total) for total in rng.choices(list(shares), list(shares.values()), k=n)])


def _mean_of_pass_fail(design: _Design, share: float) -> Study:
    return question(
        f"mean of pass/fail, {100 * share:g} % pass, {design}",
        lambda rng: holds(mean_interval(_pass_fail(rng, design, share), (Fraction(0), Fraction(1))), share),
    )


def _mean_of_listed(name: str, n: int, shares: dict[int, int]) -> Study:
    truth = sum(total * share for total, share in shares.items()) / 100
    return question(
        f"mean of totals {name}, {n} items",
        lambda rng: holds(mean_interval(_listed(rng, n, shares), (Fraction(0), Fraction(10))), truth),
    )


def _mean_of_graded(design: _Design) -> Study:
    return question(
        f"mean of totals in the middle, {design}",
        lambda rng: holds(mean_interval(_graded(rng, design), (Fraction(0), Fraction(10))), 6.0),
    )


def _invalid_rate(n: int, share: float) -> Study:
    return question(
        f"rate of INVALID records, {100 * share:g} % of {n}",
        lambda rng: holds(wilson_interval(Fraction(sum(rng.random() < share for _ in range(n)), n), n), share),
    )


def _differences(rng: random.Random, design: _Design, gain: float = 0.0) -> Clusters:
    """Paired differences of totals from 0 to 10: noise of 1 on each side, and a part that an item's pairs share."""
    gaps, items = [], []
    for item in range(design.items):
        shared = rng.gauss(0, math.sqrt(2 * design.alike))
        own = math.sqrt(2 * (1 - design.alike)) / math.sqrt(2)
        for _ in range(design.answers):
            level = rng.gauss(6, 2)
            one = round(min(10, max(0, level + rng.gauss(0, own))))
            other = round(min(10, max(0, level + gain + shared + rng.gauss(0, own))))
            gaps.append(Fraction(other - one))
            items.append(item)
    return gather(gaps, items)


def _three_valued(rng: random.Random, n: int, better: float, worse: float) -> Clusters:
    """Differences of pass/fail: 1, -1 or 0."""
    drawn = (rng.random() for _ in range(n))
    return gather([Fraction(1 if at < better else -1 if at < better + worse else 0) for at in drawn])


def _with_failures(rng: random.Random, n: int, share: float) -> Clusters:
    """Differences of -2 to 2 in half of the pairs, and rare failures that cost 8."""
    gaps = []
    for _ in range(n):
        small = rng.choice((-2, -1, 1, 2)) if rng.random() < 0.5 else 0
        gaps.append(Fraction(-8 if rng.random() < share else small))
    return gather(gaps)


def _interval(gaps: Clusters, reach: int) -> tuple[Fraction, Fraction]:
    return difference_interval(gaps, Fraction(reach), sign_flip(gaps.sums(), 0, 2000).p)


def _contrast(design: _Design) -> Study:
    return question(f"difference of totals, {design}", lambda rng: holds(_interval(_differences(rng, design), 10), 0.0))


def _contrast_of_pass_fail(n: int, better: float, worse: float) -> Study:
    return question(
        f"difference of pass/fail, {n} items, {100 * better:g} % better and {100 * worse:g} % worse",
        lambda rng: holds(_interval(_three_valued(rng, n, better, worse), 1), better - worse),
    )


def _contrast_with_failures(n: int, share: float) -> Study:
    return question(
        f"difference of totals, {n} items, a loss of 8 in {100 * share:g} %",
        lambda rng: holds(_interval(_with_failures(rng, n, share), 10), -8 * share),
    )


def _found(design: _Design, tests: int) -> Study:
    """Whether one of several sign-flip tests finds a difference where there is none, after Holm's correction."""

    def draw(rng: random.Random) -> bool:
        found = holm([sign_flip(_differences(rng, design).sums(), 0, 2000).p for _ in range(tests)])
        return any(p is not None and p <= Fraction(5, 100) for p in found)

    return question(f"{tests} tests of no difference, {design}: a p at most 0.05", draw, "at most 5 %")


def _gate(design: _Design, gain: float, margin: str, nominal: dict[str, str]) -> Study:
    """`nominal` has the promised share of each verdict that is asked about; `passes` is every verdict that does."""
    start = f"gate, {'A/A' if gain == 0 else f'{-gain:g} worse'}, {design}"
    start += f", margin {float(Fraction(margin)):g}" if margin != "0" else ""

    def draw(rng: random.Random) -> Answers:
        verdict = decide(_differences(rng, design, gain), Terms(Fraction(10), Fraction(margin), 0.05)).verdict
        return {f"{start}: {asked}": verdict in PASSES if asked == "passes" else verdict == asked for asked in nominal}

    return Study({f"{start}: {asked}": share for asked, share in nominal.items()}, draw)


def _gate_on_pass_fail(n: int, worse: float, margin: str) -> Study:
    terms = Terms(Fraction(1), Fraction(margin), 0.05)
    return question(
        f"gate on pass/fail, {100 * worse:g} % worse, {n} items, margin {float(Fraction(margin)):g}: passes",
        lambda rng: decide(_three_valued(rng, n, 0.0, worse), terms).passes,
        "at most 2.5 %",
    )


def _noise_share(items: int, repeats: tuple[int, ...], share: float) -> Study:
    """`repeats` are the numbers of labels an item may have."""

    def draw(rng: random.Random) -> bool | None:
        table = []
        for _ in range(items):
            level = rng.gauss(0, math.sqrt(1 - share))
            table.append([_exactly(level + rng.gauss(0, math.sqrt(share))) for _ in range(rng.choice(repeats))])
        return holds(components([table])["noise_share_ci95"], share)

    told = f"{repeats[0]} to {repeats[-1]}" if len(repeats) > 1 else f"{repeats[0]}"
    return question(f"noise share {share}, {items} items, {told} repeats", draw)


def _flips(items: int, repeats: int, passes: float, flips: float) -> Study:
    """Pass/fail labels that are turned around now and then: the noise share has few items to show for it."""
    seen = passes * (1 - flips) + (1 - passes) * flips
    truth = flips * (1 - flips) / (seen * (1 - seen))

    def draw(rng: random.Random) -> bool | None:
        table = []
        for _ in range(items):
            good = rng.random() < passes
            table.append([Fraction(good != (rng.random() < flips)) for _ in range(repeats)])
        return holds(components([table])["noise_share_ci95"], truth)

    return question(
        f"noise share of pass/fail, {100 * passes:g} % pass, {100 * flips:g} % flip, {items} items, {repeats} repeats",
        draw,
    )


def _planned(deviation: float, gap: float) -> Study:
    """Whether a study of the planned size finds the difference it was planned for."""
    pairs = items_needed(gap, deviation, power=0.8, alpha=0.05)

    def draw(rng: random.Random) -> bool:
        gaps = [_exactly(rng.gauss(gap, deviation)) for _ in range(pairs)]
        return decide(gather(gaps), Terms(Fraction(10), Fraction(0), 0.05)).verdict == "better"

    return question(f"plan: difference of {gap:g}, deviation {deviation:g}: found", draw, "80 %")


STUDIES = [
    _mean_of_pass_fail(_Design(5), 0.9),
    _mean_of_pass_fail(_Design(10), 0.9),
    _mean_of_pass_fail(_Design(20), 0.95),
    _mean_of_pass_fail(_Design(30, 4, 0.3), 0.9),
    _mean_of_listed("near the top", 5, _TOTALS),
    _mean_of_listed("near the top", 20, _TOTALS),
    _mean_of_listed("near the top", 50, _TOTALS),
    _mean_of_listed("with a rare failure", 20, _RARE),
    _mean_of_graded(_Design(10)),
    _mean_of_graded(_Design(30, 4, 0.3)),
    _mean_of_graded(_Design(30, 4, 0.6)),
    _mean_of_graded(_Design(30, 10, 0.5)),
    _mean_of_graded(_Design(5, 8, 0.3)),
    _invalid_rate(100, 0.05),
    _contrast(_Design(12)),
    _contrast(_Design(50)),
    _contrast(_Design(10, 8, 0.3)),
    _contrast_of_pass_fail(50, 0.0, 0.03),
    _contrast_of_pass_fail(50, 0.1, 0.1),
    _contrast_with_failures(50, 0.02),
    _contrast_with_failures(20, 0.05),
    _found(_Design(20), 1),
    _found(_Design(20), 3),
    _found(_Design(10, 8, 0.3), 1),
    _gate(_Design(50), 0.0, "0", {"worse": "at most 2.5 %", "better": "at most 2.5 %"}),
    _gate(_Design(10, 5, 0.3), 0.0, "0", {"worse": "at most 2.5 %"}),
    _gate(_Design(20, 10, 0.3), 0.0, "0", {"worse": "at most 2.5 %"}),
    _gate(_Design(50), 0.0, "1/2", {"passes": "none"}),
    _gate(_Design(150), 0.0, "1/2", {"passes": "none"}),
    _gate(_Design(50), -0.5, "0", {"worse": "none"}),
    _gate(_Design(150), -0.5, "0", {"worse": "none"}),
    _gate(_Design(50), -0.55, "1/2", {"passes": "at most 2.5 %"}),
    _gate_on_pass_fail(10, 0.1, "0.05"),
    _gate_on_pass_fail(50, 0.03, "0.02"),
    _noise_share(50, (3,), 0.3),
    _noise_share(50, (1, 2, 3, 4), 0.3),
    _flips(50, 3, 0.5, 0.03),
    _flips(50, 3, 0.5, 0.05),
    _flips(20, 3, 0.9, 0.05),
    _planned(1.0, 0.3),
    _planned(2.0, 0.5),
]
