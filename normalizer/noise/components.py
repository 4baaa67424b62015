"""Variance components of repeated labels: one-way random effects, items being the groups.

The noise share is the variance within items over the sum of both variances, which is 1 - ICC(1). Its interval comes
from the F distribution (Shrout and Fleiss 1979): exact for normal values and equal numbers of repeats, approximate
otherwise. A variance between items that comes out negative is 0.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from normalizer.documents.exact import rounded, rounded_root
from normalizer.statistics.spread import mean_of

LabelsByItem = Sequence[Sequence[Fraction]]
"""The labels of each item."""


def components(table: LabelsByItem) -> dict[str, Any]:
    """The parts of the variance; what cannot be estimated is None, with the reason in `na`."""
    repeated = [labels for labels in table if len(labels) > 1]
    pairs = [one != other for labels in repeated for one, other in combinations(labels, 2)]
    document: dict[str, Any] = {
        "items": len(table),
        "repeated_items": len(repeated),
        "labels": sum(map(len, table)),
        "changed": rounded(Fraction(sum(pairs), len(pairs))) if pairs else None,
        "within_sd": None,
        "between_sd": None,
        "noise_share": None,
        "noise_share_ci95": None,
        "na": None,
    }
    found = variances(table)
    if found is None:
        return {**document, "na": "fewer than two items, or no item with two labels"}
    within, between, (ratio, first, second, size) = found
    document |= {"within_sd": rounded_root(within), "between_sd": rounded_root(between)}
    if within + between == 0:
        return {**document, "na": "all labels are equal"}
    document["noise_share"] = rounded(within / (within + between))
    if ratio is not None:
        document["noise_share_ci95"] = _interval(ratio, first, second, size)
    return document


def variances(table: LabelsByItem) -> tuple[Fraction, Fraction, tuple[Fraction | None, int, int, Fraction]] | None:
    """Variance within and between items, and what the interval needs: F, both degrees of freedom, repeats an item."""
    items = len(table)
    labels = sum(map(len, table))
    if items < 2 or labels <= items:
        return None
    grand = mean_of([label for row in table for label in row])
    means = [mean_of(row) for row in table]
    inner = sum(((label - mean) ** 2 for row, mean in zip(table, means, strict=True) for label in row), Fraction(0))
    outer = sum((len(row) * (mean - grand) ** 2 for row, mean in zip(table, means, strict=True)), Fraction(0))
    within, above = inner / (labels - items), outer / (items - 1)
    size = (labels - Fraction(sum(len(row) ** 2 for row in table), labels)) / (items - 1)
    between = max((above - within) / size, Fraction(0))
    return within, between, (above / within if within else None, items - 1, labels - items, size)


def _interval(ratio: Fraction, first: int, second: int, size: Fraction) -> list[Any]:
    from scipy.special import fdtri

    observed, k = float(ratio), float(size)
    low = observed / float(fdtri(first, second, 0.975))
    high = observed * float(fdtri(second, first, 0.975))
    shares = [1 - (end - 1) / (end + k - 1) for end in (high, low)]
    return [rounded(Fraction(min(max(share, 0.0), 1.0))) for share in shares]
