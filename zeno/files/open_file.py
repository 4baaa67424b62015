"""One open file: its content in pieces, from either end. Who opened it, and whether one may, is for `tree` to say."""

import os
from collections.abc import Iterator
from typing import Self

from zeno.errors import NotAFile, PermissionDenied
from zeno.files.batch_open import CHUNK
from zeno.text.file_lines import is_binary


class File:
    """An open regular file. What is appended after it was opened is not read: a growing log has an end all the same."""

    def __init__(self, path: str, descriptor: int, size: int) -> None:
        self.path = path
        self.size = size
        self.bytes_read = 0
        self._descriptor = descriptor
        self._head: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    @property
    def is_binary(self) -> bool:
        """Whether the file is binary; only its first piece is read."""
        return is_binary(self._start())

    def require_text(self) -> None:
        """Refuse a binary file."""
        if self.is_binary:
            raise NotAFile(self.path, "a binary file")

    def chunks(self) -> Iterator[bytes]:
        """The content from its start, in pieces."""
        offset = 0
        chunk = self._start()
        while chunk:
            yield chunk
            offset += len(chunk)
            chunk = self._read(offset, min(CHUNK, self.size - offset)) if offset < self.size else b""

    def read(self) -> bytes:
        """The whole content."""
        return b"".join(self.chunks())

    def chunks_backwards(self, end: int) -> Iterator[bytes]:
        """The content before offset `end` in pieces, the last one first."""
        while end > 0:
            start = max(0, end - CHUNK)
            yield self._read(start, end - start)
            end = start

    def _start(self) -> bytes:
        if self._head is None:
            self._head = self._read(0, min(CHUNK, self.size))
        return self._head

    def _read(self, offset: int, size: int) -> bytes:
        try:
            data = os.pread(self._descriptor, size, offset)
        except OSError as error:
            raise PermissionDenied(self.path, os.strerror(error.errno or 0)) from None
        self.bytes_read += len(data)
        return data
