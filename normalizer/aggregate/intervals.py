"""95 % confidence intervals of the means of groups; Clopper and Pearson's for rates.

The units of one item (an artifact, or a level of the key that `--cluster` names) are one cluster: items are
independent, their units are not. The default is `estimation.intervals.mean_interval`, which assumes nothing about how
scores are distributed on their scale. Student's t, with a variance that is robust to clusters, assumes that means are
nearly normal, and gives no interval where all items have one value.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import erfc, sqrt
from typing import Any

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.units import Group, Numbers
from normalizer.documents.exact import root
from normalizer.estimation.clusters import Clusters, robust_variance
from normalizer.estimation.intervals import Interval, mean_interval

_BLOCK = 1 << 18
"""Indexes that are made at once."""
_MOST_HELD = 1 << 24
"""Random numbers that are kept for the next resampling, in 64 MiB; more are made anew each time."""


@dataclass(frozen=True, slots=True)
class Method:
    """The method and options of intervals."""

    bootstrap: bool = False
    cluster: str | None = None
    resamples: int = 2000
    seed: int = 0
    student: bool = False

    def document(self) -> dict[str, Any]:
        """Return the method of the intervals of means as outputs state it."""
        return {"method": "t" if self.student else "gaffke", "cluster": self.cluster}


@dataclass(slots=True)
class Intervals:
    """The intervals of every group and measure, and the number of items of every group."""

    found: dict[Levels, list[Interval | None]] = field(default_factory=lambda: defaultdict(list))
    items: dict[Levels, int] = field(default_factory=dict)

    def of(self, levels: Levels, place: int) -> Interval | None:
        """Return the interval of one measure, or None."""
        return self.found[levels][place] if levels in self.found else None


def variance(n: int, total: int, squares: int, denominator: int) -> Fraction:
    """Return the exact variance with n - 1."""
    return Fraction(n * squares - total * total, n * (n - 1) * denominator**2)


def t_interval(mean: Fraction, error_squared: Fraction, freedom: float) -> Interval:
    """Return Student's t interval of a mean, given its squared standard error."""
    half = Fraction(quantile(freedom)) * root(error_squared)
    return mean - half, mean + half


def rate_interval(rate: Fraction, n: Fraction | int) -> Interval:
    """Return Clopper and Pearson's interval (1934) of a rate over n trials, which need not be a whole number.

    It covers also where the rate is near 0 or 1: Wilson's (1927), which is narrower, covered 80 % at 1.75 % of 10.
    """
    from scipy.special import betaincinv  # heavy, and only intervals need it

    wins, losses = float(rate * n), float((1 - rate) * n)
    return (
        Fraction(0) if rate == 0 else Fraction(float(betaincinv(wins, losses + 1, 0.025))),
        Fraction(1) if rate == 1 else Fraction(float(betaincinv(wins + 1, losses, 0.975))),
    )


def quantile(freedom: float) -> float:
    """Return the 97.5 % point of Student's t."""
    from scipy.special import stdtrit  # heavy, and only intervals need it

    return float(stdtrit(freedom, 0.975))


def intervals(numbers: Numbers, groups: dict[Levels, Group], method: Method) -> Intervals:
    """Return the intervals of all groups with more than one item."""
    result = Intervals()
    made = numbers.make_items()
    for place, measure in enumerate(numbers.query.measures):
        scale = numbers.query.scale(place)
        counts: dict[Levels, Counter[tuple[Fraction, int]]] = defaultdict(Counter)
        for row in numbers.engine.rows(numbers.query.item_histogram(made, measure)):
            size, total, count = (int(value) for value in row[numbers.width :])
            counts[tuple(row[: numbers.width])][Fraction(total, numbers.denominator), size] += count
        for levels in groups:
            items = Clusters(counts[levels])
            result.items[levels] = items.clusters
            can_vary = items.clusters > 1 and scale[0] < scale[1]
            result.found[levels].append(_interval(items, scale, method) if can_vary else None)
    return result


def _interval(items: Clusters, scale: Interval, method: Method) -> Interval | None:
    if not method.student:
        return mean_interval(items, scale)
    variance_of_mean, freedom = robust_variance(items)
    if not variance_of_mean:
        return None
    low, high = t_interval(items.mean, variance_of_mean, freedom)
    return max(low, scale[0]), min(high, scale[1])


def draw_blocks(method: Method, n: int) -> Iterator[Any]:
    """Yield all resamples, many at a time: rows of n indexes below n.

    They are made from the raw bits of PCG64, a stream that numpy guarantees, one resample after the other.
    """
    import numpy as np

    rows = max(1, _BLOCK // n)
    total = method.resamples * n
    held = _bits(method.seed, 1 << (total - 1).bit_length()) if total <= _MOST_HELD else None
    source = np.random.PCG64(method.seed)
    for start in range(0, method.resamples, rows):
        stop = min(start + rows, method.resamples)
        bits = source.random_raw((stop - start) * n) >> np.uint64(32) if held is None else held[start * n : stop * n]
        # High half of 32 bits times n: as uniform as 2**32 / n allows.
        yield (bits.astype(np.uint64) * np.uint64(n) >> np.uint64(32)).astype(np.int64).reshape(-1, n)


@lru_cache(maxsize=4)
def _bits(seed: int, count: int) -> Any:
    """Return the high halves of the first raw numbers of PCG64: every resampling with the seed begins with them."""
    import numpy as np

    return (np.random.PCG64(seed).random_raw(count) >> np.uint64(32)).astype(np.uint32)


def middle_places(resamples: int, n: int) -> tuple[int, int]:
    """Return which of the sorted means of resamples of n units or clusters are the ends of the 95 % interval.

    They are order statistics, without interpolation. Plain 2.5 % and 97.5 % points would be too narrow: resamples vary
    less than samples by (n - 1) / n, and have the normal distribution's tails. The points taken are those that make up
    for both (Hesterberg 2015, expanded percentiles); with many units they are the plain ones.
    """
    share = erfc(quantile(n - 1) * sqrt(n / (n - 1)) / sqrt(2)) / 2
    cut = int(resamples * share)
    return cut, resamples - 1 - cut
