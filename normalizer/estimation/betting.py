"""Bets against a mean: evidence that holds however often one looks at it while clusters are added.

Who bets on differences above `bound` multiplies a capital of 1 by 1 + f (x - bound) / (bound + reach) at each
difference x, where f, the share put at stake, is between 0 and 1. If the true mean is at most `bound`, the capital is
not expected to grow, whatever the differences are, and at any time in its life it reaches C with a probability of 1 / C
at most (Ville 1939). The capital here is the mean of those of eight shares, fixed beforehand, so that the order of
differences does not matter (Waudby-Smith and Ramdas 2024 have others, which depend on it).
"""

from collections.abc import Sequence
from fractions import Fraction
from math import exp, log

from normalizer.estimation.intervals import Point

_STAKES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
_STEPS = 60


def capital_against(points: Sequence[Point], bound: float, reach: float) -> float:
    """Return the logarithm of the capital of who bets on a mean above `bound`; no difference is beyond `reach`."""
    import numpy as np

    if bound <= -reach:
        return float("inf")
    totals, sizes, counts = np.array(points).T
    gains = (totals - bound * sizes) / (sizes.max() * (bound + reach))
    with np.errstate(divide="ignore"):
        logs = (counts * np.log(np.maximum(1 + np.multiply.outer(np.array(_STAKES), gains), 0.0))).sum(axis=1)
    most = float(logs.max())
    return most + log(float(np.exp(logs - most).mean())) if most > float("-inf") else most


def find_bound(points: Sequence[Point], reach: float, error: float) -> float:
    """Return the greatest bound that the capital excludes with this chance of an error, from below."""
    low, high = -reach, reach
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if capital_against(points, middle, reach) >= -log(error):
            low = middle
        else:
            high = middle
    return low


def chance_of(logarithm: float) -> Fraction:
    """Return the greatest chance that a capital becomes so large, given its logarithm."""
    return Fraction(min(1.0, exp(-logarithm))) if logarithm > 0 else Fraction(1)


def turn(points: Sequence[Point]) -> list[Point]:
    """Return the points of the differences with the other sign."""
    return [Point(-each.total, each.size, each.clusters) for each in points]
