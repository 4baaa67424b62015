"""The files of one kind of lines as if they were one file, damaged or not, so that it can be cut at any hash."""

import os
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import BinaryIO

from normalizer.ledger.buckets import WHOLE_HASH
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.reader import Ledger
from normalizer.regular_files import open_regular, whole_lines


class JoinedFiles:
    """All lines of one kind. Offsets count from the beginning of the first file."""

    def __init__(self, ledger: Ledger, kind: str) -> None:
        self._kind, self._where = kind, sha_slice(kind)
        self._folder, self._places = ledger.folder, ledger.places(kind)
        sizes = [path.stat().st_size for path in ledger.paths(kind)]
        self._starts = [0, *accumulate(sizes)]
        self.size = self._starts[-1]

    def cuts(self, hashes: list[str]) -> list[int]:
        """Return where all begins, where the first line at or after each hash does (they ascend), and where it ends."""
        places = [0, *map(self._seek, hashes), self.size]
        return list(accumulate(places, max))  # ascending even if a file is not sorted

    def bounds(self, sha256: str) -> tuple[int, int]:
        """Return where the lines of one bundle begin and end."""
        start = stop = self._seek(sha256)
        for offset, line in self.lines(start, self.size):
            if line[self._where] != sha256.encode():
                break
            stop = offset + len(line)
        return start, stop

    def lines(self, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that begin between two offsets, each with its own."""
        at = bisect_right(self._starts, start) - 1
        while at < len(self._places) and start < stop:
            with open_regular(self._folder / self._places[at].name) as file:
                file.seek(start - self._starts[at])
                for line in whole_lines(file):
                    yield start, line
                    start += len(line)
                    if start >= stop:
                        return
            at += 1
            start = self._starts[at]

    def place(self, offset: int) -> tuple[str, int]:
        """Return the name of the file that an offset is in, and the number of the line."""
        if not self._places:
            return f"{self._kind}.jsonl", 1
        at = min(bisect_right(self._starts, offset) - 1, len(self._places) - 1)
        before, left = 1, offset - self._starts[at]
        with open_regular(self._folder / self._places[at].name) as file:
            while left and (block := file.read(min(left, 1 << 20))):
                before += block.count(b"\n")
                left -= len(block)
        return self._places[at].name, before

    def _seek(self, sha256: str) -> int:
        """Return the offset of the first line whose hash is not below this one."""
        for at, place in enumerate(self._places):
            if place.prefix.ljust(WHOLE_HASH, "f") >= sha256:
                with open_regular(self._folder / place.name) as file:
                    return self._starts[at] + _seek(file, self._where, sha256.encode())
        return self.size


def _seek(file: BinaryIO, where: slice, wanted: bytes) -> int:
    """Return the place of the first line of a sorted file whose hash is not below the wanted one."""
    low, high = 0, os.fstat(file.fileno()).st_size
    while low < high:
        middle = (low + high) // 2
        file.seek(middle)
        lines = whole_lines(file)
        if middle:
            next(lines, b"")
        line = next(lines, b"")
        if line and line[where] < wanted:
            low = middle + 1
        else:
            high = middle
    file.seek(low)
    if low:
        next(whole_lines(file), b"")
    return file.tell()
