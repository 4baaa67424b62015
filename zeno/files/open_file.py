"""Files that are read in chunks from either end: open ones, and those whose content is in memory.

`tree` opens files and checks the policy.
"""

import hashlib
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from zeno.errors import NotAFile, NotFound, PermissionDenied, ZenoError
from zeno.files.batch_open import CHUNK, SETTLED, NoBytes, no_text
from zeno.files.location import Location, is_unchanged, stays_during
from zeno.text.file_lines import normal
from zeno.text.path_names import raw


class TextFile(ABC):
    """A file that is read in chunks. Use what was read of it only after its `with` statement."""

    is_normal = False
    """Whether its chunks are in normal form (see `zeno.text.file_lines.normal`), and not as they are on disk."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        """The path as results and errors print it. With several roots it begins with the name of one."""
        self.size = size
        """Bytes of the file on disk, which limits are about."""
        self.bytes_read = 0
        self._length = size
        """Bytes in all chunks."""
        self._head: bytes | None = None

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Close it."""

    @abstractmethod
    def _read(self, offset: int, size: int) -> bytes:
        """Return a part of the content, and count its bytes."""

    @property
    def no_text(self) -> NoBytes | None:
        """Why the file is no text, `BINARY` or `WIDE`; None for text. Reads the first chunk only."""
        return None if self.is_normal else no_text(self._start())

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
            chunk = self._read(offset, min(CHUNK, self._length - offset)) if offset < self._length else b""

    def chunks_backwards(self) -> Iterator[bytes]:
        """Yield the content in chunks, the last one first."""
        for end in range(self._length, 0, -CHUNK):
            start = max(0, end - CHUNK)
            yield self._read(start, end - start)

    def read_text(self) -> bytes:
        """Return the whole content in normal form."""
        content = b"".join(self.chunks())
        return content if self.is_normal else normal(content)

    def _start(self) -> bytes:
        if self._head is None:
            self._head = self._read(0, min(CHUNK, self._length))
        return self._head


class File(TextFile):
    """An open regular file. Bytes appended after it was opened are not read, so a growing log has an end.

    At the end of its `with` statement `NotFound` is raised if the file is no longer at its path below the root or may
    have left it meanwhile: its text may have been written outside.
    """

    def __init__(self, path: str, descriptor: int, status: os.stat_result, location: Location) -> None:
        super().__init__(path, status.st_size)
        self._place = raw(path, "path")
        """The path below the root, in bytes."""
        self._descriptor = descriptor
        self._location = location
        self._status = status
        self._changes = location.changes(self._place)
        self._reads: list[tuple[int, int]] = []
        """Offset and size of each read of a file that changed recently, and may change while it is read."""
        self._digest = hashlib.sha256() if time.time_ns() - status.st_ctime_ns < SETTLED else None
        """The digest of the bytes of all these reads, one after the other; None for files that changed long ago."""

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


class HeldFile(TextFile):
    """A file whose content is in memory."""

    def __init__(self, path: str, content: bytes, size: int | None = None) -> None:
        """Take a content as it is on disk, or one in normal form, with the size that it has there."""
        super().__init__(path, len(content) if size is None else size)
        self.is_normal = size is not None
        self._content = content
        self._length = len(content)

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    def _read(self, offset: int, size: int) -> bytes:
        data = self._content[offset : offset + size]
        self.bytes_read += len(data)
        return data
