"""Clusters of values: answers about one item, which are not independent of each other.

An interval or a test takes clusters as its units. A value without an item is a cluster of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


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


def count_phrase(clusters: Clusters, values: str, items: str) -> str:
    """Return what a number is made of, such as `12 pairs from 3 questions`; clusters are told where they differ."""
    if clusters.clusters == clusters.values:
        return f"{clusters.values} {values}"
    return f"{clusters.values} {values} from {clusters.clusters} {items}"


def robust_variance(sums: Sequence[Fraction], sizes: Sequence[int]) -> tuple[Fraction, float]:
    """Return the squared standard error of the mean of clustered values, and its degrees of freedom.

    The variance is CR2 (Bell and McCaffrey 2002), unbiased for independent values of equal variance, and the degrees of
    freedom are Satterthwaite's for it. Needs two clusters or more.
    """
    n = sum(sizes)
    mean = sum(sums, Fraction(0)) / n
    terms = [(total - size * mean) ** 2 / (1 - Fraction(size, n)) for total, size in zip(sums, sizes, strict=True)]
    variance = sum(terms, Fraction(0)) / n**2
    shares = [size / n for size in sizes]
    # The estimate is a sum of squares of normal values; B is their covariance, scaled so that its trace is 1.
    weights = [share**2 / (1 - share) for share in shares]
    squares = sum(share**2 for share in shares) + sum(weights) ** 2 - sum(weight**2 for weight in weights)
    return variance, 1 / squares
