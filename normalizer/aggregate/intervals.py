"""95 % confidence intervals: Student's t or a seeded bootstrap for means, Wilson's for rates.

Units are independent, or belong to clusters (such as all answers to one question). Clusters are treated as a whole: the
standard error comes from their residual sums, or clusters are resampled. With fewer than 10 clusters there is no
interval: it would be too narrow.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from math import erfc, sqrt
from typing import Any

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.units import Group, Numbers
from normalizer.documents.exact import root
from normalizer.errors import CannotRun
from normalizer.estimation.intervals import Interval

LEAST_CLUSTERS = 10
_MOST_DRAWS = 2_000_000_000
_Z = Fraction("1.959963984540054")
"""The 97.5 % point of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Method:
    """The method and options of intervals."""

    bootstrap: bool = False
    cluster: str | None = None
    resamples: int = 2000
    seed: int = 0

    def document(self) -> dict[str, Any]:
        """Return the method as outputs state it."""
        drawn = (
            {"resamples": self.resamples, "seed": self.seed} if self.bootstrap else {"resamples": None, "seed": None}
        )
        return {"method": "bootstrap" if self.bootstrap else "t", "cluster": self.cluster, **drawn}


@dataclass(slots=True)
class Intervals:
    """The intervals of every group and measure."""

    found: dict[Levels, list[Interval]] = field(default_factory=dict)
    few: set[Levels] = field(default_factory=set)

    def of(self, levels: Levels, place: int) -> Interval | None:
        """Return the interval of one measure, or None."""
        return self.found[levels][place] if levels in self.found else None

    def refused(self, levels: Levels) -> bool:
        """Whether there are too few clusters."""
        return levels in self.few


def variance(n: int, total: int, squares: int, denominator: int) -> Fraction:
    """Return the exact variance with n - 1."""
    return Fraction(n * squares - total * total, n * (n - 1) * denominator**2)


def t_interval(mean: Fraction, error_squared: Fraction, freedom: float) -> Interval:
    """Return Student's t interval of a mean, given its squared standard error."""
    half = Fraction(quantile(freedom)) * root(error_squared)
    return mean - half, mean + half


def wilson_interval(rate: Fraction, n: Fraction | int) -> Interval:
    """Return Wilson's score interval (1927) of a rate over n trials, which need not be a whole number."""
    square = _Z * _Z
    centre = rate + square / (2 * n)
    half = _Z * root(rate * (1 - rate) / n + square / (4 * n * n))
    scale = 1 + square / n
    # Exactly 0 and 1 at the ends, where the rounded root would give slightly more or less.
    return (
        Fraction(0) if rate == 0 else (centre - half) / scale,
        Fraction(1) if rate == 1 else (centre + half) / scale,
    )


def quantile(freedom: float) -> float:
    """Return the 97.5 % point of Student's t."""
    from scipy.special import stdtrit  # heavy, and only intervals need it

    return float(stdtrit(freedom, 0.975))


def intervals(numbers: Numbers, groups: dict[Levels, Group], method: Method) -> Intervals:
    """Return the intervals of all groups with more than one unit."""
    if method.cluster is not None:
        return _clustered(numbers, groups, method)
    if method.bootstrap:
        return _resampled_units(numbers, groups, method)
    result = Intervals()
    for levels, group in groups.items():
        if group.n > 1:
            result.found[levels] = [
                t_interval(
                    Fraction(sums.total, group.n * numbers.denominator),
                    variance(group.n, sums.total, sums.squares, numbers.denominator) / group.n,
                    group.n - 1,
                )
                for sums in group.sums
            ]
    return result


def _clustered(numbers: Numbers, groups: dict[Levels, Group], method: Method) -> Intervals:
    clusters: dict[Levels, list[tuple[int, list[int]]]] = defaultdict(list)
    rows = sorted(numbers.engine.rows(numbers.query.clusters()), key=lambda row: tuple(map(_orderly, row)))
    for row in rows:
        n, *sums = (int(value) for value in row[numbers.width + 1 :])
        clusters[tuple(row[: numbers.width])].append((n, sums))
    result = Intervals()
    for levels in sorted(groups, key=lambda levels: tuple(map(_orderly, levels))):
        sizes = [n for n, _ in clusters[levels]]
        if len(sizes) < LEAST_CLUSTERS:
            result.few.add(levels)
            continue
        totals = [[sums[place] for _, sums in clusters[levels]] for place in range(len(numbers.query.measures))]
        if method.bootstrap:
            result.found[levels] = of_resampled_clusters(sizes, totals, numbers.denominator, method)
        else:
            result.found[levels] = [of_cluster_sums(sizes, each, numbers.denominator) for each in totals]
    return result


