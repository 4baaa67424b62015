"""Turn a parsed pattern into a demand: the rows of the index that a piece of text needs to contain a match.

The parts of a pattern are byte sets, one for each byte that must come next, and gaps of unknown content, which may
have a demand of their own (`(?:foo|bar)` demands one of two). Consecutive byte sets form runs, and the sequences of
bytes in a run become rows.

A match of `^\\s*def get_\\w+\\(` contains a match of `def get_\\w+\\(`, its tail from a literal on. RE2 finds a pattern
that begins with a literal many times faster than one that does not, so a text is scanned for a tail.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from zeno.index.signatures import FACTORS, FOLD, GRAMS, KIND, LONG_GRAM, RUN_SETS, SHAPE_LENGTHS, SHORT_GRAM, run_row

# With more alternatives for one sequence of bytes the lookup costs more than it saves.
MAX_COMBINATIONS = 16
# More or shorter needles are not found faster than the pattern itself.
MAX_NEEDLES = 8
MIN_NEEDLE = 3
LONG_RUN = 12
MAX_PARTS = 128
LONGER_RUN = 20
# A literal of one byte occurs almost everywhere. A tail that begins with one is worth a try only if so many further
# bytes are restricted: otherwise it finds most lines that have the byte.
MIN_LITERAL = 2
MIN_RESTRICTED = 4
# More tails cost more to compare than they save.
MAX_TAILS = 6


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


def gram(bytes_: Sequence[int]) -> int:
    """Return the row of three or five folded bytes."""
    hashed = _multiply(bytes_[0] | bytes_[1] << 8 | bytes_[2] << 16, FACTORS[0])
    if len(bytes_) == LONG_GRAM:
        hashed = hashed + _multiply(bytes_[3] | bytes_[4] << 8, FACTORS[1]) & 0xFFFFFFFF
        hashed = _multiply(hashed ^ hashed >> 15, FACTORS[0])
    return hashed >> 16


def shape(kinds: Sequence[int]) -> int:
    """Return the row of four or six kinds."""
    value = sum(kind << 4 * at for at, kind in enumerate(kinds))
    return GRAMS + (_multiply(value, FACTORS[SHAPE_LENGTHS.index(len(kinds))]) >> 19)


def _multiply(value: int, factor: int) -> int:
    return value * factor & 0xFFFFFFFF


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


class Tail(NamedTuple):
    """The rest of a pattern from a literal on."""

    literal: bytes
    """The bytes that it begins with; in lower case if `any_case`."""
    any_case: bool
    """Whether the literal may stand in either case."""
    pattern: str
    """A pattern for a text of many lines: each line that matches the whole pattern contains a match of it."""


def literal(text: str, *, case_sensitive: bool) -> Demand:
    """Return what a plain text demands of the index."""
    if text.isascii() and LONG_GRAM <= len(text) <= MAX_PARTS:
        encoded = text.encode()
        lower = encoded.translate(FOLD)
        # Of a long text every second or third sequence rules out about as much as all of them.
        steps = (1, 1) if len(text) < LONG_RUN else (1, 2) if len(text) <= LONGER_RUN else (2, 3)
        rows = {
            gram(lower[at : at + length])
            for length, step in zip((LONG_GRAM, SHORT_GRAM), steps, strict=True)
            for at in range(0, len(lower) - length + 1, step)
        }
        return Demand(False, tuple(sorted(rows)), (), frozenset([encoded] if case_sensitive else []))
    parts: list[Part] = []
    for char in text[:MAX_PARTS]:
        parts += parts_of(ord(char), not case_sensitive)
    return demand_of(parts)


def tails(parts: list[Part], atoms: list[tuple[int, int]], pattern: str) -> tuple[Tail, ...]:
    """Return the tails of a pattern that begin with a literal.

    `atoms` says for each atom, in order, at which of the `parts` and at which character of the pattern it begins.
    """
    found: list[Tail] = []
    end = 0
    # Where an atom begins; of several at one part the first.
    places = dict(reversed(atoms))
    for part, place in atoms:
        # Inside a literal that was found already, or behind the parts that were looked at.
        if part < end or part >= min(len(parts), MAX_PARTS):
            continue
        any_case = False
        run = bytearray()
        for one in parts[part:MAX_PARTS]:
            byte = _byte(one)
            if byte is None:
                break
            any_case = any_case or byte[1]
            run.append(byte[0])
        end = part + len(run)
        if len(run) >= MIN_LITERAL or (run and _count_restricted(parts[end:]) >= MIN_RESTRICTED):
            rest = pattern[place:]
            if not any_case and end in places:
                # RE2 jumps to a literal that is spelled as one, but not to `[_]{1}`.
                rest = re.escape(run.decode()) + pattern[places[end] :]
            found.append(Tail(bytes(run).lower() if any_case else bytes(run), any_case, rest))
            if len(found) == MAX_TAILS:
                break
    return tuple(found)


def _count_restricted(parts: list[Part]) -> int:
    """Return how many bytes of a sequence are restricted to a set."""
    return sum(isinstance(part, frozenset) for part in parts[:MAX_PARTS])


def _byte(part: Part) -> tuple[int, bool] | None:
    """Return the byte that a part stands for, and whether it may be in either case; None for other parts."""
    if not isinstance(part, frozenset):
        return None
    if len(part) == 1:
        return min(part), False
    if len(part) == 2 and (low := min(part)) ^ 32 == max(part) and chr(low).isalpha():
        return low, True
    return None
