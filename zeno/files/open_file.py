"""One open file: its content in pieces, from either end. Who opened it, and whether one may, is for `tree` to say."""

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from zeno.errors import NotAFile, NotFound, PermissionDenied, ZenoError
from zeno.files.batch_open import CHUNK
from zeno.files.location import Location, unchanged
from zeno.text.file_lines import is_binary
from zeno.text.path_names import raw


class File:
    """An open regular file. What is appended after it was opened is not read: a growing log has an end all the same.

    Use it in a `with` statement, and what was read only after that: at its end `NotFound` is raised where the file is
    no longer at its path below the root, or may have left it meanwhile: then the text may have been written outside.
    """

    def __init__(self, path: str, descriptor: int, status: os.stat_result, location: Location) -> None:
        self.path = path
        self.size = status.st_size
        self.bytes_read = 0
        self._descriptor = descriptor
        self._location = location
        self._status = status
        self._changes = location.changes(raw(path, "path"))
        self._head: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            # A refusal tells something of the content too.
            told = error is None or isinstance(error, ZenoError)
            moved = told and not self._stayed()
        finally:
            os.close(self._descriptor)
        if moved:
            raise NotFound(self.path, "it was moved while it was being read") from None

    def _stayed(self) -> bool:
        """Whether the file is at its path, and has not been elsewhere in between as far as that matters."""
        path = raw(self.path, "path")
        return self._location.has(self._descriptor, path) and (
            unchanged(self._status, os.fstat(self._descriptor))
            or (self._changes is not None and self._changes == self._location.changes(path))
        )

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
