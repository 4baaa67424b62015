"""The test of a mean difference of pairs, and its interval: both are of one test, so that they cannot disagree.

`scale` assumes that items are independent, and nothing else: the bounds are Gaffke's (2005) for differences that lie
anywhere between minus and plus the range of the scores. A loss that no pair shows may still occur: where n pairs are
equal, no method can exclude that a share of 1 - (alpha / 2) ** (1 / n) of all items lose everything, and this interval
ends there. `spread` is Student's t with a variance that is robust to clusters: it assumes that the spread of the
differences is the one that was seen. Differences that say nothing about spread, of fewer than five items, all equal, or
all 0 but one, are examined by `scale` in any case. An always-valid test assumes what `scale` does, and may be repeated
as pairs are added.
"""

from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from normalizer.estimation.betting import capital_against, chance_of, find_bound, turn
from normalizer.estimation.clusters import Clusters, robust_variance
from normalizer.estimation.intervals import DirichletMean, Interval, Point, mean_interval, points_of

SCALE, SPREAD = "scale", "spread"
LEAST_ITEMS = 5
"""Fewer items say too little about spread: three that happen to be nearly alike would show anything."""
ASSUMPTIONS = {
    SCALE: "nothing is assumed but the scale and independent items: also losses that no pair shows are reckoned with",
    SPREAD: "the spread seen is taken for the spread there is: no rare large losses beyond those seen",
}
"""The assumption of each test, for people."""


class PairedTest(NamedTuple):
    """The interval of a mean difference, the two-sided p-value of no difference, and what both assume."""

    interval: Interval
    p: Fraction
    assumes: str


def examine_differences(
    clusters: Clusters, reach: Fraction, assume: str, alpha: float = 0.05, *, always_valid: bool = False
) -> PairedTest:
    """Return the test of differences, none of which is beyond `reach`. Needs one cluster or more.

    The interval at 1 - alpha holds 0 in its inside exactly where p is above alpha. On a scale of one value nothing can
    differ: there it is the point 0, and p is 1.
    """
    if not reach:
        return PairedTest((Fraction(0), Fraction(0)), Fraction(1), SCALE)
    if always_valid:
        interval, p, assumes = _by_bets(clusters, reach, alpha)
    elif assume == SPREAD and tells_spread(clusters):
        interval, p, assumes = _by_spread(clusters, reach, alpha)
    else:
        interval, p, assumes = _by_scale(clusters, reach, alpha)
    low, high = interval
    if p > alpha:  # computed ends are exact to ten places or so
        return PairedTest((min(low, -_LEAST), max(high, _LEAST)), p, assumes)
    return PairedTest((max(low, Fraction(0)), high) if clusters.mean > 0 else (low, min(high, Fraction(0))), p, assumes)


_LEAST = Fraction(1, 10**12)


def tells_spread(clusters: Clusters) -> bool:
    """Whether differences say something about their spread: of five items or more, not all equal, nor all 0 but one."""
    moved = sum(count for (total, _), count in clusters.counts.items() if total)
    return clusters.clusters >= LEAST_ITEMS and moved > 1 and len({total / size for total, size in clusters.counts}) > 1


def _by_scale(clusters: Clusters, reach: Fraction, alpha: float) -> PairedTest:
    interval = mean_interval(clusters, (-reach, reach), alpha)
    points, size = points_of(clusters.counts.items()), clusters.values / clusters.clusters
    below, above = (
        DirichletMean([*points, edge_point(float(end), size)]).chance_at_most(0.0) for end in (-reach, reach)
    )
    return PairedTest(interval, min(Fraction(1), 2 * min(Fraction(below), 1 - Fraction(above))), SCALE)


def _by_bets(clusters: Clusters, reach: Fraction, alpha: float) -> PairedTest:
    points, far = points_of(clusters.counts.items()), float(reach)
    low, high = (find_bound(each, far, alpha / 2) for each in (points, turn(points)))
    p = 2 * min(chance_of(capital_against(each, 0.0, far)) for each in (points, turn(points)))
    return PairedTest((Fraction(low), -Fraction(high)), min(Fraction(1), p), SCALE)


def edge_point(edge: float, size: float) -> Point:
    """Return the cluster that stands for what was not seen, at an end of the scale."""
    return Point(edge * size, size, 1.0)


def _by_spread(clusters: Clusters, reach: Fraction, alpha: float) -> PairedTest:
    from scipy.special import stdtr, stdtrit

    square, freedom = robust_variance(clusters)
    error = sqrt(square)
    half = Fraction(float(stdtrit(freedom, 1 - alpha / 2)) * error)
    p = min(1.0, 2 * float(stdtr(freedom, -abs(float(clusters.mean)) / error)))
    return PairedTest((max(clusters.mean - half, -reach), min(clusters.mean + half, reach)), Fraction(p), SPREAD)
