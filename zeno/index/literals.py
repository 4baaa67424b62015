"""The literals of a pattern: the demand of a plain text, and where a scan for a pattern can begin.

A match of `^\\s*def get_\\w+\\(` contains a match of `def get_\\w+\\(`, its tail from a literal on. RE2 finds a pattern
that begins with a literal many times faster than one that does not, so a text is scanned for a tail, and the lines that
the scan finds are given to RE2 with the whole pattern.
"""

from typing import NamedTuple

from zeno.index.requirements import LONG_RUN, Demand, Part, demand_of, parts_of
from zeno.index.signatures import FOLD, LONG_GRAM, SHORT_GRAM, gram

MAX_PARTS = 128
LONGER_RUN = 20
# A literal of one byte occurs almost everywhere. A tail that begins with one is worth a try only if so many further
# bytes are restricted: otherwise it finds most lines that have the byte.
MIN_LITERAL = 2
MIN_RESTRICTED = 4
# More tails cost more to compare than they save.
MAX_TAILS = 6


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
                rest = _quote(bytes(run)) + pattern[places[end] :]
            found.append(Tail(bytes(run).lower() if any_case else bytes(run), any_case, rest))
            if len(found) == MAX_TAILS:
                break
    return tuple(found)


def _count_restricted(parts: list[Part]) -> int:
    """Return how many bytes of a sequence are restricted to a set."""
    return sum(isinstance(part, frozenset) for part in parts[:MAX_PARTS])


def _quote(run: bytes) -> str:
    """Return a pattern that matches these bytes only, which are whole characters."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in run.decode())


_SPECIAL = frozenset("\\.+*?()|[]{}^$")


def _byte(part: Part) -> tuple[int, bool] | None:
    """Return the byte that a part stands for, and whether it may be in either case; None for other parts."""
    if not isinstance(part, frozenset):
        return None
    if len(part) == 1:
        return min(part), False
    if len(part) == 2 and (low := min(part)) ^ 32 == max(part) and chr(low).isalpha():
        return low, True
    return None
