"""A file whose text is in memory, read like an open one."""

from collections.abc import Iterator
from typing import Self

from zeno.files.batch_open import CHUNK


class HeldFile:
    """The text of a file, in normal form, with the interface of `zeno.files.open_file.File`."""

    no_text = None
    """It is text."""
    is_normal = True

    def __init__(self, path: str, size: int, text: bytes) -> None:
        self.path = path
        """The path as results print it."""
        self.size = size
        """Bytes of the file on disk, which limits are about."""
        self.bytes_read = 0
        self._text = text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    def require_text(self) -> None:
        """It is text."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the text."""
        if self._text:
            self.bytes_read += len(self._text)
            yield self._text

    def chunks_backwards(self) -> Iterator[bytes]:
        """Yield the text in chunks, the last one first."""
        for end in range(len(self._text), 0, -CHUNK):
            start = max(0, end - CHUNK)
            self.bytes_read += end - start
            yield self._text[start:end]

    def read_text(self) -> bytes:
        """Return the whole text in normal form."""
        self.bytes_read += len(self._text)
        return self._text
