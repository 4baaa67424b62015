"""Simulated single scores: their means, rates of INVALID records, and the noise of judges.

Designs are those that people have: few units, scores that are nearly all alike, several answers to one question. Each
says in its name what makes it hard.
"""

import math
import random
from fractions import Fraction
from typing import NamedTuple

from normalizer.aggregate.intervals import rate_interval, t_interval
from normalizer.estimation.clusters import Clusters, gather, robust_variance
from normalizer.estimation.intervals import mean_interval
from normalizer.noise.components import components
from tools.interval_coverage import Held, Study, holds, question
from tools.interval_coverage.known_methods import bootstrap_noise, of_mean, shrout_fleiss, wilson

TOTALS = {10: 35, 9: 25, 8: 15, 7: 8, 6: 6, 5: 4, 4: 3, 2: 2, 0: 2}
"""Totals from 0 to 10 in percent: most of them near the top, as judges give them."""
_RARE = {10: 50, 9: 47, 0: 3}
"""Totals that are good but for a rare failure."""
_UNIT = 1000
"""Drawn numbers are rounded to thousandths, so that they are exact fractions."""


class Design(NamedTuple):
    """Items, answers to each, and how alike these are."""

    items: int
    answers: int = 1
    alike: float = 0.0
    """The intraclass correlation: the share of the variance that the answers to one item have in common."""

    def __str__(self) -> str:
        if self.answers == 1:
            return f"{self.items} items"
        return f"{self.items} items with {self.answers} answers, ICC {self.alike:g}"


def exactly(value: float) -> Fraction:
    """Return a drawn number as an exact fraction."""
    return Fraction(round(_UNIT * value), _UNIT)


def _deviations(rng: random.Random, design: Design) -> list[tuple[int, float]]:
    """Standard normal deviations of all answers, with their items."""
    found = []
    for item in range(design.items):
        shared = rng.gauss(0, math.sqrt(design.alike))
        found += [(item, shared + rng.gauss(0, math.sqrt(1 - design.alike))) for _ in range(design.answers)]
    return found


def _pass_fail(rng: random.Random, design: Design, share: float) -> Clusters:
    """Scores of 0 and 1; the answers to an item have a chance in common, from a beta distribution."""
    values, items = [], []
    for item in range(design.items):
        more = (1 - design.alike) / design.alike if design.alike else 0
        chance = rng.betavariate(share * more, (1 - share) * more) if more else share
        values += [Fraction(rng.random() < chance) for _ in range(design.answers)]
        items += [item] * design.answers
    return gather(values, items)


def _graded(rng: random.Random, design: Design) -> Clusters:
    """Scores from 0 to 10 around 6, with a standard deviation of 1.5."""
    drawn = _deviations(rng, design)
    return gather([exactly(min(10, max(0, 6 + 1.5 * value))) for _, value in drawn], [item for item, _ in drawn])


def _listed(rng: random.Random, n: int, shares: dict[int, int]) -> Clusters:
    return gather([Fraction(total) for total in rng.choices(list(shares), list(shares.values()), k=n)])


def _mean_of_pass_fail(design: Design, share: float) -> Study:
    def draw(rng: random.Random) -> Held | None:
        drawn = _pass_fail(rng, design, share)
        others = of_mean(drawn, (0, 1))
        if design.answers == 1:
            others["Wilson"] = wilson(float(drawn.mean), design.items)
        return holds(mean_interval(drawn, (Fraction(0), Fraction(1))), share, others)

    return question(f"mean of pass/fail, {100 * share:g} % pass, {design}", draw)


def _mean_of_listed(name: str, n: int, shares: dict[int, int]) -> Study:
    truth = sum(total * share for total, share in shares.items()) / 100
    return question(f"mean of totals {name}, {n} items", lambda rng: _hold_totals(_listed(rng, n, shares), truth))


def _mean_of_graded(design: Design) -> Study:
    return question(f"mean of totals in the middle, {design}", lambda rng: _hold_totals(_graded(rng, design), 6.0))


