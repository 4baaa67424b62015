"""Intervals of means on a scale, from clusters of values.

Each interval is of a mean under random weights, with one more cluster put at an end of the scale, so that what was not
seen may lie there. For values of 0 and 1 it is Clopper and Pearson's interval, and for
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
