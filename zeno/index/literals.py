"""The literals of a pattern: what a plain text demands of the index, and where a scan for a pattern can begin.

A match of `^\\s*def get_\\w+\\(` contains a match of `def get_\\w+\\(`, its tail from a literal on. RE2 finds a pattern
that begins with a literal many times faster than one that does not, so a text is scanned for a tail, and the lines that
the scan finds are given to RE2 with the whole pattern.
"""

from typing import NamedTuple

from zeno.index.regex_characters import parts_of
from zeno.index.requirements import LONG_RUN, Demand, Part, demand_of
from zeno.index.signatures import FOLD, LONG_GRAM, SHORT_GRAM, gram

MAX_PARTS = 128
# A shorter literal stands almost everywhere.
MIN_LITERAL = 2
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
        steps = ((LONG_GRAM, 1), (SHORT_GRAM, 1 if len(text) < LONG_RUN else 2))
        rows = {
            gram(lower[at : at + length]) for length, step in steps for at in range(0, len(lower) - length + 1, step)
        }
        return Demand(False, tuple(sorted(rows)), (), frozenset([encoded] if case_sensitive else []))
    parts: list[Part] = []
    for char in text[:MAX_PARTS]:
        parts += parts_of(ord(char), not case_sensitive)
    return demand_of(parts)


def tails(parts: list[Part], atoms: list[tuple[int, int]], out: list[str]) -> tuple[Tail, ...]:
    """Return the tails of a sequence that begin with a literal.

    `atoms` says for each atom of the pattern, in order, at which of the `parts` and at which piece of `out` it begins.
    """
    found: list[Tail] = []
    end = 0
    for part, piece in atoms:
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
        if len(run) >= MIN_LITERAL:
            found.append(Tail(bytes(run).lower() if any_case else bytes(run), any_case, "".join(out[piece:])))
            if len(found) == MAX_TAILS:
                break
    return tuple(found)


def _byte(part: Part) -> tuple[int, bool] | None:
    """Return the byte that a part stands for, and whether it may be in either case; None for other parts."""
    if not isinstance(part, frozenset):
        return None
    if len(part) == 1:
        return min(part), False
    if len(part) == 2 and (low := min(part)) ^ 32 == max(part) and chr(low).isalpha():
        return low, True
    return None
