"""Clip single lines, and cut runs of lines to a number of characters."""

from collections.abc import Iterable
from typing import Protocol

from pydantic import MISSING


def clip(line: str, limit: int, around: tuple[int, int] = (0, 0)) -> str:
    """Return at most `limit` consecutive characters of a line, with the range `around` in the middle if possible."""
    if len(line) <= limit:
        return line
    start, end = around
    before = max(0, limit - (end - start)) // 2
    first = max(0, min(start - before, len(line) - limit))
    return line[first : first + limit]


def fit_lines(lines: Iterable[str], room: int, *, part: bool = True) -> list[str]:
    """Return the first lines that fit into `room` characters with line feeds between them.

    Where not even the first one fits, return a part of it, or nothing if `part` is false.
    """
    kept: list[str] = []
    for line in lines:
        size = len(line) + (1 if kept else 0)
        if size > room:
            return kept or ([clip(line, room)] if room and part else [])
        kept.append(line)
        room -= size
    return kept


def count_fitting(paths: Iterable[str], room: int) -> int:
    """Return how many of the first paths fit into `room` characters: at least one, if there is one."""
    count = 0
    for path in paths:
        room -= len(path)
        if room < 0 and count:
            break
        count += 1
    return count


def size(lines: list[str]) -> int:
    """Return the number of characters of lines joined by line feeds."""
    return sum(map(len, lines)) + max(0, len(lines) - 1)


class Limits(Protocol):
    """Arguments that limit the text of a result."""

    @property
    def receipts(self) -> bool: ...
    @property
    def max_line_chars(self) -> int | MISSING: ...
    @property
    def max_chars(self) -> int | MISSING: ...


def find_line_limit(limits: Limits) -> int | None:
    """Return the most characters of a line that a result needs; None for all of it, which receipts need."""
    given = [limit for limit in (limits.max_line_chars, limits.max_chars) if limit is not MISSING]
    return min(given, default=None) if not limits.receipts else None


def shorten(lines: list[str], limits: Limits) -> list[str]:
    """Return each line clipped to `max_line_chars`."""
    return lines if limits.max_line_chars is MISSING else [clip(line, limits.max_line_chars) for line in lines]
