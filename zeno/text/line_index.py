"""Find the start of any line in a text of millions of lines, without one object per line."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator

# Bytes per entry of the index; at most one block is scanned for a line.
_BLOCK = 4096


class LineIndex:
    """A text in normal form (see `zeno.text.file_lines.normal`): every line ends in a line feed. Lines count from 0."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        # Number of line feeds before each block.
        self._before = array("Q", [0])
        for start in range(0, len(text), _BLOCK):
            self._before.append(self._before[-1] + text.count(b"\n", start, start + _BLOCK))

    def __len__(self) -> int:
        return self._before[-1]

    def start(self, line: int) -> int:
        """Return the offset at which a line begins. For the line after the last one it is the end of the text."""
        if line <= 0:
            return 0
        # The line begins after line feed number `line`, counted from 1.
        block = bisect_right(self._before, line - 1) - 1
        position = block * _BLOCK
        for _ in range(line - self._before[block]):
            position = self.text.index(b"\n", position) + 1
        return position

    def ranges_from(self, centre: int, count: int) -> Iterator[tuple[int, int, int]]:
        """Yield every range of `count` lines except the one at `centre`: first line, start and end offset.

        Ranges nearest to the centre come first; of two equally near, the one before it. The line feed at the end of a
        range is not part of its text.
        """
        text, last = self.text, len(self) - count
        below, above = min(centre - 1, last), centre + 1
        low, low_end = (self.start(below), self.start(below + count)) if below >= 0 else (0, 0)
        high, high_end = (self.start(above), self.start(above + count)) if above <= last else (0, 0)
        while below >= 0 or above <= last:
            if above > last or (below >= 0 and centre - below <= above - centre):
                yield below, low, low_end - 1
                below -= 1
                if below >= 0:
                    low, low_end = text.rfind(b"\n", 0, low - 1) + 1, text.rfind(b"\n", 0, low_end - 1) + 1
            else:
                yield above, high, high_end - 1
                above += 1
                if above <= last:
                    high, high_end = text.index(b"\n", high) + 1, text.index(b"\n", high_end) + 1
