"""Text cut to size, purely: single lines around what matters, and runs of lines to a number of characters."""

from collections.abc import Iterable
from typing import Protocol

from pydantic import MISSING


def clip(line: str, limit: int, around: tuple[int, int] = (0, 0)) -> str:
    """At most `limit` characters of a line in one piece, with `around` in the middle if it can be."""
    if len(line) <= limit:
        return line
    start, end = around
    before = max(0, limit - (end - start)) // 2
    first = max(0, min(start - before, len(line) - limit))
    return line[first : first + limit]


def fitting(lines: Iterable[str], room: int) -> list[str]:
    """The first lines that fit into `room` characters, line feeds between them counted; if none does, part of one."""
    kept: list[str] = []
    for line in lines:
        size = len(line) + (1 if kept else 0)
        if size > room:
            return kept or ([clip(line, room)] if room else [])
        kept.append(line)
        room -= size
    return kept


def size(lines: list[str]) -> int:
    """How many characters lines have when a line feed stands between them."""
    return sum(map(len, lines)) + max(0, len(lines) - 1)


class Limits(Protocol):
    """The arguments that say how much text may be returned."""

    @property
    def receipts(self) -> bool: ...
    @property
    def max_line_chars(self) -> int | MISSING: ...
    @property
    def max_chars(self) -> int | MISSING: ...


def needed(limits: Limits) -> int | None:
    """How many characters of a line are needed at most; None for the whole line, which a receipt is always of."""
    given = [limit for limit in (limits.max_line_chars, limits.max_chars) if limit is not MISSING]
    return min(given, default=None) if not limits.receipts else None


def shortened(lines: list[str], limits: Limits) -> list[str]:
    """Each line clipped to its own limit."""
    return lines if limits.max_line_chars is MISSING else [clip(line, limits.max_line_chars) for line in lines]
