"""How many items a study needs to find a difference: the power of Student's t test, on pairs or on two groups."""

from dataclasses import dataclass
from math import log, sqrt

from normalizer.errors import CannotRun

_LEAST = 10
_MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class PowerTarget:
    """The aim of the next study, and how surely it is reached: a difference of `detect`, or no loss of `margin`."""

    detect: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    margin: float | None = None

    @property
    def gap(self) -> float:
        """Return how far the truth lies from what is to be excluded."""
        return (self.detect if self.detect is not None else self.margin) or 0.0


def power_of(gap: float, deviation: float, items: int, alpha: float, groups: int = 1, *, edge: bool = False) -> float:
    """Return the probability that the two-sided interval at 1 - alpha lies above 0, where the true difference is `gap`.

    `items` are those of each group: 1 for pairs, 2 for runs on items of their own. `deviation` is that of the
    difference of two values, paired or not. With `edge`, the interval is that of a gate with a margin: one more item is
    put at its edge, about as far out as the farthest of the items (see `estimation.intervals`), which costs
    edge / (items + 1) of the gap.
    """
    from scipy.special import nctdtr, stdtrit

    if edge:
        gap = max(gap - deviation * sqrt(2 * log(2 * items)) / (items + 1), 0.0)
    freedom = groups * (items - 1)
    critical = float(stdtrit(freedom, 1 - alpha / 2))
    centre = gap / deviation * sqrt(items)
    if centre > 37:  # beyond what the distribution function is computed for; the power is 1 to many places
        return 1.0
    return 1 - float(nctdtr(freedom, centre, critical))


def items_needed(
    gap: float, deviation: float, power: float, alpha: float, *, groups: int = 1, edge: bool = False
) -> int:
    """Return the least number of items of each group, from 10 on, whose power is enough: see `power_of`."""
    if gap <= 0:
        raise CannotRun("--detect and --margin must be above 0: say which difference the study must find or exclude")
    if deviation <= 0 or power_of(gap, deviation, _LEAST, alpha, groups, edge=edge) >= power:
        return _LEAST
    low, high = _LEAST, _LEAST * 2
    while power_of(gap, deviation, high, alpha, groups, edge=edge) < power:
        low, high = high, high * 2
        if high > _MOST:
            raise CannotRun(f"more than {_MOST} items would be needed: detect a larger difference")
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(gap, deviation, middle, alpha, groups, edge=edge) < power:
            low = middle
        else:
            high = middle
    return high
