"""Two columns of values compared: agreement, correlation, and bias by gold level, exactly.

Pearson's r, Spearman's rho (Pearson's of mid-ranks) and Kendall's tau-b are exact up to one root. Agreement measures
are those of `statistics.agreement_measures`.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from normalizer.documents.exact import root, rounded
from normalizer.statistics.agreement_measures import pair_measures
from normalizer.statistics.spread import mean_of, spread

AGREEMENT = ("exact", "mae", "bias", "kappa", "kappa_quadratic", "alpha_ordinal")
CORRELATIONS = ("pearson", "spearman", "kendall")
_CONSTANT = "one of the two never varies"

Pairs = Sequence[tuple[Fraction, Fraction]]
"""Judge value and gold value of each item."""


def compare(pairs: Pairs) -> tuple[dict[str, Fraction | None], dict[str, str]]:
    """Return all measures by name, and reasons for those that are None."""
    whole, unit = _whole(pairs)
    found, reasons = pair_measures(Counter(whole), unit)
    measures = {name: found[name] for name in AGREEMENT}
    reasons = {name: reason for name, reason in reasons.items() if name in AGREEMENT}
    judge, gold = [one for one, _ in pairs], [other for _, other in pairs]
    measures["pearson"] = pearson(judge, gold)
    measures["spearman"] = pearson(_ranks(judge), _ranks(gold))
    measures["kendall"] = _kendall(whole)
    for name in CORRELATIONS:
        if measures[name] is None:
            reasons[name] = _CONSTANT if pairs else "there is no item"
    return measures, reasons


def _whole(pairs: Pairs) -> tuple[list[tuple[int, int]], int]:
    unit = lcm(1, *(value.denominator for pair in pairs for value in pair))
    return [(int(one * unit), int(other * unit)) for one, other in pairs], unit


def pearson(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction | None:
    """Pearson's r; None where a side never varies."""
    if len(one) < 2:
        return None
    means = mean_of(one), mean_of(other)
    gaps = [(x - means[0], y - means[1]) for x, y in zip(one, other, strict=True)]
    first = sum((x * x for x, _ in gaps), Fraction(0))
    second = sum((y * y for _, y in gaps), Fraction(0))
    if not first or not second:
        return None
    return sum((x * y for x, y in gaps), Fraction(0)) / root(first * second)


def _ranks(values: Sequence[Fraction]) -> list[Fraction]:
    """Mid-ranks."""
    counts = Counter(values)
    ranks: dict[Fraction, Fraction] = {}
    below = 0
    for value in sorted(counts):
        ranks[value] = Fraction(2 * below + counts[value] + 1, 2)
        below += counts[value]
    return [ranks[value] for value in values]


def _kendall(pairs: list[tuple[int, int]]) -> Fraction | None:
    """Tau-b: concordant minus discordant pairs of items, corrected for ties on either side."""
    cells = sorted(Counter(pairs).items())
    balance = 0
    for place, ((x, y), count) in enumerate(cells):
        for (x2, y2), other in cells[place + 1 :]:
            if x2 > x and y2 != y:
                balance += count * other if y2 > y else -count * other
    n = len(pairs)
    every = n * (n - 1) // 2
    ties = [sum(k * (k - 1) // 2 for k in Counter(pair[side] for pair in pairs).values()) for side in (0, 1)]
    square = (every - ties[0]) * (every - ties[1])
    return None if square == 0 else Fraction(balance) / root(Fraction(square))


def by_level(pairs: Pairs) -> list[dict[str, Any]]:
    """For each gold value: how many items, the judge's mean there, and its bias with a 95 % interval."""
    rows = []
    for level in sorted({gold for _, gold in pairs}):
        gaps = [judge - gold for judge, gold in pairs if gold == level]
        found, _ = spread(gaps, "bias", "item")
        mean = mean_of(gaps) + level
        rows.append(
            {
                "gold": rounded(level),
                "n": len(gaps),
                "judge_mean": rounded(mean),
                "bias": found["bias"],
                "ci95": found["ci95"],
            }
        )
    return rows


def reliability(pairs: Pairs) -> list[dict[str, Any]]:
    """For each judge value: how many items, and the gold mean there with a 95 % interval. A calibrated judge's means
    lie on the diagonal."""
    rows = []
    for level in sorted({judge for judge, _ in pairs}):
        gold = [value for judge, value in pairs if judge == level]
        found, _ = spread(gold, "mean", "item")
        rows.append({"judge": rounded(level), "n": len(gold), "gold_mean": found["mean"], "ci95": found["ci95"]})
    return rows


def prevalence(pairs: Pairs) -> list[dict[str, Any]]:
    """How often gold and judge gave each value, as shares: kappa falls where one value is rare."""
    values = sorted({value for pair in pairs for value in pair})
    judge, gold = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    n = len(pairs)
    return [
        {
            "value": rounded(value),
            "judge": rounded(Fraction(judge[value], n)),
            "gold": rounded(Fraction(gold[value], n)),
        }
        for value in values
    ]


def confusion(pairs: Pairs) -> list[dict[str, Any]]:
    """How often each pair of values occurs."""
    return [
        {"judge": rounded(judge), "gold": rounded(gold), "n": count}
        for (judge, gold), count in sorted(Counter(pairs).items())
    ]
