"""How many pairs a test needs that assumes nothing but the scale, and what so many can show.

The bound of a run is computed for differences like those seen, of which the mean of the run happens to lie so far below
the true one as only one run in five does (for a power of 80 %). An unchanged system has these differences with either
sign equally often. `tools/interval_coverage` shows how often such runs pass.
"""

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from normalizer.estimation.betting import capital_against, chance_of
from normalizer.estimation.clusters import Clusters, robust_variance
from normalizer.estimation.intervals import DirichletMean, Point
from normalizer.estimation.paired_test import edge_point

MOST = 10_000_000


class Aim(NamedTuple):
    """A true mean difference, and the bound that is to be shown to lie below it."""

    mean: float
    bound: float


_STEPS = 40


class Differences(NamedTuple):
    """Clusters of differences whose true mean is 0, as many of each kind as in one run; the standard error of it."""

    points: list[Point]
    clusters: float
    size: float
    error: float
    always_valid: bool = False
    """Whether they are to be shown by bets."""

    def excludes(self, bound: float, mean: float, reach: float, alpha: float, clusters: float) -> bool:
        """Whether a run of so many clusters whose mean is `mean` shows that the true mean is above `bound`."""
        times = clusters / self.clusters
        means = (min(max(each.total / each.size + mean, -reach), reach) for each in self.points)
        moved = [Point(value * each.size, *each[1:]) for value, each in zip(means, self.points, strict=True)]
        run = [Point(each.total, each.size, each.clusters * times) for each in moved]
        if self.always_valid:
            return chance_of(capital_against(run, bound, reach)) <= alpha / 2
        return DirichletMean([*run, edge_point(-reach, self.size)]).chance_at_most(bound) <= alpha / 2

    def typical_loss(self, power: float, clusters: float) -> float:
        """Return how far below the true mean a run's mean lies at most, with this probability."""
        from scipy.special import ndtri

        return float(ndtri(power)) * self.error * sqrt(self.clusters / clusters)


def like(clusters: Clusters, *, always_valid: bool = False) -> Differences:
    """Return differences like those seen, whose mean is 0: each with either sign."""
    variance, _ = robust_variance(clusters) if clusters.clusters > 1 else (0, 0.0)
    points = []
    for (total, size), count in clusters.counts.items():
        off = float(total - clusters.mean * size)
        points += [Point(sign * off, float(size), count / 2) for sign in (-1, 1)]
    return Differences(
        points, float(clusters.clusters), clusters.values / clusters.clusters, sqrt(variance), always_valid
    )


def of_deviation(deviation: float) -> Differences:
    """Return differences of which only the standard deviation is known."""
    return Differences([Point(sign * deviation, 1.0, 0.5) for sign in (-1, 1)], 1.0, 1.0, deviation)


def clusters_to_show(known: Differences, aim: Aim, reach: float, alpha: float, power: float = 0.8) -> int | None:
    """Return how many clusters show what is aimed at, with this probability; None: more than ten millions."""

    def shows(clusters: int) -> bool:
        return known.excludes(aim.bound, aim.mean - known.typical_loss(power, clusters), reach, alpha, clusters)

    if aim.mean <= aim.bound or not shows(MOST):
        return None
    return least(shows, 1, MOST)


def power_to_show(known: Differences, aim: Aim, reach: float, alpha: float, clusters: int) -> float:
    """Return the probability that so many clusters show what is aimed at."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if known.excludes(aim.bound, aim.mean - known.typical_loss(middle, clusters), reach, alpha, clusters):
            low = middle
        else:
            high = middle
    return low


def detectable_gain(known: Differences, reach: float, alpha: float, power: float = 0.8) -> float:
    """Return the smallest true difference that a run of this size shows with this probability."""
    low, high = 0.0, reach + known.typical_loss(power, known.clusters)
    loss = known.typical_loss(power, known.clusters)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if known.excludes(0.0, middle - loss, reach, alpha, known.clusters):
            high = middle
        else:
            low = middle
    return high


def least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least number from `low` to `high` that a condition holds for, which holds from there on."""
    step = low
    while step < high and not holds(step):
        low, step = step + 1, 2 * step
    high = min(step, high)
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high
