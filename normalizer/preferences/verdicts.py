"""Verdicts in columns: names and items are whole numbers, and comparisons that are alike are one row with their number.

Numbers of names and items are in the order of the texts. Rates, fits and tables are computed from these columns.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from normalizer.preferences.comparisons import DECIDED, Comparison

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]

WINNERS = (*DECIDED, "both_bad", "missing")
SHOWN = ("a", "b", "unknown")
NONE = -1
"""Stands for a share or a length that is not recorded."""
_SWAP = (1, 0, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Columns of comparisons, each as long as the others."""

    item: "Numbers"
    a: "Numbers"
    b: "Numbers"
    winner: "Numbers"
    """The place in WINNERS."""
    first: "Numbers"
    """The place in SHOWN."""
    own: "Numbers"
    """1 if it is self-judged."""
    share: "Numbers"
    """A's share in units of `1 / unit`, or NONE."""
    length_a: "Numbers"
    length_b: "Numbers"
    times: "Numbers"
    """How many comparisons are alike."""
    unit: int = field(default=1, kw_only=True)

    def take(self, which: Any) -> "Verdicts":
        """Return the rows of a slice, a mask or a list of places."""
        return replace(self, **{name: column[which] for name, column in self._columns()})

    def turn(self) -> "Verdicts":
        """Return the same comparisons with the names A and B swapped."""
        import numpy as np

        swap = np.array(_SWAP)
        share = np.where(self.share == NONE, NONE, self.unit - self.share)
        return replace(
            self,
            a=self.b,
            b=self.a,
            winner=swap[self.winner],
            first=swap[self.first],
            share=share,
            length_a=self.length_b,
            length_b=self.length_a,
        )

    def turn_where(self, which: "Numbers") -> "Verdicts":
        """Return the comparisons with those of a mask turned, which come last."""
        return self.take(~which).join(self.take(which).turn())

    def join(self, other: "Verdicts") -> "Verdicts":
        """Return the rows of both, these first."""
        import numpy as np

        pairs = zip(self._columns(), other._columns(), strict=True)
        columns: dict[str, Any] = {name: np.concatenate([mine, theirs]) for (name, mine), (_, theirs) in pairs}
        return replace(self, **columns)

    def _columns(self) -> "Iterator[tuple[str, Numbers]]":
        return ((each.name, getattr(self, each.name)) for each in fields(self) if each.name != "unit")

    def take_decided(self) -> "Verdicts":
        """Return the comparisons that have a winner or are a draw."""
        return self.take(self.winner < len(DECIDED))


class Orders(NamedTuple):
    """Answers that one judge was shown in both orders: how many verdicts of each kind there are in either.

    The answer whose name sorts first is A in both. Columns of WINNERS; `times` says how many pairs of answers are so.
    """

    item: "Numbers"
    one: "Numbers"
    other: "Numbers"
    times: "Numbers"


class ComparisonGroup(NamedTuple):
    """The comparisons of one group."""

    names: list[str]
    """The generators, sorted; their places are the numbers in the columns."""
    verdicts: Verdicts
    orders: Orders


def make_verdicts(columns: list["Numbers"]) -> Verdicts:
    """Return the table of columns in the order of `Verdicts`, in which shares and lengths are doubles."""
    import numpy as np

    item, a, b, winner, first, own, share, length_a, length_b, times = columns
    lengths = [np.where(np.isfinite(column), column, NONE).astype(float) for column in (length_a, length_b)]
    values, places = np.unique(share, return_inverse=True)
    exact = [Fraction(str(value)) for value in values.tolist()]
    unit = lcm(*(value.denominator for value in exact))
    units = [NONE if value < 0 else int(value * unit) for value in exact]
    fits = unit * int(times.sum()) < 2**62
    shares = np.array(units, dtype=np.int64 if fits else object)[places.reshape(-1)]
    item, a, b, winner, first, own, times = (
        column.astype(np.int64) for column in (item, a, b, winner, first, own, times)
    )
    return Verdicts(item, a, b, winner, first, own, shares, lengths[0], lengths[1], times, unit=unit)


def tabulate(comparisons: Iterable[Comparison]) -> ComparisonGroup:
    """Return comparisons that are in memory as columns."""
    import numpy as np

    rows = sorted(comparisons, key=lambda one: (one.item, one.a, one.b))
    names = {name: at for at, name in enumerate(sorted({name for one in rows for name in (one.a, one.b)}))}
    items = {item: at for at, item in enumerate(sorted({one.item for one in rows}))}
    counted: Counter[tuple[float, ...]] = Counter()
    both: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0] * 2 * len(WINNERS))
    for one in rows:
        lengths = one.lengths or (NONE, NONE)
        share = NONE if one.share is None else float(one.share)
        shown = WINNERS.index(one.winner), SHOWN.index(one.first), int(one.self_judged)
        counted[items[one.item], names[one.a], names[one.b], *shown, share, *lengths] += 1
        seen = one if one.a < one.b else one.turn()
        if seen.first != "unknown":
            key = (items[seen.item], seen.a, seen.b, seen.judge, seen.repeat, seen.criterion)
            both[key][SHOWN.index(seen.first) * len(WINNERS) + WINNERS.index(seen.winner)] += 1
    table = np.array([[*row, times] for row, times in counted.items()], dtype=float).reshape(-1, 10)
    patterns = Counter((key[0], *verdicts) for key, verdicts in both.items())
    asked = np.array([[*row, times] for row, times in patterns.items()], dtype=np.int64).reshape(-1, 12)
    return ComparisonGroup(list(names), make_verdicts(list(table.T)), make_orders(list(asked.T)))


def make_orders(columns: list["Numbers"]) -> Orders:
    """Return the table of an item, the verdicts in both orders, and how often they occur."""
    import numpy as np

    width = len(WINNERS)
    item, *verdicts, times = (column.astype(np.int64) for column in columns)
    table = np.column_stack(verdicts)
    return Orders(item, table[:, :width], table[:, width:], times)
