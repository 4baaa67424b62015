"""Checks that an open file or directory can still be found at its path below the root.

A descriptor stays open when its file, or a directory above it, is moved out of the root. Text written there afterwards
could then be read through it. Zeno therefore gives this guarantee:

    Bytes, names, sizes and link targets are delivered only if the file or directory they were read from was still
    beneath the root after they were read, by directories alone and not by a symbolic link: a file at its very path, a
    directory as deep as its path says. Bytes, moreover, only if the file was not written since, or no name in any
    directory on its path came or went meanwhile: so it was not outside, and back again, in between.

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

import os

# O_PATH opens a directory that may be searched but not listed; systems without it need the right to list.
DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

DESCRIPTORS = b"/proc/self/fd/%d"
"""A link by which Linux gives the path of an open file."""

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
        """Whether the root is `steps` levels above an open directory now. One system call.

        False also if the system cannot tell, because the directory may not be searched or is too deep.
        """
        if not steps:
            return True
        try:
            above = os.stat(b"../" * steps, dir_fd=directory)
        except OSError:
            return False
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


def unchanged(before: os.stat_result, now: os.stat_result) -> bool:
    """Whether the content of an open file is unchanged. Removing a hard link to it is no change of content."""
    if now.st_ctime_ns == before.st_ctime_ns:
        return True
    lost_a_name = now.st_nlink < before.st_nlink
    return lost_a_name and (now.st_mtime_ns, now.st_size) == (before.st_mtime_ns, before.st_size)
