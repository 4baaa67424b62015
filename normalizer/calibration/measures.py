"""Two columns of values compared: agreement, correlation, and bias by gold level, exactly.

Pearson's r, Spearman's rho (Pearson's of mid-ranks) and Kendall's tau-b are exact up to one root. Agreement measures
are those of `statistics.agreement_measures`. The value of a comparison of two answers depends on which of them is named
first, which means nothing: `mirrored` counts each pair of values in both directions, half in each, so that no measure
depends on names.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from normalizer.calibration.labels import LabelStudy, PairsByItem
from normalizer.documents.exact import root, round_exact
from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import Interval, mean_interval
from normalizer.statistics.agreement_intervals import Pairs, find_intervals
from normalizer.statistics.agreement_measures import pair_measures

AGREEMENT = ("exact", "mae", "bias", "kappa", "ac1", "kappa_quadratic", "alpha_ordinal")
CORRELATIONS = ("pearson", "spearman", "kendall")
_CONSTANT = "one of the two never varies"
NO_DIRECTION = "a comparison has no direction but that of names; `normalizer preferences` has the rates"


def compare(pairs: Pairs, *, mirrored: bool = False) -> tuple[dict[str, Fraction | None], dict[str, str]]:
    """Return all measures by name, and reasons for those that are None."""
    cells = weigh_cells(pairs, mirrored=mirrored)
    unit = lcm(1, *(value.denominator for cell in cells for value in cell))
    whole = {(int(one * unit), int(other * unit)): weight for (one, other), weight in cells.items()}
    found, reasons = pair_measures(whole, unit)
    measures = {name: found[name] for name in AGREEMENT}
    reasons = {name: reason for name, reason in reasons.items() if name in AGREEMENT}
    if mirrored and pairs:
        measures["bias"], reasons["bias"] = None, NO_DIRECTION
    ranks = [_ranks(cells, side) for side in (0, 1)]
    measures["pearson"] = _pearson(cells)
    measures["spearman"] = _pearson({(ranks[0][x], ranks[1][y]): weight for (x, y), weight in cells.items()})
    measures["kendall"] = _kendall(cells)
    for name in CORRELATIONS:
        if measures[name] is None:
            reasons[name] = _CONSTANT if pairs else "there is no item"
    return measures, reasons


def compare_items(pairs: PairsByItem, study: LabelStudy, *, why: str | None = None) -> dict[str, Any]:
    """Return all measures as a document has them, with intervals and reasons. Answers about one artifact, or verdicts
    on one item, are one cluster. `why`: the reason why nothing may be told."""
    found, reasons = compare(list(pairs.values()), mirrored=study.mirrored)
    items = [artifact for artifact, _ in pairs]
    return {
        **{name: None if value is None else round_exact(value) for name, value in found.items()},
        "clusters": len(set(items)),
        "ci95": find_intervals(list(pairs.values()), items, mirrored=study.mirrored, scale=study.scale),
        "na": dict.fromkeys(found, why) if why else reasons,
    }


def weigh_cells(pairs: Pairs, *, mirrored: bool) -> dict[tuple[Fraction, Fraction], Fraction]:
    """Return how often each pair of values occurs; `mirrored`: each half as it is and half as 1 less its values."""
    cells: dict[tuple[Fraction, Fraction], Fraction] = {}
    for (one, other), count in sorted(Counter(pairs).items()):
        for cell in [(one, other), (1 - one, 1 - other)] if mirrored else [(one, other)]:
            cells[cell] = cells.get(cell, Fraction(0)) + Fraction(count, 2 if mirrored else 1)
    return cells


_Cells = dict[tuple[Fraction, Fraction], Fraction]


def _pearson(cells: _Cells) -> Fraction | None:
    """Return Pearson's r; None where a side never varies."""
    n = sum(cells.values(), Fraction(0))
    if not n:
        return None
    means = [sum((cell[side] * weight for cell, weight in cells.items()), Fraction(0)) / n for side in (0, 1)]
    gaps = [(x - means[0], y - means[1], weight) for (x, y), weight in cells.items()]
    squares = [sum((gap[side] ** 2 * gap[2] for gap in gaps), Fraction(0)) for side in (0, 1)]
    if not squares[0] or not squares[1]:
        return None
    return sum((x * y * weight for x, y, weight in gaps), Fraction(0)) / root(squares[0] * squares[1])


