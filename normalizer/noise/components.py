"""Variance components of repeated labels: one-way random effects, items being the groups, within generators.

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
"""The labels of each item of one generator."""


def components(tables: Sequence[LabelsByItem]) -> dict[str, Any]:
    """The parts of the variance, given the labels of each generator; what cannot be estimated is None, with the reason
    in `na`."""
    table = [labels for each in tables for labels in each]
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
    found = variances(tables)
    if found is None:
        return {**document, "na": "no generator with two items, or no item with two labels"}
    within, between, (ratio, first, second, size) = found
    document |= {"within_sd": rounded_root(within), "between_sd": rounded_root(between)}
    if within + between == 0:
        return {**document, "na": "all labels are equal"}
    document["noise_share"] = rounded(within / (within + between))
    if ratio is not None:
        document["noise_share_ci95"] = _interval(ratio, first, second, size)
    return document


def variances(
    tables: Sequence[LabelsByItem],
) -> tuple[Fraction, Fraction, tuple[Fraction | None, int, int, Fraction]] | None:
    """Variance within and between items, and what the interval needs: F, both degrees of freedom, repeats an item.

    Items are compared with those of their own generator: what distinguishes generators is no difference of items.
    """
    items = sum(map(len, tables))
    labels = sum(len(row) for table in tables for row in table)
    freedom = items - sum(bool(table) for table in tables)
    if freedom < 1 or labels <= items:
        return None
    inner = outer = Fraction(0)
    size = Fraction(0)
    for table in filter(None, tables):
        grand = mean_of([label for row in table for label in row])
        for row in table:
            mean = mean_of(row)
            inner += sum(((label - mean) ** 2 for label in row), Fraction(0))
            outer += len(row) * (mean - grand) ** 2
        mine = sum(map(len, table))
        size += mine - Fraction(sum(len(row) ** 2 for row in table), mine)
    within, above, size = inner / (labels - items), outer / freedom, size / freedom
    between = max((above - within) / size, Fraction(0))
    return within, between, (above / within if within else None, freedom, labels - items, size)


def _interval(ratio: Fraction, first: int, second: int, size: Fraction) -> list[Any]:
    from scipy.special import fdtri

    observed, k = float(ratio), float(size)
    low = observed / float(fdtri(first, second, 0.975))
    high = observed * float(fdtri(second, first, 0.975))
    shares = [1 - (end - 1) / (end + k - 1) for end in (high, low)]
    return [rounded(Fraction(min(max(share, 0.0), 1.0))) for share in shares]
