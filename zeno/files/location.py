"""Checks that an open file or directory can still be found at its path below the root.

A descriptor stays open when its file, or a directory above it, is moved out of the root. Text written there afterwards
could then be read through it. Zeno therefore gives this guarantee:

    Bytes, names, sizes and link targets are delivered only if the file or directory they were read from was still
    below the root after they were read, by directories alone and not by a symbolic link: a file at its exact path, a
    directory as deep as its path says. Bytes, moreover, only if the file was not written since, or no name in any
    directory on its path came or went meanwhile, or the same bytes are read again while the kernel reports no move of
    the file or of a directory on its path: so they are not from outside, written before it came back.

So every read is followed by one of these checks, before its result is used or cached. If the check fails, the read is
repeated from the root, or the file counts as gone. A file that was removed or replaced at its path passes: its last
place was inside.

On Linux the check of a file asks the kernel for the path of the descriptor, which the kernel computes in one piece even
while directories are being renamed. The check of a directory compares the directory that is as many levels above it as
its path has components. A search, which holds a directory open, checks that the file is still in it, and then checks
the directory. If a check is impossible or fails, the path is followed again one component at a time without following
links, and the device and inode at its end are compared. Changes are detected by the change time, at the resolution of
the file system.
"""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack

from zeno.options import is_without

# O_PATH opens a directory that may be searched but not listed; systems without it need the right to list.
DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

DESCRIPTORS = b"/proc/self/fd/%d"
"""A link by which Linux gives the path of an open file."""

# A path with this many `../` is short enough for every system.
_STEPS = 1000

_MOVE_SELF = 0x800
"""The event of inotify that says that a watched file or directory was moved."""

MAX_HELD = 16
"""How many directories of one path are held open. A deeper tree takes no more descriptors than that."""

MAX_LISTED_PATH = 1 << 14
"""A directory whose path has more bytes is not listed. The check of a directory takes a step for each level above it,
and every level of a walk holds its path, so time and memory grow with the square of the depth."""

MAX_MOVES = 8
"""How many times a read is repeated because the file or directory was moved meanwhile."""


class Location:
    """Checks whether open files and directories are still at their paths below the root.

    Paths are relative, in bytes, without `..`.
    """

    def __init__(self, root: int) -> None:
        self.root = root
        status = os.fstat(root)
        self._device, self._inode = status.st_dev, status.st_ino

    def has(self, descriptor: int, path: bytes) -> bool:
        """Whether an open file or directory is at this path now, or was until it was removed or replaced there."""
        try:
            found = os.readlink(DESCRIPTORS % descriptor)
            expected = os.readlink(DESCRIPTORS % self.root).rstrip(b"/") + b"/" + path
            if found in (expected, expected + b" (deleted)"):
                return True
        except OSError:
            pass
        return self.leads_to(descriptor, path)

    def changes(self, path: bytes) -> list[tuple[int, int, int]] | None:
        """Return device, inode and change time of the root and of each directory on a path; None if one is missing.

        If two calls return the same, no name was added to or removed from these directories in between.
        """
        names = path.split(b"/")[:-1]
        try:
            found = [os.fstat(self.root)]
            for end in range(1, len(names) + 1):
                found.append(os.stat(b"/".join(names[:end]), dir_fd=self.root, follow_symlinks=False))
        except OSError:
            return None
        return [(status.st_dev, status.st_ino, status.st_ctime_ns) for status in found]

    def is_above(self, directory: int, steps: int) -> bool:
        """Whether the root is `steps` levels above an open directory now. One system call for each 1,000 levels.

        False also if the system cannot tell, because the directory may not be searched.
        """
        if not steps:
            return True
        far = -1
        try:
            while steps > _STEPS:
                higher = os.open(b"../" * _STEPS, DIRECTORY, dir_fd=directory if far < 0 else far)
                if far >= 0:
                    os.close(far)
                far = higher
                steps -= _STEPS
            above = os.stat(b"../" * steps, dir_fd=directory if far < 0 else far)
        except OSError:
            return False
        finally:
            if far >= 0:
                os.close(far)
        return above.st_ino == self._inode and above.st_dev == self._device

    def leads_to(self, descriptor: int, path: bytes) -> bool:
        """Follow a path from the root again, one component at a time, and compare its end with an open file."""
        folder, _, name = path.rpartition(b"/")
        try:
            parent = self.open_directory(folder, DIRECTORY)
            try:
                there = os.stat(name, dir_fd=parent, follow_symlinks=False)
            finally:
                os.close(parent)
            return os.path.samestat(there, os.fstat(descriptor))
        except OSError:
            return False

    def open_directory(self, path: bytes, flags: int) -> int:
        """Open a directory from the root, one component at a time without following links. Raises OSError."""
        steps = path.split(b"/") if path else [b"."]
        held = self.root
        try:
            for index, name in enumerate(steps):
                below = os.open(name, flags if index == len(steps) - 1 else DIRECTORY, dir_fd=held)
                if held != self.root:
                    os.close(held)
                held = below
        except OSError:
            if held != self.root:
                os.close(held)
            raise
        return held


