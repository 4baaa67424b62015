"""Intervals of means on a scale, from clusters of values.

Each interval is of a mean under random weights, with one more cluster put at an end of the scale, so that what was not
seen may lie there. For values of 0 and 1 it is Clopper and Pearson's interval, and for
others it has the bounds of Gaffke (2005). Such an interval assumes that clusters are independent and alike in
distribution, and nothing about that distribution. `tools/interval_coverage` measures how often it holds the truth.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import exp, expm1
from typing import TYPE_CHECKING, Any, NamedTuple

from normalizer.estimation.clusters import Clusters

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

_STEP = 0.1
_FIRST, _LAST = -22.0, 16.0
"""The logarithms of the distances from the real axis at which the integrand is summed, in steps of `_STEP`."""
_MOST_POINTS = 128
"""With more different points, neighbours are put together, keeping mean and variance."""
_NEAREST = 0.5
"""How near the line may come to the pole at 0, in standard deviations."""
_TOLERANCE = 1e-11


class Point(NamedTuple):
    """Alike clusters: the sum and the number of their values, and how many such `clusters` there are."""

    total: float
    size: float
    clusters: float


class DirichletMean:
    """The distribution of the randomly weighted mean of clusters."""

    def __init__(self, points: Iterable[Point]) -> None:
        import numpy as np

        table = np.array(sorted(points), dtype=np.float64)
        self._totals, self._sizes, self._counts = _merge(table).T if len(table) > _MOST_POINTS else table.T
        ratios = self._totals / self._sizes
        self.least, self.greatest = float(ratios.min()), float(ratios.max())

    def chance_at_most(self, mean: float) -> float:
        """Return the probability that the weighted mean is at most a value."""
        return _chance_negative(self._totals - mean * self._sizes, self._counts)

    def quantile(self, share: float) -> float:
        """Return the value that the weighted mean is below with this probability, by the Illinois method."""
        low, high = self.least, self.greatest
        below, above = -share, 1 - share
        moved = 0
        while high - low > _TOLERANCE * max(abs(low), abs(high)):
            middle = low + (high - low) * below / (below - above)
            if not low < middle < high:
                break
            at = self.chance_at_most(middle) - share
            if at < 0:
                low, below = middle, at
                above, moved = (above / 2 if moved < 0 else above), -1
            else:
                high, above = middle, at
                below, moved = (below / 2 if moved > 0 else below), 1
        return low if -below < above else high


def _chance_negative(factors: "Array", counts: "Array") -> float:
    """Return the probability that a sum of independent gamma variables, times factors, is at most 0."""
    import numpy as np

    if factors.max() <= 0:
        return 1.0
    if factors.min() >= 0:
        return 0.0
    for sign in (-1, 1):
        one = sign * factors > 0
        if one.sum() == 1 and counts[one][0] == 1:
            # One exponential variable against the others: the mean of exp(-others), in closed form.
            others = float((counts * np.log1p(np.maximum(-sign * factors, 0) / (sign * factors).max())).sum())
            return exp(-others) if sign < 0 else -expm1(-others)
    factors = factors / np.sqrt((counts * factors**2).sum())
    point = _saddle_point(factors, counts)
    if abs(point) < _NEAREST:
        point = _NEAREST if point >= 0 else -_NEAREST
    real = 1 - point * factors  # above 0: the line lies between the poles
    width = np.sqrt((counts * (factors / real) ** 2).sum())
    heights = np.exp(np.arange(_FIRST, _LAST, _STEP)) / width
    ratios = np.multiply.outer(heights, factors / real)
    # Sums, not products of matrices: those would start threads.
    sizes = -(counts * np.log(real)).sum() - (counts * np.log1p(ratios**2)).sum(axis=1) / 2
    angles = (counts * np.arctan(ratios)).sum(axis=1)
    values = np.exp(sizes) * (point * np.cos(angles) + heights * np.sin(angles)) / (point**2 + heights**2)
    tail = float((values * heights).sum()) * _STEP / np.pi
    return min(max(1 - tail if point > 0 else -tail, 0.0), 1.0)


def _saddle_point(factors: "Array", counts: "Array") -> float:
    """Return where the derivative of the cumulant generating function is 0, by Newton's method between its poles."""
    low, high = 1 / float(factors.min()), 1 / float(factors.max())
    point = 0.0
    for _ in range(60):
        ratios = factors / (1 - point * factors)
        slope = float((counts * ratios).sum())
        if slope > 0:
            high = point
        else:
            low = point
        step = slope / float((counts * ratios**2).sum())
        # The line need only pass near the saddle point, which is at a distance of 1 or so from others.
        if abs(step) < 1e-3:
            break
        point = point - step if low < point - step < high else (low + high) / 2
    return point


def _merge(table: "Array") -> "Array":
    """Return two points for the neighbours in each of equally wide bins, a deviation below and above their mean."""
    import numpy as np

    totals, sizes, counts = table.T
    ratios = totals / sizes
    bins = _MOST_POINTS // 2
    place = np.minimum(((ratios - ratios.min()) / np.ptp(ratios) * bins).astype(int), bins - 1)
    weight = np.bincount(place, counts, bins)
    used = weight > 0
    weight = weight[used]
    total, size = (np.bincount(place, counts * each, bins)[used] / weight for each in (totals, sizes))
    apart = (totals - sizes * (total / size)[np.cumsum(used)[place] - 1]) ** 2
    deviation = np.sqrt(np.bincount(place, counts * apart, bins)[used] / weight)
    return np.concatenate([np.stack([total + sign * deviation, size, weight / 2], axis=1) for sign in (-1, 1)])


def points_of(counts: Iterable[tuple[tuple[Fraction, int], int]]) -> list[Point]:
    """Return the points of clusters: their sums and sizes, and how many there are of each."""
    return [Point(float(total), float(size), float(count)) for (total, size), count in counts]


Interval = tuple[Fraction, Fraction]


def mean_interval(clusters: Clusters, scale: tuple[Fraction, Fraction], alpha: float = 0.05) -> Interval:
    """Return the interval of the mean of values on a scale, given its least and greatest value."""
    low, high = scale
    points = points_of(clusters.counts.items())
    size = clusters.values / clusters.clusters
    ends = []
    for edge, share in ((low, alpha / 2), (high, 1 - alpha / 2)):
        weighted = DirichletMean([*points, Point(float(edge) * size, size, 1.0)])
        if weighted.least == weighted.greatest:
            ends.append(edge)
        else:
            ends.append(Fraction(weighted.quantile(share)))
    return max(ends[0], low), min(ends[1], high)
