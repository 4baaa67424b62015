"""The files into which one bucket's lines are written."""

from pathlib import Path
from typing import BinaryIO

from normalizer.ledger.line_format import FILES

_BUFFER = 1 << 18
"""Bytes of lines that are written at once."""


class PartFiles:
    """One file for each kind of line, created with its first line."""

    def __init__(self, folder: Path, bucket: str) -> None:
        self._folder, self._bucket = folder, bucket
        self._files: dict[str, BinaryIO] = {}

    def write(self, kind: str, text: str) -> None:
        """Add lines; they are ASCII."""
        if not text:
            return
        file = self._files.get(kind)
        if file is None:
            file = self._files[kind] = (self._folder / f"{self._bucket}.{kind}").open("wb", buffering=_BUFFER)
        file.write(text.encode("ascii"))

    def mark(self) -> dict[str, int]:
        """Return the length of each file."""
        return {kind: file.tell() for kind, file in self._files.items()}

    def reset(self, mark: dict[str, int]) -> None:
        """Cut the files back to these lengths."""
        for kind, file in self._files.items():
            file.seek(mark.get(kind, 0))
            file.truncate()

    def write_all(self, lines: tuple[str, ...]) -> None:
        """Add the lines of every kind, in the order of the ledger's files."""
        for kind, text in zip(FILES, lines, strict=True):
            self.write(kind, text)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
