"""Means and variances of exact values, and what documents say of differences."""

from collections import Counter
from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from normalizer.documents.exact import round_exact, round_root
from normalizer.estimation.clusters import Clusters, gather
from normalizer.estimation.paired_test import SCALE, PairedTest, examine_differences


def mean_of(values: Sequence[Fraction]) -> Fraction:
    """Return the mean of one value or more."""
    return sum(values, Fraction(0)) / len(values)


def variance_of(values: Sequence[Fraction]) -> Fraction:
    """Return the variance of two values or more, with n - 1."""
    return _variance_of_counts(Counter(values))


def describe_differences(
    gaps: Sequence[Fraction], items: Sequence[Hashable | None], reach: Fraction, what: str, assume: str = SCALE
) -> tuple[dict[str, Any], PairedTest | None]:
    """Return the members `mean`, `sd`, `ci95`, `p`, `assumes` and `na` of differences, and their test.

    `items` names the item of each difference, `reach` is the greatest possible one, `what` one of them in words.
    """
    return describe_counts(Counter(gaps), gather(gaps, items), reach, what, assume)


def describe_counts(
    gaps: Counter[Fraction], clusters: Clusters, reach: Fraction, what: str, assume: str = SCALE
) -> tuple[dict[str, Any], PairedTest | None]:
    """Return the same, given how many differences there are of each value, and the differences by item."""
    found: dict[str, Any] = dict.fromkeys(("mean", "sd", "ci95", "p", "assumes"))
    if not gaps:
        return {**found, "na": dict.fromkeys(found, f"there is no {what}")}, None
    tested = examine_differences(clusters, reach, assume)
    found |= {"mean": round_exact(clusters.mean), "p": round_exact(tested.p), "assumes": tested.assumes, "na": {}}
    if gaps.total() > 1:
        found["sd"] = round_root(_variance_of_counts(gaps))
    else:
        found["na"]["sd"] = f"there is only one {what}"
    if clusters.clusters > 1:
        found["ci95"] = ends(tested.interval)
    else:
        found["na"]["ci95"] = "there is only one item"
    return found, tested


def _variance_of_counts(values: Counter[Fraction]) -> Fraction:
    n = values.total()
    mean = sum((value * count for value, count in values.items()), Fraction(0)) / n
    return sum(((value - mean) ** 2 * count for value, count in values.items()), Fraction(0)) / (n - 1)


def ends(interval: tuple[Fraction, Fraction]) -> list[Decimal]:
    """Return an interval as a member of a document."""
    return [round_exact(end) for end in interval]
