"""How many items a study needs to find a difference: the power of Student's t test, on pairs or on two groups."""

from dataclasses import dataclass
from math import sqrt

from normalizer.errors import CannotRun
from normalizer.estimation.pairs_needed import MOST as _MOST
from normalizer.estimation.pairs_needed import Aim, least

LEAST = 10


@dataclass(frozen=True, slots=True)
class PowerTarget:
    """The aim of the next study, and how surely it is reached: a difference of `detect`, or no loss of `margin`."""

    detect: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    margin: float | None = None
    reach: float | None = None
    """The greatest possible difference, where the test assumes nothing but the scale; None where it assumes that the
    spread seen is the spread there is."""

    def __post_init__(self) -> None:
        """Raise CannotRun if both are given."""
        if self.detect is not None and self.margin is not None:
            raise CannotRun("--detect and --margin are two questions: give one of them")

    @property
    def gap(self) -> float:
        """Return how far the truth lies from what is to be excluded."""
        return (self.detect if self.detect is not None else self.margin) or 0.0

    @property
    def aim(self) -> Aim:
        """Return what the study is to show."""
        return Aim(0.0, -self.gap) if self.detect is None else Aim(self.gap, 0.0)


def power_of(gap: float, deviation: float, items: int, alpha: float, groups: int = 1) -> float:
    """Return the probability that the two-sided interval at 1 - alpha lies above 0, where the true difference is `gap`.

    `items` are those of each group: 1 for pairs, 2 for runs on items of their own. `deviation` is that of the
    difference of two values, paired or not. For a test that assumes nothing but the scale see
    `estimation.pairs_needed`.
    """
    from scipy.special import nctdtr, stdtrit

    freedom = groups * (items - 1)
    critical = float(stdtrit(freedom, 1 - alpha / 2))
    centre = gap / deviation * sqrt(items)
    if centre > 37:  # beyond what the distribution function is computed for; the power is 1 to many places
        return 1.0
    return 1 - float(nctdtr(freedom, centre, critical))


def items_needed(gap: float, deviation: float, power: float, alpha: float, *, groups: int = 1) -> int:
    """Return the least number of items of each group, from 10 on, whose power is enough: see `power_of`."""
    if gap <= 0:
        raise CannotRun("--detect and --margin must be above 0: say which difference the study must find or exclude")
    if deviation <= 0 or power_of(gap, deviation, LEAST, alpha, groups) >= power:
        return LEAST
    if power_of(gap, deviation, _MOST, alpha, groups) < power:
        raise CannotRun(f"more than {_MOST} items would be needed: detect a larger difference")
    return least(lambda items: power_of(gap, deviation, items, alpha, groups) >= power, LEAST, _MOST)
