"""Many paths: what stands in a directory, and a way to open one file after the other that keeps the way down open.

Every step is opened without following links, so that nothing here leads out of the root either.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from zeno.text.file_lines import BINARY_WINDOW, is_binary

CHUNK = 1 << 18

# O_PATH opens a directory that may be searched but not listed; systems without it need the right to list.
DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a FIFO that took a file's place would stop the server.
READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

FILE, FOLDER, LINK, OTHER = "file", "folder", "link", "other"


def scan(directory: int) -> Iterator[tuple[str, str, int]]:
    """Name, kind and inode of everything in an open directory, in no order.

    Names come as the system decodes them, bytes that are not UTF-8 as lone surrogates; to open, give them back so.
    OSError also where it may be listed but not entered: then nobody knows whether what is not listed is there.
    """
    os.stat(b".", dir_fd=directory)
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield entry.name, FILE, entry.inode()
            elif entry.is_dir(follow_symlinks=False):
                yield entry.name, FOLDER, entry.inode()
            else:
                yield entry.name, LINK if entry.is_symlink() else OTHER, entry.inode()


Content = tuple[int, bytes, bool]
"""The size of a regular file, its bytes, and whether it is binary. Of one larger than was asked for there are no bytes,
of a binary one only the first. A plain tuple: a search makes thousands."""


class NoBytes(IntEnum):
    """Why `Descent.fill` gives no bytes of a file. Below zero, so that it fits where a size would stand."""

    BINARY = -1
    LARGE = -2
    UNREADABLE = -3
    UNUSUAL = -4
    """`Descent.read` has to be asked."""


# Looked up once: every file of a search may be answered with one of these.
BINARY, LARGE, UNREADABLE, UNUSUAL = NoBytes


class Descent:
    """Opens files by paths that hold no links, keeping the way down to the last one open.

    Every step is opened without following links, as in `Tree.open`; where a step is not what it was in the listing, the
    file is not opened, and `Tree.open` tells why.
    """

    def __init__(self, root: int, concealed: tuple[int, int] | None) -> None:
        self._root = root
        self._concealed = concealed
        self._names: list[bytes] = []
        self._descriptors: list[int] = []
        self._folder = b""

    def close(self) -> None:
        """Let go of the way down."""
        while self._descriptors:
            os.close(self._descriptors.pop())
        self._names.clear()
        self._folder = b""

    def folder(self, path: bytes) -> int:
        """A descriptor of a directory by its path from the root, `b""` for the root; it stays the descent's own."""
        if path != self._folder or not self._descriptors:
            names = path.split(b"/") if path else []
            common = 0
            for name, held in zip(names, self._names, strict=False):
                if name != held:
                    break
                common += 1
            if not self._descriptors:
                self._descriptors.append(os.open(b".", LISTING, dir_fd=self._root))
            while len(self._names) > common:
                self._names.pop()
                os.close(self._descriptors.pop())
            for name in names[common:]:
                # Said before each step: the next may fail, and the way down then ends here.
                self._folder = b"/".join(self._names)
                self._descriptors.append(os.open(name, LISTING, dir_fd=self._descriptors[-1]))
                self._names.append(name)
            self._folder = path
        return self._descriptors[-1]

    @contextmanager
    def open(self, path: bytes) -> Iterator[int | None]:
        """A descriptor of a regular file; None where there is no such file now, or none that may be read."""
        descriptor = self._open(path)
        try:
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def read(self, path: bytes, limit: int, *, whole: bool = True) -> Content | None:
        """What is in a regular file; None where there is no such file now, or none that may be read."""
        descriptor = self._opened(path)
        if descriptor is None:
            return None
        try:
            return content(descriptor, limit, self._concealed, whole=whole)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int:
        """Read a regular file, or how it begins, into a buffer: how many bytes, or below zero the reason why none.

        The same as `read` without a new object for every file; what it cannot do is `UNUSUAL`.
        """
        descriptor = self._opened(path)
        if descriptor is None:
            return UNREADABLE
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) == self._concealed:
                return UNREADABLE
            size = status.st_size
            if size > limit:
                return LARGE
            room = len(buffer)
            if size > room:
                if whole:
                    return UNUSUAL
                size = room
            # What has another length than it says, or comes in pieces, takes longer.
            if os.readv(descriptor, (buffer,)) != size:
                return UNUSUAL
            return BINARY if buffer.find(b"\0", 0, min(size, BINARY_WINDOW)) >= 0 else size
        except OSError:
            return UNREADABLE
        finally:
            os.close(descriptor)

    def _open(self, path: bytes) -> int | None:
        descriptor = self._opened(path)
        if descriptor is not None and self._concealed is not None:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) == self._concealed:
                os.close(descriptor)
                return None
        return descriptor

    def _opened(self, path: bytes) -> int | None:
        """A descriptor of whatever is there, the concealed file too."""
        folder, _, name = path.rpartition(b"/")
        try:
            if folder != self._folder or not self._descriptors:
                self.folder(folder)
            return os.open(name, READING, dir_fd=self._descriptors[-1])
        except OSError:
            return None


def content(
    descriptor: int, limit: int, concealed: tuple[int, int] | None = None, *, whole: bool = True
) -> Content | None:
    """What is in an open file, or only how it begins; None for what is no regular file, or the concealed one."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or (concealed and (status.st_dev, status.st_ino) == concealed):
        return None
    size = status.st_size
    if size > limit:
        return size, b"", False
    data = os.pread(descriptor, min(size, CHUNK if whole else BINARY_WINDOW), 0)
    if is_binary(data):
        return size, data, True
    while whole and len(data) < size and (more := os.pread(descriptor, size - len(data), len(data))):
        data += more
    return size, data, False
