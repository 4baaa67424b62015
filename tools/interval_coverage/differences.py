"""Simulated differences of pairs: contrasts and gates, under both assumptions, where these hold and where they do not.

`spread` is meant to fail where losses are rare and large: what a run shows says nothing about those that it does not.
"""

import math
import random
from collections.abc import Callable
from fractions import Fraction

from normalizer.estimation.clusters import Clusters, gather
from normalizer.estimation.paired_test import ASSUMPTIONS, SCALE, SPREAD, examine_differences
from normalizer.gate.verdict import PASSES, Terms, decide, pairs_needed
from normalizer.noise.sample_size import items_needed
from normalizer.statistics.signflip import holm
from tools.interval_coverage import Answers, Study, holds, intervals, question
from tools.interval_coverage.known_methods import of_mean
from tools.interval_coverage.scores import Design, exactly

Draw = Callable[[random.Random], Clusters]


def draw_differences(rng: random.Random, design: Design, gain: float = 0.0) -> Clusters:
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


def draw_unequal(rng: random.Random, large: int, small: int, answers: int, alike: float) -> Clusters:
    """Differences of which few items have many answers, and the others one."""
    gaps, items = [], []
    for item in range(large + small):
        shared = rng.gauss(0, math.sqrt(alike))
        for _ in range(answers if item < large else 1):
            gaps.append(exactly(shared + rng.gauss(0, math.sqrt(1 - alike))))
            items.append(item)
    return gather(gaps, items)


def draw_three_valued(rng: random.Random, n: int, better: float, worse: float) -> Clusters:
    """Differences of pass/fail: 1, -1 or 0."""
    drawn = (rng.random() for _ in range(n))
    return gather([Fraction(1 if at < better else -1 if at < better + worse else 0) for at in drawn])


def draw_failures(rng: random.Random, n: int, share: float) -> Clusters:
    """Differences of -2 to 2 in half of the pairs, and rare failures that cost 8."""
    gaps = []
    for _ in range(n):
        small = rng.choice((-2, -1, 1, 2)) if rng.random() < 0.5 else 0
        gaps.append(Fraction(-8 if rng.random() < share else small))
    return gather(gaps)


def draw_losses(rng: random.Random, n: int, share: float, loss: int) -> Clusters:
    """Pairs that differ by 1 at most, and rare losses."""
    return gather([Fraction(-loss if rng.random() < share else rng.choice((-1, 0, 1))) for _ in range(n)])


def _contrast(name: str, draw: Draw, truth: float, reach: int = 10) -> Study:
    """Both intervals of one difference."""
    names = {f"difference of {name}, {assume}": assume for assume in ASSUMPTIONS}

    def answer(rng: random.Random) -> Answers:
        gaps = draw(rng)
        tests = {each: examine_differences(gaps, Fraction(reach), assume) for each, assume in names.items()}
        others = of_mean(gaps, (-reach, reach))
        return {each: holds(found.interval, truth, others) for each, found in tests.items()}

    return intervals(list(names), answer)


def _found(design: Design, tests: int, assume: str = SPREAD) -> Study:
    """Whether one of several tests finds a difference where there is none, after Holm's correction."""

    def draw(rng: random.Random) -> bool:
        drawn = (draw_differences(rng, design) for _ in range(tests))
        found = holm([examine_differences(each, Fraction(10), assume).p for each in drawn])
        return any(p is not None and p <= Fraction(5, 100) for p in found)

    return question(f"{tests} tests of no difference, {design}, {assume}: a p at most 0.05", draw, "at most 5 %")


def _gate(design: Design, gain: float, margin: str, nominal: dict[str, str], assume: str = SCALE) -> Study:
    """`nominal` has the promised share of each verdict that is asked about; `passes` is every verdict that does."""
    start = f"gate, {assume}, {'A/A' if gain == 0 else f'{-gain:g} worse'}, {design}"
    start += f", margin {float(Fraction(margin)):g}" if margin != "0" else ""
    terms = Terms(Fraction(10), Fraction(margin), 0.05, assume)

    def draw(rng: random.Random) -> Answers:
        verdict = decide(draw_differences(rng, design, gain), terms).verdict
        return {f"{start}: {asked}": verdict in PASSES if asked == "passes" else verdict == asked for asked in nominal}

    return Study({f"{start}: {asked}": share for asked, share in nominal.items()}, draw)


def _beyond_margin(name: str, draw: Draw, margin: str, reach: int, assume: str) -> Study:
    """Whether a candidate passes that is worse than the margin."""
    terms = Terms(Fraction(reach), Fraction(margin), 0.05, assume)
    return question(
        f"gate, {assume}, {name}, margin {float(Fraction(margin)):g}: passes",
        lambda rng: decide(draw(rng), terms).passes,
        "at most 2.5 %",
    )


def _looked_at(first: int, looks: int, always_valid: bool) -> Study:
    """Whether an unchanged candidate is called worse at one of several looks, each with as many more pairs."""
    terms = Terms(Fraction(10), Fraction(0), 0.05, SCALE if always_valid else SPREAD, always_valid)

    def draw(rng: random.Random) -> bool:
        seen = gather([])
        for _ in range(looks):
            seen = Clusters(seen.counts + draw_differences(rng, Design(first)).counts)
            if decide(seen, terms).verdict == "worse":
                return True
        return False

    how = "always-valid" if always_valid else "spread"
    name = f"gate, {how}, A/A, looked at after every {first} of {first * looks} pairs: worse once"
    return question(name, draw, "at most 2.5 %")