class HeldDirectories:
    """The open directories of one path, from below the root down.

    Of a deep path only the last ones are held open. One that was closed is opened again when it is needed, from the
    directory below it or else from the root, and must still be the same directory.
    """

    def __init__(self, location: Location, flags: int) -> None:
        self._location = location
        self._flags = flags
        self.names: list[bytes] = []
        """The components of the path."""
        self._open: list[int] = []
        """Their descriptors; -1 for one that was closed."""
        self._closed: list[tuple[int, int] | None] = []
        """Device and inode of those that were closed."""

    def last(self) -> int:
        """Return a descriptor of the last directory, the root's if there is none. Raises OSError.

        It stays valid until this directory is left or many are entered below it.
        """
        if not self._open:
            return self._location.root
        if self._open[-1] < 0:
            directory = self._location.open_directory(b"/".join(self.names), self._flags)
            status = os.fstat(directory)
            if (status.st_dev, status.st_ino) != self._closed[-1]:
                os.close(directory)
                raise OSError(errno.ESTALE, "another directory is at this path now")
            self._open[-1] = directory
        return self._open[-1]

    def enter(self, name: bytes, directory: int) -> None:
        """Go down into an open directory, which is closed here from now on."""
        self.names.append(name)
        self._open.append(directory)
        self._closed.append(None)
        above = len(self._open) - MAX_HELD - 1
        if above >= 0 and self._open[above] >= 0:
            status = os.fstat(self._open[above])
            self._closed[above] = (status.st_dev, status.st_ino)
            os.close(self._open[above])
            self._open[above] = -1

    def leave(self) -> None:
        """Go up one level."""
        self.names.pop()
        self._closed.pop()
        directory = self._open.pop()
        if directory < 0:
            return
        try:
            if self._open and self._open[-1] < 0:
                self._open[-1] = self._above(directory)
        finally:
            os.close(directory)

    def _above(self, directory: int) -> int:
        """Open the directory above one that is being left: the last one that is left now. Return -1 if it is not there.

        From the root, each step up would cost as many steps down as the path has components.
        """
        try:
            above = os.open(b"..", self._flags, dir_fd=directory)
        except OSError:
            return -1
        status = os.fstat(above)
        if (status.st_dev, status.st_ino) == self._closed[-1]:
            return above
        os.close(above)
        return -1

    def clear(self) -> None:
        """Go up to the root."""
        for directory in self._open:
            if directory >= 0:
                os.close(directory)
        self._open.clear()
        self._closed.clear()
        self.names.clear()


def is_unchanged(before: os.stat_result, now: os.stat_result) -> bool:
    """Whether the content of an open file is unchanged. Removing a hard link to it is no change of content."""
    if now.st_ctime_ns == before.st_ctime_ns:
        return True
    lost_a_name = now.st_nlink < before.st_nlink
    return lost_a_name and (now.st_mtime_ns, now.st_size) == (before.st_mtime_ns, before.st_size)


def stays_during(read: Callable[[], bool], descriptor: int, path: bytes, location: Location) -> bool:
    """Run `read` and return its verdict if the file stayed at its path below the root meanwhile; otherwise False.

    Change times cannot tell a move from names that come and go in a busy directory, nor from appended lines. So the
    file and every directory on its path are watched: the kernel reports the move of any of them before the call that
    moved it returns. False also where the system cannot tell.
    """
    import ctypes  # rarely needed, and takes long to load

    if not sys.platform.startswith("linux") or is_without("inotify"):
        return False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        queue: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return False
    if queue < 0:
        return False
    with ExitStack() as stack:
        stack.callback(os.close, queue)
        steps = path.split(b"/")
        held = {path: descriptor}
        try:
            for end in range(1, len(steps)):
                above = held.get(b"/".join(steps[: end - 1]), location.root)
                below = os.open(steps[end - 1], DIRECTORY, dir_fd=above)
                stack.callback(os.close, below)
                held[b"/".join(steps[:end])] = below
            for one in held.values():
                if libc.inotify_add_watch(queue, DESCRIPTORS % one, _MOVE_SELF) < 0:
                    return False
            # All of them are in place after they are watched, so that each move from now on is reported.
            return all(location.has(one, place) for place, one in held.items()) and read() and not _has_events(queue)
        except OSError:
            return False


def _has_events(queue: int) -> bool:
    """Whether anything was reported: a move, or that the kernel lost track."""
    try:
        return bool(os.read(queue, 1 << 12))
    except BlockingIOError:
        return False
