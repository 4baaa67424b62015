"""The interval of a mean for other items and other judges like these: both are samples.

An item's labels are averaged first, then items. Its variance by items and that by judges are added, each as if the
other were given (two-way clusters: Cameron, Gelbach and Miller 2011, without the part that both have in common, which
makes it no smaller). Each variance is multiplied by the square of its own Student's t, which is large where judges are
few: with three judges the interval is wide, because three judges say little about others. One judge says nothing about
others, and gives none.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from normalizer.estimation.intervals import Interval


class JudgedValue(NamedTuple):
    """A value that a judge gave an item."""

    item: str
    judge: str
    value: Fraction


def interval_over_judges(
    labels: Sequence[JudgedValue], scale: tuple[Fraction, Fraction], these: Interval | None = None
) -> Interval | None:
    """Return the 95 % interval on a scale; None with fewer than two judges or items, or where no value differs.

    `these` is the interval for these judges, which it holds: who knows less has no narrower interval.
    """
    from scipy.special import stdtrit

    per_item = Counter(label.item for label in labels)
    items = len(per_item)
    shares = {item: Fraction(1, items * count) for item, count in per_item.items()}
    mean = sum((shares[label.item] * label.value for label in labels), Fraction(0))
    parts = [
        part
        for part in (_variance(labels, shares, mean, by_judge=by_judge) for by_judge in (False, True))
        if part is not None
    ]
    if len(parts) < 2 or not sum(square for square, _ in parts):
        return None
    halves = [(float(stdtrit(degrees, 0.975)) ** 2) * square for square, degrees in parts]
    half = Fraction(sqrt(sum(halves)))
    low, high = these or (mean, mean)
    return max(min(mean - half, low), scale[0]), min(max(mean + half, high), scale[1])


def _variance(
    labels: Sequence[JudgedValue], shares: dict[str, Fraction], mean: Fraction, *, by_judge: bool
) -> tuple[float, float] | None:
    """Return the squared standard error by items or by judges, and its degrees of freedom; None with one of them."""
    sums: dict[str, Fraction] = defaultdict(Fraction)
    weights: dict[str, Fraction] = defaultdict(Fraction)
    for label in labels:
        name = label.judge if by_judge else label.item
        sums[name] += shares[label.item] * (label.value - mean)
        weights[name] += shares[label.item]
    if len(sums) < 2:
        return None
    # As CR2 does for independent values of equal variance, and as many as equal weights would be worth.
    square = sum((total**2 / (1 - weights[name]) for name, total in sums.items()), Fraction(0))
    worth = 1 / sum((weight**2 for weight in weights.values()), Fraction(0))
    return float(square), float(worth) - 1