def _orderly(value: Any) -> tuple[bool, str]:
    return value is None, str(value)


def of_cluster_sums(sizes: list[int], totals: list[int], denominator: int) -> Interval:
    """Return the interval from the cluster-robust standard error, with G / (G - 1) and G - 1 degrees of freedom."""
    n, clusters = sum(sizes), len(sizes)
    mean = Fraction(sum(totals), n)
    residuals = sum(((total - size * mean) ** 2 for size, total in zip(sizes, totals, strict=True)), Fraction(0))
    error_squared = Fraction(clusters, clusters - 1) * residuals / (n * denominator) ** 2
    return t_interval(mean / denominator, error_squared, clusters - 1)


def _resampled_units(numbers: Numbers, groups: dict[Levels, Group], method: Method) -> Intervals:
    result = Intervals()
    wanted = {levels for levels, group in groups.items() if group.n > 1}
    if sum(groups[levels].n for levels in wanted) * method.resamples > _MOST_DRAWS:
        raise CannotRun("a bootstrap over so many units would take very long: use --interval t, or --cluster KEY")
    found: dict[Levels, list[Interval]] = {levels: [] for levels in wanted}
    for measure in numbers.query.measures:
        values: dict[Levels, dict[int, int]] = defaultdict(dict)
        for levels, value, count, _ in numbers.histogram(measure):
            values[levels][value] = count
        for levels in wanted:
            ordered = sorted(values[levels])
            repeats = [values[levels][value] for value in ordered]
            found[levels].append(of_resampled_units(ordered, repeats, numbers.denominator, method))
    result.found = found
    return result


def of_resampled_clusters(
    sizes: list[int], totals: list[list[int]], denominator: int, method: Method
) -> list[Interval]:
    """Return percentile intervals from resampled clusters: each draw takes all units of a cluster."""
    import numpy as np

    resamples = draws(method, len(sizes))
    size = np.array(sizes, dtype=object)
    result = []
    for each in totals:
        total = np.array(each, dtype=object)
        means = sorted(Fraction(int(total[drawn].sum()), int(size[drawn].sum()) * denominator) for drawn in resamples())
        result.append(middle(means, len(sizes)))
    return result


def of_resampled_units(values: list[int], repeats: list[int], denominator: int, method: Method) -> Interval:
    """Return the percentile interval from resampled units, given how often each value occurs."""
    import numpy as np

    n = sum(repeats)
    last = np.cumsum(np.array(repeats, dtype=np.int64))
    sums = []
    for drawn in draws(method, n)():
        often = np.bincount(np.searchsorted(last, drawn, side="right"), minlength=len(values))
        sums.append(sum(value * int(count) for value, count in zip(values, often, strict=True) if count))
    return middle([Fraction(total, n * denominator) for total in sorted(sums)], n)


def draws(method: Method, n: int) -> Any:
    """Yield resamples, each n indexes below n, from the raw bits of PCG64: numpy guarantees that stream."""
    import numpy as np

    def drawn() -> Any:
        source = np.random.PCG64(method.seed)
        for _ in range(method.resamples):
            # High half of 32 bits times n: as uniform as 2**32 / n allows.
            yield ((source.random_raw(n) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)

    return drawn


def middle(means: list[Fraction], n: int) -> Interval:
    """Return the ends of the 95 % interval from the sorted means of resamples of n units or clusters.

    They are order statistics, without interpolation. Plain 2.5 % and 97.5 % points would be too narrow: resamples vary
    less than samples by (n - 1) / n, and have the normal distribution's tails. The points taken are those that make up
    for both (Hesterberg 2015, expanded percentiles); with many units they are the plain ones.
    """
    share = erfc(quantile(n - 1) * sqrt(n / (n - 1)) / sqrt(2)) / 2
    cut = int(len(means) * share)
    return means[cut], means[-1 - cut]
