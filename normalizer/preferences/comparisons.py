"""Comparisons one by one, for what is not computed from columns: gates, labels, and scores of other boards."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from normalizer.aggregate.eligibility import Levels

ALSO = ("criterion", "eval_id")
"""Keys of comparisons besides those of single scores."""
DECIDED = ("a", "b", "draw")
_SWAPPED = {"a": "b", "b": "a"}


class Comparison(NamedTuple):
    """One verdict. `a` and `b` are generators; `winner` is a, b, draw, both_bad or missing."""

    item: str
    a: str
    b: str
    winner: str
    share: Fraction | None
    first: str
    """Which answer was shown first: a, b or unknown."""
    judge: str | None
    repeat: int
    criterion: str | None
    lengths: tuple[float, float] | None
    self_judged: bool
    place: int = 0
    """The place of its entry in the bundle, from 0."""

    @property
    def score(self) -> Fraction:
        """Score of A: 1 for a win, 1/2 for a draw, 0 for a loss. Only for decided comparisons."""
        return {"a": Fraction(1), "draw": Fraction(1, 2), "b": Fraction(0)}[self.winner]

    def turn(self) -> "Comparison":
        """This comparison with the names A and B swapped."""
        return Comparison(
            self.item,
            self.b,
            self.a,
            _SWAPPED.get(self.winner, self.winner),
            None if self.share is None else 1 - self.share,
            _SWAPPED.get(self.first, self.first),
            self.judge,
            self.repeat,
            self.criterion,
            None if self.lengths is None else (self.lengths[1], self.lengths[0]),
            self.self_judged,
            self.place,
        )


@dataclass(slots=True)
class Compared:
    """The comparisons of each group, and counts of those in no group."""

    groups: dict[Levels, list[Comparison]]
    left_out: dict[str, int]
    records: int
    flags: list[str]


def turn_to(comparisons: list[Comparison], one: str, other: str | None = None) -> Iterator[Comparison]:
    """Return the comparisons of `one` with `other`, or with any generator, turned so that `one` is A."""
    for comparison in comparisons:
        if one not in (comparison.a, comparison.b):
            continue
        seen = comparison if comparison.a == one else comparison.turn()
        if other is None or seen.b == other:
            yield seen