def _margins(cells: _Cells, side: int) -> dict[Fraction, Fraction]:
    margin: dict[Fraction, Fraction] = {}
    for cell, weight in cells.items():
        margin[cell[side]] = margin.get(cell[side], Fraction(0)) + weight
    return margin


def _ranks(cells: _Cells, side: int) -> dict[Fraction, Fraction]:
    """Return the mid-rank of each value of a side, less 1/2."""
    margin = _margins(cells, side)
    ranks: dict[Fraction, Fraction] = {}
    below = Fraction(0)
    for value in sorted(margin):
        ranks[value] = below + margin[value] / 2
        below += margin[value]
    return ranks


def _kendall(cells: _Cells) -> Fraction | None:
    """Return tau-b: concordant minus discordant pairs of items, corrected for ties on either side."""
    ordered = sorted(cells.items())
    balance = Fraction(0)
    for place, ((x, y), count) in enumerate(ordered):
        for (x2, y2), other in ordered[place + 1 :]:
            if x2 > x and y2 != y:
                balance += count * other if y2 > y else -count * other
    n = sum(cells.values(), Fraction(0))
    free = [(n * n - sum(weight**2 for weight in _margins(cells, side).values())) / 2 for side in (0, 1)]
    return None if not free[0] * free[1] else balance / root(free[0] * free[1])


def turn_to(pairs: Pairs, side: int) -> list[tuple[Fraction, Fraction]]:
    """Return pairs of values of comparisons, each turned so that the answer that one side (0, 1) preferred is the
    first; where it has a draw, the one that the other preferred."""
    half = Fraction(1, 2)
    return [
        (1 - one, 1 - other) if ((one, other)[side], (one, other)[1 - side]) < (half, half) else (one, other)
        for one, other in pairs
    ]


def by_level(pairs: Pairs, items: Sequence[str], scale: Interval) -> list[dict[str, Any]]:
    """For each gold value: how many items, the judge's mean there, and its bias with a 95 % interval."""
    rows = []
    for level in sorted({gold for _, gold in pairs}):
        judge = [(one, item) for (one, gold), item in zip(pairs, items, strict=True) if gold == level]
        mean, interval = _mean_at(judge, scale)
        rows.append(
            {
                "gold": round_exact(level),
                "n": len(judge),
                "judge_mean": round_exact(mean),
                "bias": round_exact(mean - level),
                "ci95": [round_exact(end - level) for end in interval],
            }
        )
    return rows


def reliability(pairs: Pairs, items: Sequence[str], scale: Interval) -> list[dict[str, Any]]:
    """For each judge value: how many items, and the gold mean there with a 95 % interval. A calibrated judge's means
    lie on the diagonal."""
    rows = []
    for level in sorted({judge for judge, _ in pairs}):
        gold = [(other, item) for (judge, other), item in zip(pairs, items, strict=True) if judge == level]
        mean, interval = _mean_at(gold, scale)
        ends = [round_exact(end) for end in interval]
        rows.append({"judge": round_exact(level), "n": len(gold), "gold_mean": round_exact(mean), "ci95": ends})
    return rows


def _mean_at(values: list[tuple[Fraction, str]], scale: Interval) -> tuple[Fraction, Interval]:
    """Return the mean of some values and its interval on a scale."""
    clusters = gather([value for value, _ in values], [item for _, item in values])
    return clusters.mean, mean_interval(clusters, scale)


def prevalence(pairs: Pairs) -> list[dict[str, Any]]:
    """How often gold and judge gave each value, as shares: kappa falls where one value is rare."""
    values = sorted({value for pair in pairs for value in pair})
    judge, gold = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    n = len(pairs)
    return [
        {
            "value": round_exact(value),
            "judge": round_exact(Fraction(judge[value], n)),
            "gold": round_exact(Fraction(gold[value], n)),
        }
        for value in values
    ]


def confusion(pairs: Pairs) -> list[dict[str, Any]]:
    """How often each pair of values occurs."""
    return [
        {"judge": round_exact(judge), "gold": round_exact(gold), "n": count}
        for (judge, gold), count in sorted(Counter(pairs).items())
    ]
