"""Intervals of means on a scale, and of differences, from clusters of values.

Each interval is of a mean under random weights, with one more cluster put at an end: at the end of the scale for a
mean, so that what was not seen may lie there. For values of 0 and 1 it is Clopper and Pearson's interval, and for
others it has the bounds of Gaffke (2005). Such an interval assumes that clusters are independent and alike in
distribution, and nothing about that distribution. `tools/interval_coverage` measures how often it holds the truth.
"""

from fractions import Fraction

from normalizer.estimation.clusters import Clusters
from normalizer.estimation.dirichlet_mean import DirichletMean, Point, points_of

Interval = tuple[Fraction, Fraction]


def mean_interval(clusters: Clusters, scale: tuple[Fraction, Fraction], alpha: float = 0.05) -> Interval:
    """Return the interval of the mean of values on a scale, given its least and greatest value."""
    low, high = scale
    return _between(clusters, low, high, alpha)


def difference_interval(clusters: Clusters, reach: Fraction, p: Fraction, alpha: float = 0.05) -> Interval:
    """Return the interval of a mean difference, none of which is beyond `reach`; p is that of the sign-flip test.

    The cluster that is put at an end lies as far from 0 as the farthest one that was seen, or farther: at `reach` if
    all differences are 0, and the nearer the more of them are not. Whether the interval holds 0 is decided by p, so
    that interval and test never contradict each other.
    """
    means = [abs(total / size) for total, size in clusters.counts]
    farthest = max(means)
    moved = sum(count for (total, _), count in clusters.counts.items() if total)
    edge = farthest + (reach - farthest) / (moved + 1)
    low, high = _between(clusters, -edge, edge, alpha)
    if p <= alpha:
        return (max(low, Fraction(0)), high) if clusters.mean > 0 else (low, min(high, Fraction(0)))
    return min(low, Fraction(0)), max(high, Fraction(0))


def _between(clusters: Clusters, low: Fraction, high: Fraction, alpha: float) -> Interval:
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
