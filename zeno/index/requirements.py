"""Turn a parsed pattern into a demand: the rows of the index that a piece of text needs to contain a match.

The parts of a pattern are byte sets, one for each byte that must come next, and gaps of unknown content, which may
have a demand of their own (`(?:foo|bar)` demands one of two). Consecutive byte sets form runs, and the sequences of
bytes in a run become rows.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from zeno.index.signatures import FOLD, KIND, LONG_GRAM, RUN_SETS, SHAPE_LENGTHS, SHORT_GRAM, gram, run_row, shape

# With more alternatives for one sequence of bytes the lookup costs more than it saves.
MAX_COMBINATIONS = 16
# More or shorter needles are not found faster than the pattern itself.
MAX_NEEDLES = 8
MIN_NEEDLE = 3
LONG_RUN = 12


class Demand(NamedTuple):
    """A condition on a piece of text: any of `rows` and `inner` if `any_of`, otherwise all of them."""

    any_of: bool
    rows: tuple[int, ...]
    inner: tuple["Demand", ...] = ()
    needles: frozenset[bytes] = frozenset()
    """If not empty: every matching line contains one of these byte strings."""


NOTHING = Demand(False, ())

ByteSet = frozenset[int]
Part = ByteSet | Demand

# The characters of RE2's syntax as bytes.
_LETTERS = frozenset(range(65, 91)) | frozenset(range(97, 123))
_DIGITS = frozenset(range(48, 58))
PERL = {
    "d": _DIGITS,
    "s": frozenset(b"\t\n\f\r "),
    "w": _LETTERS | _DIGITS | {95},
}
POSIX = {
    "alnum": _LETTERS | _DIGITS,
    "alpha": _LETTERS,
    "ascii": frozenset(range(128)),
    "blank": frozenset(b"\t "),
    "cntrl": frozenset(range(32)) | {127},
    "digit": _DIGITS,
    "graph": frozenset(range(33, 127)),
    "lower": frozenset(range(97, 123)),
    "print": frozenset(range(32, 127)),
    "punct": frozenset(range(33, 127)) - _LETTERS - _DIGITS,
    "space": frozenset(b"\t\n\v\f\r "),
    "upper": frozenset(range(65, 91)),
    "word": _LETTERS | _DIGITS | {95},
    "xdigit": _DIGITS | frozenset(b"abcdefABCDEF"),
}
ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def parts_of(code: int, ignore_case: bool) -> list[Part]:
    """One character: its bytes, or a gap where case folding could make other bytes of it."""
    if code < 128:
        return [fold_case(frozenset([code])) if ignore_case else frozenset([code])]
    if ignore_case or 0xD800 <= code < 0xE000:
        return [NOTHING]
    return [frozenset([byte]) for byte in chr(code).encode()]


def fold_case(bytes_: ByteSet) -> ByteSet:
    """With the other case of each ASCII letter."""
    return bytes_ | {byte ^ 32 for byte in bytes_ & _LETTERS}


def demand_of(parts: list[Part]) -> Demand:
    """Return the demand of a sequence of parts."""
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
    """Return the parts of an alternation, given the parts of each branch."""
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
    """Yield sets of literals; every matching line contains at least one literal of each set."""
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
    """Return an estimate of the cost of a scan: few and long needles are cheapest."""
    return len(needles) * 8 - min(map(len, needles))


def _run(parts: list[ByteSet], rows: set[int], inner: list[Demand]) -> None:
    folded = [frozenset(FOLD[byte] for byte in part) for part in parts]
    known = [False] * len(parts)
    for length in (LONG_GRAM, SHORT_GRAM):
        for start in range(len(parts) - length + 1):
            # In a long run every second short sequence rules out as much as all of them.
            if length == SHORT_GRAM and len(parts) >= LONG_RUN and start % 2 and all(known[start : start + length]):
                continue
            found = _combine(folded[start : start + length])
            if found is not None:
                known[start : start + length] = [True] * length
                _either({gram(sequence) for sequence in found}, rows, inner)
    # If the bytes are known, their kinds add nothing.
    if all(known):
        return
    kinds = [frozenset(KIND[byte] for byte in part) for part in parts]
    for length in SHAPE_LENGTHS:
        for window in dict.fromkeys(tuple(kinds[start : start + length]) for start in range(len(kinds) - length + 1)):
            found = _combine(window)
            if found is not None:
                _either({shape(sequence) for sequence in found}, rows, inner)
    for members, chars in enumerate(RUN_SETS):
        longest = current = 0
        for part in parts:
            current = current + 1 if part.issubset(chars) else 0
            longest = max(longest, current)
        row = run_row(members, longest)
        if row is not None:
            rows.add(row)


def _combine(window: Sequence[ByteSet]) -> list[tuple[int, ...]] | None:
    count = 1
    for part in window:
        count *= len(part)
    return list(product(*window)) if count <= MAX_COMBINATIONS else None


def _either(found: set[int], rows: set[int], inner: list[Demand]) -> None:
    if len(found) == 1:
        rows |= found
    else:
        inner.append(Demand(True, tuple(sorted(found))))
