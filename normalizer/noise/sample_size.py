"""How many items a study needs to find a difference: the power of Student's t test, on pairs or on two groups."""

from math import sqrt

from normalizer.errors import CannotRun

_MOST = 10_000_000


def power_of(gap: float, deviation: float, items: int, alpha: float, groups: int = 1) -> float:
    """The probability that the two-sided interval at 1 - alpha lies above 0, the true mean difference being `gap`.

    `items` are those of each group: 1 for pairs, 2 for runs on items of their own. `deviation` is that of the
    difference of two values, paired or not.
    """
    from scipy.special import nctdtr, stdtrit

    freedom = groups * (items - 1)
    critical = float(stdtrit(freedom, 1 - alpha / 2))
    centre = gap / deviation * sqrt(items)
    if centre > 37:  # beyond what the distribution function is computed for; the power is 1 to many places
        return 1.0
    return 1 - float(nctdtr(freedom, centre, critical))


def items_needed(gap: float, deviation: float, power: float, alpha: float, least: int = 10, *, groups: int = 1) -> int:
    """The least number of items of each group, from `least` on, whose power is enough: see `power_of`."""
    if gap <= 0:
        raise CannotRun("--detect must be above 0: say which difference the study must find")
    if deviation <= 0 or power_of(gap, deviation, least, alpha, groups) >= power:
        return least
    low, high = least, least * 2
    while power_of(gap, deviation, high, alpha, groups) < power:
        low, high = high, high * 2
        if high > _MOST:
            raise CannotRun(f"more than {_MOST} items would be needed: detect a larger difference")
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(gap, deviation, middle, alpha, groups) < power:
            low = middle
        else:
            high = middle
    return high
