"""The interval of a mean for other items and other judges like these: both are samples.

An item's labels are averaged first, then items. Its variance by items and that by judges are added, each as if the
other were given (two-way clusters: Cameron, Gelbach and Miller 2011, without the part that both have in common, which
makes it no smaller). Each variance is multiplied by the square of its own Student's t, which is large where judges are
few: with three judges the interval is wide, because three judges say little about others. One judge says nothing about
others, and gives none.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from normalizer.estimation.intervals import Interval

Panel = tuple[tuple[str, Fraction], ...]
"""The judges of an item and their values."""


class JudgedValue(NamedTuple):
    """A value that a judge gave an item."""

    item: Hashable
    judge: str
    value: Fraction


@dataclass(slots=True)
class Panels:
    """The values that judges gave items, counted as the interval needs them."""

    items: Counter[tuple[Fraction, int]] = field(default_factory=Counter)
    """How many items have each sum of values, and number of them."""
    sums: dict[tuple[str, int], Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    """The sum of the values that each judge gave items with so many values."""
    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    """The number of these values."""

    def add(self, judge: str, size: int, total: Fraction, count: int = 1) -> None:
        """Add values of a judge, of items with `size` values each."""
        self.sums[judge, size] += total
        self.counts[judge, size] += count


def gather_panels(labels: Iterable[JudgedValue]) -> Panels:
    """Return the panels of labels."""
    by_item: dict[Hashable, list[tuple[str, Fraction]]] = defaultdict(list)
    for label in labels:
        by_item[label.item].append((label.judge, label.value))
    return count_panels(Counter(map(tuple, by_item.values())))


def count_panels(panels: Counter[Panel]) -> Panels:
    """Return the panels, given how many items have each values of judges."""
    found = Panels()
    for panel, count in panels.items():
        found.items[sum_values(panel), len(panel)] += count
        for judge, value in panel:
            found.add(judge, len(panel), value * count, count)
    return found


def interval_over_judges(
    panels: Panels, scale: tuple[Fraction, Fraction], these: Interval | None = None
) -> Interval | None:
    """Return the 95 % interval on a scale; None with fewer than two judges or items, or where no value differs.

    `these` is the interval for these judges, which it holds: who knows less has no narrower interval.
    """
    from scipy.special import stdtrit

    items = panels.items.total()
    mean = sum((total * count / (items * size) for (total, size), count in panels.items.items()), Fraction(0))
    parts = [part for part in (_vary_by_item(panels, mean), _vary_by_judge(panels, mean)) if part is not None]
    if len(parts) < 2 or not sum(square for square, _ in parts):
        return None
    halves = [(float(stdtrit(degrees, 0.975)) ** 2) * square for square, degrees in parts]
    half = Fraction(sqrt(sum(halves)))
    low, high = these or (mean, mean)
    return max(min(mean - half, low), scale[0]), min(max(mean + half, high), scale[1])


def sum_values(panel: Panel) -> Fraction:
    """Return the sum of the values of an item."""
    return sum((value for _, value in panel), Fraction(0))


def _vary_by_item(panels: Panels, mean: Fraction) -> tuple[float, float] | None:
    """Return the squared standard error by items, and its degrees of freedom; None with one of them."""
    items = panels.items.total()
    if items < 2:
        return None
    distances = ((total / size - mean) ** 2 * count for (total, size), count in panels.items.items())
    # As CR2 does for independent values of equal variance: all items have the same weight.
    return float(sum(distances, Fraction(0)) / items**2 / (1 - Fraction(1, items))), float(items) - 1


def _vary_by_judge(panels: Panels, mean: Fraction) -> tuple[float, float] | None:
    """Return the same by judges, which weigh as much as their labels."""
    items = panels.items.total()
    sums: dict[str, Fraction] = defaultdict(Fraction)
    weights: dict[str, Fraction] = defaultdict(Fraction)
    for (judge, size), count in panels.counts.items():
        sums[judge] += (panels.sums[judge, size] - count * mean) / (items * size)
        weights[judge] += Fraction(count, items * size)
    if len(sums) < 2:
        return None
    square = sum((total**2 / (1 - weights[judge]) for judge, total in sums.items()), Fraction(0))
    # As many as equal weights would be worth.
    worth = 1 / sum((weight**2 for weight in weights.values()), Fraction(0))
    return float(square), float(worth) - 1
