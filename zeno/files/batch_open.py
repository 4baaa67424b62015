"""Many paths: what stands in a directory, and a way to open one file after the other that keeps the way down open.

Every step is opened without following links, so that nothing here leads out of the root either.
"""

import os
import stat
from collections.abc import Iterator
from enum import IntEnum

from zeno.files.location import Location, unchanged
from zeno.text.file_lines import BINARY_WINDOW, is_binary

CHUNK = 1 << 18

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

    A directory on the way may be moved out of the root while it is held open. So nothing that was read here may be
    delivered or kept before `is_in_place` or `folder_is_in_place` has said that it was read inside.
    """

    def __init__(self, location: Location, concealed: tuple[int, int] | None) -> None:
        self._location = location
        self._concealed = concealed
        self._file = -1
        """The file opened last, held open so that its place can be checked."""
        self._path = b""
        self._status: os.stat_result | None = None
        """What the system said of it before it was read."""
        self._used = False
        """Whether files were opened in this folder."""
        self.doubtful = 0
        """How many folders were elsewhere after files in them had been opened; right after `close`."""
        self._names: list[bytes] = []
        self._descriptors: list[int] = []
        self._folder = b""

    def close(self) -> None:
        """Let go of the way down and of the file opened last."""
        self._leave()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        while self._descriptors:
            os.close(self._descriptors.pop())
        self._names.clear()
        self._folder = b""

    def folder(self, path: bytes) -> int:
        """A descriptor of a directory by its path from the root, `b""` for the root; it stays the descent's own."""
        if path != self._folder or not self._descriptors:
            self._leave()
            names = path.split(b"/") if path else []
            common = 0
            for name, held in zip(names, self._names, strict=False):
                if name != held:
                    break
                common += 1
            if not self._descriptors:
                self._descriptors.append(os.open(b".", LISTING, dir_fd=self._location.root))
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

    def folder_is_in_place(self) -> bool:
        """Whether the directory opened last is still at its path below the root."""
        if not self._descriptors:
            return False
        directory = self._descriptors[-1]
        return self._location.is_above(directory, len(self._names)) or self._location.leads_to(directory, self._folder)

    def is_in_place(self) -> bool:
        """Whether the file opened last is still at its path below the root, and was not written since it was opened.

        If not, the way down is opened anew, and `Tree.open` has to be asked.
        """
        if self._file < 0 or self._status is None:
            return False
        try:
            name = self._path.rpartition(b"/")[2]
            there = os.stat(name, dir_fd=self._descriptors[-1], follow_symlinks=False)
            in_place = os.path.samestat(there, self._status) and self.folder_is_in_place()
        except OSError:
            in_place = False
        # It may have been removed or replaced in its place, where that can be told. Its time is compared last.
        if (in_place or self._location.has(self._file, self._path)) and unchanged(self._status, os.fstat(self._file)):
            return True
        self.close()
        return False

    def open(self, path: bytes) -> int | None:
        """A descriptor of a regular file, open until the next call; None where there is none that may be read."""
        descriptor = self._opened(path)
        if descriptor is not None:
            self._status = status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) == self._concealed:
                return None
        return descriptor

    def read(self, path: bytes, limit: int, *, whole: bool = True) -> Content | None:
        """What is in a regular file; None where there is no such file now, or none that may be read."""
        descriptor = self._opened(path)
        if descriptor is None:
            return None
        try:
            self._status = os.fstat(descriptor)
            return content(descriptor, limit, self._concealed, whole=whole)
        except OSError:
            return None

    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int:
        """Read a regular file, or how it begins, into a buffer: how many bytes, or below zero the reason why none.

        The same as `read` without a new object for every file; what it cannot do is `UNUSUAL`.
        """
        descriptor = self._opened(path)
        if descriptor is None:
            return UNREADABLE
        try:
            self._status = status = os.fstat(descriptor)
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

    def _opened(self, path: bytes) -> int | None:
        """A descriptor of whatever is there, the concealed file too; it stays open until the next one is opened."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        folder, _, name = path.rpartition(b"/")
        try:
            if folder != self._folder or not self._descriptors:
                self.folder(folder)
                self._used = True
            self._file = os.open(name, READING, dir_fd=self._descriptors[-1])
        except OSError:
            return None
        self._path = path
        return self._file

    def _leave(self) -> None:
        """Check the folder once for all files in it that were not checked one by one."""
        if self._used and not self.folder_is_in_place():
            self.doubtful += 1
        self._used = False


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