def _planned(deviation: float, gap: float) -> Study:
    """Whether a study of the planned size finds the difference it was planned for."""
    pairs = items_needed(gap, deviation, power=0.8, alpha=0.05)

    def draw(rng: random.Random) -> bool:
        gaps = gather([exactly(rng.gauss(gap, deviation)) for _ in range(pairs)])
        return examine_differences(gaps, Fraction(10), SPREAD).interval[0] >= 0

    return question(f"plan: difference of {gap:g}, deviation {deviation:g}: found by compare", draw, "80 %")


def _enough(pilot: int, margin: str, always_valid: bool) -> Study:
    """Whether an unchanged system passes with as many pairs as a gate on a pilot of this size asked for."""
    terms = Terms(Fraction(10), Fraction(margin), 0.05, SCALE, always_valid)

    def draw(rng: random.Random) -> bool | None:
        needed = pairs_needed(draw_differences(rng, Design(pilot)), terms, SCALE)
        return None if needed is None else decide(draw_differences(rng, Design(needed)), terms).passes

    how = "always-valid" if always_valid else "scale"
    return question(
        f"gate, {how}, A/A, margin {margin}, as many pairs as one of {pilot} asked for: passes", draw, "80 %"
    )


def _of(design: Design, gain: float = 0.0) -> Draw:
    return lambda rng: draw_differences(rng, design, gain)


def _failures(n: int, share: float) -> Draw:
    return lambda rng: draw_failures(rng, n, share)


def _losses(n: int, share: float, loss: int) -> Draw:
    return lambda rng: draw_losses(rng, n, share, loss)


def _pass_fail(n: int, better: float, worse: float) -> Draw:
    return lambda rng: draw_three_valued(rng, n, better, worse)


STUDIES = [
    _contrast("totals, 12 items", _of(Design(12)), 0.0),
    _contrast("totals, 50 items", _of(Design(50)), 0.0),
    _contrast("totals, 10 items with 8 answers, ICC 0.3", _of(Design(10, 8, 0.3)), 0.0),
    _contrast(
        "totals, 17 items with one answer and 3 with 10, ICC 0.6", lambda rng: draw_unequal(rng, 3, 17, 10, 0.6), 0.0
    ),
    _contrast("pass/fail, 50 items, 3 % worse", _pass_fail(50, 0.0, 0.03), -0.03, 1),
    _contrast("pass/fail, 50 items, 10 % better and 10 % worse", _pass_fail(50, 0.1, 0.1), 0.0, 1),
    _contrast("totals, 50 items, a loss of 8 in 2 %", _failures(50, 0.02), -0.16),
    _contrast("totals, 20 items, a loss of 8 in 5 %", _failures(20, 0.05), -0.4),
    _contrast("totals, 30 items, all lost in 5 %", _losses(30, 0.05, 10), -0.5),
    _contrast("totals, 12 items, a loss of 9 in 10 %", _losses(12, 0.1, 9), -0.9),
    _found(Design(20), 1),
    _found(Design(20), 3),
    _found(Design(20), 3, SCALE),
    _found(Design(10, 8, 0.3), 1),
    _gate(Design(50), 0.0, "0", {"worse": "at most 2.5 %", "better": "at most 2.5 %"}),
    _gate(Design(50), 0.0, "0", {"worse": "at most 2.5 %", "better": "at most 2.5 %"}, SPREAD),
    _gate(Design(10, 5, 0.3), 0.0, "0", {"worse": "at most 2.5 %"}),
    _gate(Design(10, 5, 0.3), 0.0, "0", {"worse": "at most 2.5 %"}, SPREAD),
    _gate(Design(20, 10, 0.3), 0.0, "0", {"worse": "at most 2.5 %"}, SPREAD),
    *(_gate(Design(n), 0.0, "1/2", {"passes": "none"}, assume) for n in (50, 150) for assume in ASSUMPTIONS),
    *(_gate(Design(n), -0.5, "0", {"worse": "none"}, assume) for n in (50, 150) for assume in ASSUMPTIONS),
    _gate(Design(50), -0.55, "1/2", {"passes": "at most 2.5 %"}),
    _gate(Design(50), -0.55, "1/2", {"passes": "at most 2.5 %"}, SPREAD),
    *(
        _beyond_margin("pass/fail, 10 items, 10 % worse", _pass_fail(10, 0.0, 0.1), "0.05", 1, each)
        for each in ASSUMPTIONS
    ),
    *(
        _beyond_margin("pass/fail, 50 items, 3 % worse", _pass_fail(50, 0.0, 0.03), "0.02", 1, each)
        for each in ASSUMPTIONS
    ),
    *(_beyond_margin("50 items, a loss of 8 in 8 %", _failures(50, 0.08), "0.6", 10, each) for each in ASSUMPTIONS),
    *(_beyond_margin("50 items, all lost in 4 %", _losses(50, 0.04, 10), "0.35", 10, each) for each in ASSUMPTIONS),
    _looked_at(20, 10, always_valid=False),
    _looked_at(20, 10, always_valid=True),
    _enough(40, "0.5", always_valid=False),
    _enough(40, "0.5", always_valid=True),
    _planned(1.0, 0.3),
    _planned(2.0, 0.5),
]
