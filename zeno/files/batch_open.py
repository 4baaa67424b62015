"""List directories and open many files one after the other, keeping the directories of the last path open.

Every component is opened without following links, so no path leads out of the root.
"""

import os
import stat
from collections.abc import Iterator
from enum import IntEnum

from zeno.files.location import Location, unchanged
from zeno.text.file_lines import BINARY_WINDOW, is_binary

CHUNK = 1 << 18

LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO that replaced a file must not block.
READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

FILE, FOLDER, LINK, OTHER = "file", "folder", "link", "other"


def scan(directory: int) -> Iterator[tuple[str, str, int]]:
    """Yield name, kind and inode of every entry of an open directory, in no order.

    Names are decoded as `os.scandir` does, with surrogates for bytes that are not UTF-8; pass them on unchanged to
    open them. Raises OSError, also for a directory that may be listed but not searched.
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
"""Size, bytes and "is binary" of a regular file. A file over the limit has no bytes here, a binary one only its first.
A plain tuple for speed: a search makes thousands."""


class NoBytes(IntEnum):
    """Reasons why `Descent.fill` read no bytes. Negative, because it returns them in place of a size."""

    BINARY = -1
    LARGE = -2
    UNREADABLE = -3
    UNUSUAL = -4
    """Use `Descent.read` for this file."""


# Module globals, because enum lookups are slow and a search needs one per file.
BINARY, LARGE, UNREADABLE, UNUSUAL = NoBytes


class Descent:
    """Opens files by paths without links, keeping the directories of the last path open.

    Every component is opened without following links, as in `Tree.open`. If a component is no longer what the listing
    said, the file is not opened; `Tree.open` gives the reason.

    A directory may be moved out of the root while it is held open. So content that was read here must not be delivered
    or cached before `is_in_place` or `folder_is_in_place` has returned True.
    """

    def __init__(self, location: Location, concealed: tuple[int, int] | None) -> None:
        self._location = location
        self._concealed = concealed
        self._file = -1
        """The file opened last, kept open so that its location can be checked."""
        self._path = b""
        self._status: os.stat_result | None = None
        """Its status before it was read."""
        self._used = False
        """Whether files were opened in this folder."""
        self.doubtful = 0
        """Number of folders that were found moved after files in them had been opened; complete after `close`."""
        self._names: list[bytes] = []
        self._descriptors: list[int] = []
        self._folder = b""

    def close(self) -> None:
        """Close the file opened last and all directories."""
        self._leave()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        while self._descriptors:
            os.close(self._descriptors.pop())
        self._names.clear()
        self._folder = b""

    def folder(self, path: bytes) -> int:
        """Return a descriptor of a directory, `b""` for the root. The descent closes it. Raises OSError."""
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
                # Set before each step: if the next one fails, this is the directory that is open.
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

        If not, everything is closed, and the caller has to use `Tree.open`.
        """
        if self._file < 0 or self._status is None:
            return False
        try:
            name = self._path.rpartition(b"/")[2]
            there = os.stat(name, dir_fd=self._descriptors[-1], follow_symlinks=False)
            in_place = os.path.samestat(there, self._status) and self.folder_is_in_place()
        except OSError:
            in_place = False
        # It may have been removed or replaced at its path, which passes. The change time is compared last.
        if (in_place or self._location.has(self._file, self._path)) and unchanged(self._status, os.fstat(self._file)):
            return True
        self.close()
        return False

    def open(self, path: bytes) -> int | None:
        """Open a file and return its descriptor, valid until the next call; None if there is none that may be read."""
        descriptor = self._opened(path)
        if descriptor is not None:
            self._status = status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) == self._concealed:
                return None
        return descriptor

    def read(self, path: bytes, limit: int, *, whole: bool = True) -> Content | None:
        """Return the content of a regular file; None if there is none that may be read."""
        descriptor = self._opened(path)
        if descriptor is None:
            return None
        try:
            self._status = os.fstat(descriptor)
            return content(descriptor, limit, self._concealed, whole=whole)
        except OSError:
            return None

    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int:
        """Read a regular file, or with `whole` false its beginning, into a buffer.

        Return the number of bytes or a `NoBytes`. Faster than `read`, since it makes no object per file; for a file
        that it cannot handle it returns `UNUSUAL`.
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
            # A file of another length than its status says, or a short read, is left to `read`.
            if os.readv(descriptor, (buffer,)) != size:
                return UNUSUAL
            return BINARY if buffer.find(b"\0", 0, min(size, BINARY_WINDOW)) >= 0 else size
        except OSError:
            return UNREADABLE

    def _opened(self, path: bytes) -> int | None:
        """Open whatever is at a path, even the concealed file. The descriptor is valid until the next call."""
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
        """Check the folder's location, for all files in it that were not checked one by one."""
        if self._used and not self.folder_is_in_place():
            self.doubtful += 1
        self._used = False


def content(
    descriptor: int, limit: int, concealed: tuple[int, int] | None = None, *, whole: bool = True
) -> Content | None:
    """Return the content of an open file, or only its beginning; None if it is no regular file or the concealed one."""
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
