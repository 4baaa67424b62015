"""List directories and open many files one after the other, keeping the directories of the last path open.

Every component is opened without following links, so no path leads out of the root.
"""

import errno
import os
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import TypeVar

from zeno.files.location import MAX_LISTED_PATH, MAX_MOVES, HeldDirectories, Location, is_unchanged
from zeno.text.file_lines import BINARY_WINDOW, has_wide_mark, is_binary

T = TypeVar("T")

CHUNK = 1 << 18

LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO that replaced a file must not block.
READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

# Most texts begin with none of these bytes, so one comparison is enough.
_FIRST_OF_MARKS = (b"\xff", b"\xfe", b"\0")

FILE, FOLDER, LINK, OTHER = "file", "folder", "link", "other"


def scan(directory: int) -> Iterator[tuple[str, str, int]]:
    """Yield name, as `os.scandir` decodes it, kind and inode of every entry of an open directory, in no order.

    Raises OSError, also for a directory that may be listed but not searched.
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


Stamp = tuple[int, int, int, int]
"""Device, inode, size and change time of a file. While they stay the same, so does its content, if the change time was
settled when the content was read: see `BatchOpener.stamp`."""

# Nanoseconds after which a change time is settled. Two writes within a tick of the system's clock, or within a second
# on some file systems, have the same change time. Stores through a memory map set it only when they make a page dirty,
# and the kernel writes dirty pages back after 35 seconds at most, by default.
SETTLED = 60 * 10**9

Content = tuple[int, bytes, "NoBytes | None"]
"""Size and bytes of a regular file, or its first bytes and the reason why it is no text: `BINARY` or `WIDE`. A file
over the limit has no bytes here. A plain tuple for speed: a search makes thousands."""


class NoBytes(Enum):
    """Reasons why no text was read of a file."""

    BINARY = "binary"
    LARGE = "larger than was asked for"
    UNREADABLE = "unreadable"
    WIDE = "text in UTF-16 or UTF-32, by its mark"


# Module globals, because enum lookups are slow and a search needs one per file.
BINARY, LARGE, UNREADABLE, WIDE = NoBytes


class BatchReader(ABC):
    """Reads many files of one tree by their paths without links; fastest in the order of these."""

    def find_doubtful(self) -> list[bytes]:
        """Close everything. Return the directories that were found moved after files in them had been read."""
        return []

    def is_in_place(self) -> bool:
        """Whether the file read last is still at its path. By default nothing is ever moved."""
        return True

    @abstractmethod
    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int | bytes | NoBytes:
        """Read a regular file, or with `whole` false its beginning, into a buffer, and return the number of bytes.

        Return the bytes themselves where the buffer is too small, or a `NoBytes` where there is no text.
        """


class BatchOpener(BatchReader):
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
        self._doubtful: list[bytes] = []
        self._held = HeldDirectories(location, LISTING)
        self._directory = -1
        """The descriptor of the current folder."""
        self._root = -1
        """The root opened for listing."""
        self._folder = b""

    def close(self) -> None:
        self._leave()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._held.clear()
        if self._root >= 0:
            os.close(self._root)
        self._root = self._directory = -1
        self._folder = b""

    def find_doubtful(self) -> list[bytes]:
        self.close()
        return self._doubtful

    def folder(self, path: bytes) -> int:
        """Return a descriptor of a directory, `b""` for the root. This object closes it. Raises OSError."""
        if len(path) > MAX_LISTED_PATH:
            raise OSError(errno.ENAMETOOLONG, "a path that is too long to be listed")
        if path != self._folder or self._directory < 0:
            self._leave()
            self._directory = -1
            held, at = self._held, self._folder
            while at and path != at and not path.startswith(at + b"/"):
                held.leave()
                at = self._folder = at.rpartition(b"/")[0]
            for name in path[len(at) :].split(b"/"):
                if name:
                    held.enter(name, os.open(name, LISTING, dir_fd=held.last()))
                    at = self._folder = at + b"/" + name if at else name
            if not path and self._root < 0:
                self._root = os.open(b".", LISTING, dir_fd=self._location.root)
            self._directory = held.last() if path else self._root
        return self._directory

    def list_folder(self, path: bytes, read: Callable[[int], T]) -> T:
        """Return what `read` finds in an open directory, which was still at its path afterwards. Raises OSError."""
        for attempt in range(MAX_MOVES):
            try:
                found = read(self.folder(path))
                if self.folder_is_in_place():
                    return found
            except OSError:
                # A directory above it may have been moved: then it is found from the root.
                if attempt:
                    raise
            self.close()
        raise OSError(errno.ESTALE, "a directory that keeps moving")

    def folder_is_in_place(self) -> bool:
        """Whether the directory opened last is still at its path below the root."""
        if self._directory < 0:
            return False
        above = self._location.is_above(self._directory, len(self._held.names))
        return above or self._location.leads_to(self._directory, self._folder)

    def is_in_place(self) -> bool:
        """Whether the file opened last is still at its path below the root, and was not written since it was opened.

        If not, everything is closed, and the caller has to use `Tree.open`.
        """
        if self._file < 0 or self._status is None:
            return False
        try:
            name = self._path.rpartition(b"/")[2]
            there = os.stat(name, dir_fd=self._directory, follow_symlinks=False)
            in_place = os.path.samestat(there, self._status) and self.folder_is_in_place()
        except OSError:
            in_place = False
        # It may have been removed or replaced at its path, which passes. The change time is compared last.
        in_place = in_place or self._location.has(self._file, self._path)
        if in_place and is_unchanged(self._status, os.fstat(self._file)):
            return True
        self.close()
        return False

    def open(self, path: bytes) -> int | None:
        """Open a file and return its descriptor, valid until the next call; None if there is none that may be read."""
        descriptor = self._open_any(path)
        if descriptor is not None:
            self._status = status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) == self._concealed:
                return None
        return descriptor

    def stamp(self) -> Stamp | None:
        """Return the stamp of the file opened last, as it was before it was read; None if its change is too recent."""
        status = self._status
        if status is None or time.time_ns() - status.st_ctime_ns < SETTLED:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns

    def find_changed(self, stamped: Iterable[tuple[bytes, Stamp]]) -> Iterator[int]:
        """Yield the positions of those files that are not at their paths any more with the stamps they had."""
        status = os.stat
        held, directory = None, -1
        for number, (path, stamp) in enumerate(stamped):
            folder, _, name = path.rpartition(b"/")
            try:
                if folder != held:
                    held, directory = folder, self.folder(folder)
                found = status(name, dir_fd=directory, follow_symlinks=False)
            except OSError:
                held = None
                yield number
                continue
            if (found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns) != stamp:
                yield number

    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int | bytes | NoBytes:
        # No object is made for a file that fits: a search reads thousands.
        descriptor = self._open_any(path)
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
            if size > room and not whole:
                size = room
            # A file may be of another length than its status says, or be read in pieces.
            if size > room or os.readv(descriptor, (buffer,)) != size:
                found = content(descriptor, limit, whole=whole)
                if found is None:
                    return UNREADABLE
                return LARGE if found[0] > limit else found[1] if found[2] is None else found[2]
            if buffer.startswith(_FIRST_OF_MARKS) and has_wide_mark(buffer[: min(size, 4)]):
                return WIDE
            return BINARY if buffer.find(b"\0", 0, min(size, BINARY_WINDOW)) >= 0 else size
        except OSError:
            return UNREADABLE

    def _open_any(self, path: bytes) -> int | None:
        """Open whatever is at a path, even the concealed file. The descriptor is valid until the next call."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        folder, _, name = path.rpartition(b"/")
        try:
            if folder != self._folder or self._directory < 0:
                self.folder(folder)
                self._used = True
            self._file = os.open(name, READING, dir_fd=self._directory)
        except OSError:
            return None
        self._path = path
        return self._file

    def _leave(self) -> None:
        """Check the folder's location, for all files in it that were not checked one by one."""
        if self._used and not self.folder_is_in_place():
            self._doubtful.append(self._folder)
        self._used = False


def content(descriptor: int, limit: int, *, whole: bool = True) -> Content | None:
    """Return the content of an open file, or only its beginning; None if it is no regular file."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return None
    size = status.st_size
    if size > limit:
        return size, b"", None
    data = os.pread(descriptor, min(size, CHUNK if whole else BINARY_WINDOW), 0)
    if (why := no_text(data)) is not None:
        return size, data, why
    while whole and len(data) < size and (more := os.pread(descriptor, size - len(data), len(data))):
        data += more
    return size, data, None


def no_text(head: bytes) -> NoBytes | None:
    """Return why a file that begins with these bytes is not searched; None for text."""
    return WIDE if has_wide_mark(head) else BINARY if is_binary(head) else None
