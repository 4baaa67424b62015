"""Variance components of repeated labels: one-way random effects, items being the groups, within generators.

The noise share is the variance within items over the sum of both variances, which is 1 - ICC(1). Its interval is that
of a ratio of means over items under random weights, with one more item put at each end (`estimation`), which assumes
only that items are independent. The interval from the F distribution (Shrout and Fleiss 1979) is narrower by a third,
and holds for normal labels alone: with rare outliers it covered 67 %. A variance between items that comes out negative
is 0.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from normalizer.documents.exact import round_exact, round_root
from normalizer.estimation.intervals import DirichletMean, Point
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
        "changed": round_exact(Fraction(sum(pairs), len(pairs))) if pairs else None,
        "within_sd": None,
        "between_sd": None,
        "noise_share": None,
        "noise_share_ci95": None,
        "na": None,
    }
    found = variances(tables)
    if found is None:
        return {**document, "na": "no generator with two items, or no item with two labels"}
    within, between, _ = found
    document |= {"within_sd": round_root(within), "between_sd": round_root(between)}
    if within + between == 0:
        return {**document, "na": "all labels are equal"}
    document["noise_share"] = round_exact(within / (within + between))
    document["noise_share_ci95"] = _interval(tables)
    return document


def variances(
    tables: Sequence[LabelsByItem],
) -> tuple[Fraction, Fraction, tuple[Fraction | None, int, int, Fraction]] | None:
    """Variance within and between items; and F, both degrees of freedom, and the repeats of an item.

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


def _interval(tables: Sequence[LabelsByItem]) -> list[Any] | None:
    """Return the interval of the noise share, from items with two labels or more; None with one of these.

    Each item has a variance within and a squared distance from the mean of its generator; the noise share is the ratio
    of the means of the former and of their sum. The item that is added at an end has no noise, or nothing else.
    """
    points: Counter[tuple[Fraction, Fraction]] = Counter()
    values = sorted({label for table in tables for row in table for label in row})
    for table in tables:
        rows = [row for row in table if len(row) > 1]
        grand = mean_of([mean_of(row) for row in rows]) if rows else Fraction(0)
        for row in rows if len(rows) > 1 else ():
            mean = mean_of(row)
            spread = mean_of([(label - mean) ** 2 for label in row])
            apart = (mean - grand) ** 2 * Fraction(len(rows), len(rows) - 1)
            points[spread * Fraction(len(row), len(row) - 1), spread + apart] += 1
    known = [Point(float(noise), float(whole), float(count)) for (noise, whole), count in points.items() if whole]
    if not known:
        return None
    farthest = max(point.size for point in known)
    quiet, noisy = Point(0.0, farthest, 1.0), Point(farthest, farthest, 1.0)
    if len(values) == 2:  # two labels of one item, one of each value
        noisy = Point(float((values[1] - values[0]) ** 2) / 2, float((values[1] - values[0]) ** 2) / 4, 1.0)
    low = DirichletMean([*known, quiet]).quantile(0.025)
    high = DirichletMean([*known, noisy]).quantile(0.975)
    return [round_exact(Fraction(min(max(end, 0.0), 1.0))) for end in (low, high)]
