"""Find the innermost definition around a line."""

from bisect import bisect_right
from collections.abc import Iterable

from zeno.code.facts import Symbol


class Scopes:
    """The extents of the definitions of one file."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        """Sort the definitions whose extents are known. Takes linear time but for the sorting."""
        extents = [symbol for symbol in symbols if symbol.end_line]
        self._symbols = sorted(extents, key=lambda symbol: (symbol.start_line, -symbol.end_line))
        self._starts = [symbol.start_line for symbol in self._symbols]
        self._longer: list[int] = []
        """For each definition the nearest one before it that ends further down, or -1."""
        open_: list[int] = []
        for index, symbol in enumerate(self._symbols):
            while open_ and self._symbols[open_[-1]].end_line <= symbol.end_line:
                open_.pop()
            self._longer.append(open_[-1] if open_ else -1)
            open_.append(index)

    def at(self, line: int) -> Symbol | None:
        """Return the definition that holds a line and begins last, of these the shortest; None outside of all."""
        index = bisect_right(self._starts, line) - 1
        while index >= 0 and self._symbols[index].end_line < line:
            index = self._longer[index]
        return self._symbols[index] if index >= 0 else None
