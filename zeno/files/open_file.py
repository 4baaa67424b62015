"""An open file, read in chunks from either end, and a text in memory that is read like one.

`tree` opens files and checks the policy.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from zeno.errors import NotAFile, NotFound, PermissionDenied, ZenoError
from zeno.files.batch_open import CHUNK, SETTLED, NoBytes, no_text
from zeno.files.location import Location, is_unchanged, stays_during
from zeno.text.file_lines import normal
from zeno.text.path_names import raw


class File:
    """An open regular file. Bytes appended after it was opened are not read, so a growing log has an end.

    Use it in a `with` statement, and use the content only after that statement. At its end `NotFound` is raised if the
    file is no longer at its path below the root or may have left it meanwhile: its text may have been written outside.
    """

    is_normal = False
    """Its chunks are as they are on disk."""

    def __init__(self, path: str, descriptor: int, status: os.stat_result, location: Location) -> None:
        self.path = path
        """The path as results and errors print it. With several roots it begins with the name of one."""
        self._place = raw(path, "path")
        """The path below the root, in bytes."""
        self.size = status.st_size
        self.bytes_read = 0
        self._descriptor = descriptor
        self._location = location
        self._status = status
        self._changes = location.changes(self._place)
        self._reads: list[tuple[int, int]] = []
        """Offset and size of each read of a file that changed recently, and may change while it is read."""
        self._digest = hashlib.sha256() if time.time_ns() - status.st_ctime_ns < SETTLED else None
        """The digest of the bytes of all these reads, one after the other; None for files that changed long ago."""
        self._head: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            # An error can reveal content too.
            told = error is None or isinstance(error, ZenoError)
            moved = told and not self._has_stayed()
        finally:
            os.close(self._descriptor)
        if moved:
            raise NotFound(self.path, "it was moved while it was being read") from None

    def _has_stayed(self) -> bool:
        """Whether the file is at its path, and nothing that was read of it was written elsewhere."""
        return self._location.has(self._descriptor, self._place) and (
            is_unchanged(self._status, os.fstat(self._descriptor))
            or (self._changes is not None and self._changes == self._location.changes(self._place))
            or self._reads_the_same_in_place()
        )

    def _reads_the_same_in_place(self) -> bool:
        """Whether the file has the bytes that were read while it provably is at its path: a log that only grows has."""
        if self._digest is None:
            return False
        return stays_during(self._reads_the_same, self._descriptor, self._place, self._location)

    def _reads_the_same(self) -> bool:
        again = hashlib.sha256()
        for offset, size in self._reads:
            again.update(os.pread(self._descriptor, size, offset))
        return self._digest is not None and again.digest() == self._digest.digest()

    @property
    def no_text(self) -> NoBytes | None:
        """Why the file is no text, `BINARY` or `WIDE`; None for text. Reads the first chunk only."""
        return no_text(self._start())

    def require_text(self) -> None:
        """Raise NotAFile if the file is binary or in another encoding."""
        why = self.no_text
        if why is not None:
            raise NotAFile(self.path, "a binary file" if why == NoBytes.BINARY else "text in UTF-16 or UTF-32")

    def chunks(self) -> Iterator[bytes]:
        """Yield the content in chunks. Raises PermissionDenied if it cannot be read."""
        offset = 0
        chunk = self._start()
        while chunk:
            yield chunk
            offset += len(chunk)
            chunk = self._read(offset, min(CHUNK, self.size - offset)) if offset < self.size else b""

    def read(self) -> bytes:
        """Return the whole content."""
        return b"".join(self.chunks())

    def read_text(self) -> bytes:
        """Return the whole content in normal form."""
        return normal(self.read())

    def chunks_backwards(self) -> Iterator[bytes]:
        """Yield the content in chunks, the last one first."""
        end = self.size
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
        if self._digest is not None:
            self._reads.append((offset, len(data)))
            self._digest.update(data)
        return data


class HeldFile:
    """The text of a file, in normal form, with the interface of `File`."""

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