def _mean_by_t(design: Design) -> Study:
    """The interval of `--interval t`, where it may be reported."""

    def draw(rng: random.Random) -> Held | None:
        drawn = _graded(rng, design)
        return holds(t_interval(drawn.mean, *robust_variance(drawn)), 6.0, of_mean(drawn, (0, 10)))

    return question(f"mean of totals in the middle, {design}, t", draw)


def _hold_totals(drawn: Clusters, truth: float) -> Held | None:
    return holds(mean_interval(drawn, (Fraction(0), Fraction(10))), truth, of_mean(drawn, (0, 10)))


def _invalid_rate(n: int, share: float) -> Study:
    def draw(rng: random.Random) -> Held | None:
        seen = Fraction(sum(rng.random() < share for _ in range(n)), n)
        return holds(rate_interval(seen, n), share, {"Wilson": wilson(float(seen), n)})

    return question(f"rate of INVALID records, {100 * share:g} % of {n}", draw)


def hold_noise(table: list[list[Fraction]], truth: float) -> Held | None:
    """Return whether the interval of the noise share of repeated labels holds the truth."""
    others = {"F": shrout_fleiss(table), "BCa": bootstrap_noise(table)}
    return holds(components([table])["noise_share_ci95"], truth, others)


def _noise_share(items: int, repeats: tuple[int, ...], share: float) -> Study:
    """`repeats` are the numbers of labels an item may have."""

    def draw(rng: random.Random) -> Held | None:
        table = []
        for _ in range(items):
            level = rng.gauss(0, math.sqrt(1 - share))
            table.append([exactly(level + rng.gauss(0, math.sqrt(share))) for _ in range(rng.choice(repeats))])
        return hold_noise(table, share)

    told = f"{repeats[0]} to {repeats[-1]}" if len(repeats) > 1 else f"{repeats[0]}"
    return question(f"noise share {share}, {items} items, {told} repeats", draw)


def _flips(items: int, repeats: int, passes: float, flips: float) -> Study:
    """Pass/fail labels that are turned around now and then: the noise share has few items to show for it."""
    seen = passes * (1 - flips) + (1 - passes) * flips
    truth = flips * (1 - flips) / (seen * (1 - seen))

    def draw(rng: random.Random) -> Held | None:
        table = []
        for _ in range(items):
            good = rng.random() < passes
            table.append([Fraction(good != (rng.random() < flips)) for _ in range(repeats)])
        return hold_noise(table, truth)

    return question(
        f"noise share of pass/fail, {100 * passes:g} % pass, {100 * flips:g} % flip, {items} items, {repeats} repeats",
        draw,
    )


STUDIES = [
    _mean_of_pass_fail(Design(5), 0.9),
    _mean_of_pass_fail(Design(10), 0.9),
    _mean_of_pass_fail(Design(20), 0.95),
    _mean_of_pass_fail(Design(30, 4, 0.3), 0.9),
    _mean_of_listed("near the top", 5, TOTALS),
    _mean_of_listed("near the top", 20, TOTALS),
    _mean_of_listed("near the top", 50, TOTALS),
    _mean_of_listed("with a rare failure", 20, _RARE),
    _mean_of_graded(Design(10)),
    _mean_of_graded(Design(30, 4, 0.3)),
    _mean_of_graded(Design(30, 4, 0.6)),
    _mean_of_graded(Design(30, 10, 0.5)),
    _mean_of_graded(Design(5, 8, 0.3)),
    _mean_by_t(Design(20)),
    _mean_by_t(Design(30, 4, 0.6)),
    _invalid_rate(100, 0.05),
    _invalid_rate(10, 0.0175),
    _invalid_rate(20, 0.992),
    _noise_share(50, (3,), 0.3),
    _noise_share(50, (1, 2, 3, 4), 0.3),
    _flips(50, 3, 0.5, 0.03),
    _flips(50, 3, 0.5, 0.05),
    _flips(20, 3, 0.9, 0.05),
]
