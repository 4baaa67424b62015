"""A large file that tells how many of its bytes are read."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

ProgressCallback = Callable[[str, int, int], None]
"""Told how many of how many things of a kind are done."""
LARGE = 1 << 24
"""Bytes of a file from which on it is told how many of them are read."""
_BLOCK = 1 << 20


def open_watched(path: Path, size: int, progress: ProgressCallback | None) -> BinaryIO:
    """Open a file for reading; if it is large, `progress` is told how many of its bytes are read."""
    if progress is None or size < LARGE:
        return path.open("rb")
    return io.BufferedReader(_WatchedFile(path, size, progress), _BLOCK)


class _WatchedFile(io.FileIO):
    def __init__(self, path: Path, size: int, progress: ProgressCallback) -> None:
        super().__init__(path)
        self._size, self._progress = size, progress

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        self._progress("bytes normalized", self.tell(), self._size)
        return count
