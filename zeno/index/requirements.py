"""What the bytes of a pattern demand of the text around a matching line, said in rows of the index.

The parts of a pattern are sets of bytes, one for each byte that must come next, and gaps: stretches of unknown content,
which may still demand something (`(?:foo|bar)` demands one of two). Parts without a gap between them make runs, and
runs make demands on the index.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from zeno.index.signatures import FOLD, KIND, LONG_GRAM, RUN_SETS, SHAPE_LENGTHS, SHORT_GRAM, gram, run, shape

# More alternatives for one sequence of bytes than these cost more to look up than they save.
MAX_COMBINATIONS = 16
# More needles, or shorter ones, are not found sooner than the pattern itself.
MAX_NEEDLES = 8
MIN_NEEDLE = 3
LONG_RUN = 12


class Demand(NamedTuple):
    """A condition on a piece of text: `rows` are alternatives if `any_of`, else all are demanded; `inner` likewise."""

    any_of: bool
    rows: tuple[int, ...]
    inner: tuple["Demand", ...] = ()
    needles: frozenset[bytes] = frozenset()
    """Where not empty: each matching line holds one of these to the letter."""


NOTHING = Demand(False, ())

ByteSet = frozenset[int]
Part = ByteSet | Demand


def demand_of(parts: list[Part]) -> Demand:
    """What parts that come one after the other demand."""
    rows: set[int] = set()
    inner: list[Demand] = []
    parts_in_a_row: list[ByteSet] = []
    for part in [*parts, NOTHING]:
        if isinstance(part, Demand):
            _run(parts_in_a_row, rows, inner)
            parts_in_a_row = []
            if part != NOTHING:
                inner.append(part)
        else:
            parts_in_a_row.append(part)
    needles = min(needle_choices(parts), key=_cost, default=frozenset())
    return Demand(False, tuple(sorted(rows)), tuple(dict.fromkeys(inner)), needles)


def one_of(branches: list[list[Part]]) -> list[Part]:
    """The parts of an expression that matches whatever one of several does."""
    if len(branches) == 1:
        return branches[0]
    single = [branch[0] for branch in branches if len(branch) == 1 and isinstance(branch[0], frozenset)]
    if len(single) == len(branches):
        return [frozenset[int]().union(*single)]
    demands = tuple(dict.fromkeys(map(demand_of, branches)))
    if NOTHING in demands:
        return [NOTHING]
    if len(demands) == 1:
        return [demands[0]]
    needles: frozenset[bytes] = frozenset()
    if all(one.needles for one in demands):
        needles = needles.union(*(one.needles for one in demands))
    return [Demand(True, (), demands, needles if len(needles) <= MAX_NEEDLES else frozenset())]


def needle_choices(parts: list[Part]) -> Iterator[frozenset[bytes]]:
    """Yield sets of literals: of each set every matching line holds at least one."""
    needle = bytearray()
    for part in [*parts, NOTHING]:
        if isinstance(part, frozenset) and len(part) == 1:
            needle += bytes(part)
            continue
        if len(needle) >= MIN_NEEDLE:
            yield frozenset([bytes(needle)])
        needle.clear()
        if isinstance(part, Demand) and part.needles:
            yield part.needles


def _cost(needles: frozenset[bytes]) -> int:
    """Few and long ones are found soonest."""
    return len(needles) * 8 - min(map(len, needles))


def _run(parts: list[ByteSet], rows: set[int], inner: list[Demand]) -> None:
    folded = [frozenset(FOLD[byte] for byte in part) for part in parts]
    known = [False] * len(parts)
    for length in (LONG_GRAM, SHORT_GRAM):
        for start in range(len(parts) - length + 1):
            # Where many long sequences are known, every second of their parts rules out as much as all of them.
            if length == SHORT_GRAM and len(parts) >= LONG_RUN and start % 2 and all(known[start : start + length]):
                continue
            found = _combined(folded[start : start + length])
            if found is not None:
                known[start : start + length] = [True] * length
                _either({gram(sequence) for sequence in found}, rows, inner)
    # Where the bytes themselves are known, their kinds say nothing more.
    if all(known):
        return
    kinds = [frozenset(KIND[byte] for byte in part) for part in parts]
    for length in SHAPE_LENGTHS:
        for window in dict.fromkeys(tuple(kinds[start : start + length]) for start in range(len(kinds) - length + 1)):
            found = _combined(window)
            if found is not None:
                _either({shape(sequence) for sequence in found}, rows, inner)
    for members, chars in enumerate(RUN_SETS):
        longest = current = 0
        for part in parts:
            current = current + 1 if part.issubset(chars) else 0
            longest = max(longest, current)
        row = run(members, longest)
        if row is not None:
            rows.add(row)


def _combined(window: Sequence[ByteSet]) -> list[tuple[int, ...]] | None:
    count = 1
    for part in window:
        count *= len(part)
    return list(product(*window)) if count <= MAX_COMBINATIONS else None


def _either(found: set[int], rows: set[int], inner: list[Demand]) -> None:
    if len(found) == 1:
        rows |= found
    else:
        inner.append(Demand(True, tuple(sorted(found))))
