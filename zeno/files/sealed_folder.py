"""A directory of a repository's own files. Nothing in it is opened through a link, so that nothing leads out of it."""

import errno
import os
import stat
from collections.abc import Callable
from typing import Self, TypeVar

from zeno.files.batch_open import LISTING, READING
from zeno.files.location import DESCRIPTORS, DIRECTORY, Location

T = TypeVar("T")

_ABSENT = {errno.ENOENT, errno.ENAMETOOLONG}


class LeadsAway(Exception):
    """A link, or something that is neither file nor directory, where a repository has a file or a directory."""


class SealedFolder:
    """A directory that is held open. Paths are relative, in bytes, without `..`."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._location = Location(descriptor)

    def close(self) -> None:
        os.close(self.descriptor)

    @classmethod
    def at(cls, path: bytes) -> Self:
        """Open a directory by its path, which the user of this process gave. Raises OSError."""
        return cls(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    @property
    def path(self) -> bytes:
        """Its path now. Linux only; raises OSError elsewhere."""
        return os.readlink(DESCRIPTORS % self.descriptor)

    def status(self, path: bytes) -> os.stat_result | None:
        """Return the status of what is at a path, of a link itself; None if nothing is there. Raises LeadsAway."""
        return self._at(path, lambda parent, name: os.stat(name or b".", dir_fd=parent, follow_symlinks=False))

    def _at(self, path: bytes, look: Callable[[int, bytes], T]) -> T | None:
        """Return what `look` finds in the directory above a path; None if nothing is there. Raises LeadsAway."""
        folder, _, name = path.rpartition(b"/")
        try:
            parent = self._location.open_directory(folder, DIRECTORY)
            try:
                return look(parent, name)
            finally:
                os.close(parent)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise LeadsAway(os.fsdecode(path)) from None

    def below(self, path: bytes) -> "SealedFolder | None":
        """Open a directory below this one; None if nothing is there. Raises LeadsAway."""
        try:
            return SealedFolder(self._location.open_directory(path, LISTING))
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise LeadsAway(os.fsdecode(path)) from None

    def names(self, path: bytes) -> list[bytes]:
        """Return the names in a directory, sorted; none if there is no such directory. Raises LeadsAway."""
        folder = self.below(path)
        if folder is None:
            return []
        try:
            with os.scandir(folder.descriptor) as entries:
                return sorted(os.fsencode(entry.name) for entry in entries)
        except OSError:
            raise LeadsAway(os.fsdecode(path)) from None
        finally:
            folder.close()

    def open(self, path: bytes) -> int | None:
        """Return a descriptor of a regular file, to be closed by the caller; None if nothing is there.

        Raises LeadsAway, also for a file that may not be read.
        """
        status = self.status(path)
        if status is None or stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            raise LeadsAway(os.fsdecode(path))
        descriptor = self._at(path, lambda parent, name: os.open(name, READING, dir_fd=parent))
        if descriptor is None:
            return None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise LeadsAway(os.fsdecode(path))
        return descriptor

    def read(self, path: bytes, limit: int) -> bytes | None:
        """Return the bytes of a regular file, `limit` of them at most; None if nothing is there. Raises LeadsAway.

        Bytes count only if the file was at its path after they were read.
        """
        descriptor = self.open(path)
        if descriptor is None:
            return None
        try:
            # Python makes room for as many bytes as it is asked for.
            limit = min(limit, os.fstat(descriptor).st_size)
            data = os.pread(descriptor, limit, 0)
            while 0 < len(data) < limit and (more := os.pread(descriptor, limit - len(data), len(data))):
                data += more
            if not self._location.has(descriptor, path):
                raise LeadsAway(os.fsdecode(path))
            return data
        except OSError:
            raise LeadsAway(os.fsdecode(path)) from None
        finally:
            os.close(descriptor)
