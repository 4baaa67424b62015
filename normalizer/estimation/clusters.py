"""Clusters of values: answers about one item, which are not independent of each other.

An interval or a test takes clusters as its units. A value without an item is a cluster of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import itemgetter


@dataclass(frozen=True, slots=True)
class Clusters:
    """Independent clusters: how many there are of each sum of values and number of values."""

    counts: Counter[tuple[Fraction, int]]

    @property
    def values(self) -> int:
        """Return the number of values."""
        return sum(size * count for (_, size), count in self.counts.items())

    @property
    def clusters(self) -> int:
        """Return the number of clusters."""
        return self.counts.total()

    @property
    def mean(self) -> Fraction:
        """Return the mean of all values."""
        return sum((total * count for (total, _), count in self.counts.items()), Fraction(0)) / self.values

    def sums(self) -> list[Fraction]:
        """Return the sum of each cluster, sorted: what sign-flip tests permute."""
        return sorted(total for (total, _), count in self.counts.items() for _ in range(count))


def gather(values: Iterable[Fraction], items: Iterable[Hashable | None] | None = None) -> Clusters:
    """Return the clusters of values, given the item of each; without items each value is a cluster."""
    if items is None:
        return Clusters(Counter((value, 1) for value in values))
    groups: dict[Hashable, list[Fraction]] = defaultdict(list)
    for place, (value, item) in enumerate(zip(values, items, strict=True)):
        groups[(item,) if item is not None else place].append(value)
    return Clusters(Counter((sum(group, Fraction(0)), len(group)) for group in groups.values()))


def count_by_item(values: Iterable[tuple[Fraction, Hashable]]) -> tuple[Counter[Fraction], Clusters]:
    """Return how many values there are of each, and the clusters, of values with items that come item by item. Values
    are not kept."""
    found: Counter[Fraction] = Counter()
    sums: Counter[tuple[Fraction, int]] = Counter()
    for _, group in groupby(values, key=itemgetter(1)):
        each = Counter(value for value, _ in group)
        found.update(each)
        sums[sum((value * count for value, count in each.items()), Fraction(0)), each.total()] += 1
    return found, Clusters(sums)


def count_phrase(clusters: Clusters, values: str, items: str) -> str:
    """Return what a number is made of, such as `12 pairs from 3 questions`; clusters are told where they differ."""
    if clusters.clusters == clusters.values:
        return f"{clusters.values} {values}"
    return f"{clusters.values} {values} from {clusters.clusters} {items}"


ALIKE = 0.3
"""The correlation of answers about one item that degrees of freedom are told for. It matters where items have very
different numbers of answers: with 0, as is usual, three items of ten answers among twenty held the truth in 91 %."""


def robust_variance(clusters: Clusters) -> tuple[Fraction, float]:
    """Return the squared standard error of the mean of clustered values, and its degrees of freedom.

    The variance is CR2 (Bell and McCaffrey 2002), unbiased for independent values of equal variance. The degrees of
    freedom are Satterthwaite's for values of which those of one cluster correlate: by `ALIKE`, where Imbens and Kolesar
    (2016) estimate it. With clusters of equal size the correlation does not matter. Needs two clusters or more.
    """
    n, mean = clusters.values, clusters.mean
    variance = Fraction(0)
    sizes: Counter[int] = Counter()
    for (total, size), count in clusters.counts.items():
        variance += count * (total - size * mean) ** 2 / (1 - Fraction(size, n)) / n**2
        sizes[size] += count
    return variance, _satterthwaite(sizes, n)


def _satterthwaite(sizes: Counter[int], n: int) -> float:
    """Return the degrees of freedom, given how many clusters have each number of values.

    The estimate is a sum of squares of normal values, whose covariance has these sums in its trace and its square's.
    """
    parts = []
    for size, count in sizes.items():
        share, spread = size / n, ALIKE + (1 - ALIKE) / size
        parts.append((count, share**2 / (1 - share), share * spread, spread))
    both = sum(count * moved**2 / spread for count, _, moved, spread in parts)
    powers = [sum(count * weight * moved**power for count, weight, moved, _ in parts) for power in range(3)]
    trace = sum(count * weight * (spread - 2 * moved + both) for count, weight, moved, spread in parts)
    square = (both * powers[0]) ** 2 + 2 * (powers[0] * powers[2] + powers[1] ** 2) - 4 * both * powers[0] * powers[1]
    square += sum(
        count * weight**2 * spread * (spread + 2 * both - 4 * moved) for count, weight, moved, spread in parts
    )
    return trace**2 / square
