"""Map absolute paths to components below the root.

This is the only module that looks at anything outside the root: at the directories and links that a path goes
through before it reaches the root.
"""

import errno
import os
from collections import deque
from contextlib import ExitStack

from zeno.files.location import DIRECTORY

MAX_LINKS = 40


class AbsolutePaths:
    """Maps absolute paths to an open root, by its given name, its real name, or any other path that leads there."""

    def __init__(self, root: int, name: str) -> None:
        status = os.fstat(root)
        self._identity = (status.st_dev, status.st_ino)
        real = os.fsencode(os.path.realpath(name))
        given = os.fsencode(os.path.abspath(name))
        # The short form of `link/..` is the name of another directory.
        self._prefixes = sorted({given, real}) if os.path.realpath(given) == real else [real]

    def below(self, path: bytes) -> list[bytes] | None:
        """Return the components of an absolute path below the root, or None if it does not lead under the root.

        A path that begins with the root's name counts even after the root was moved. Any other path is followed
        component by component until it reaches the root.
        """
        below = self.by_name(path)
        return self._follow(path) if below is None else below

    def by_name(self, path: bytes) -> list[bytes] | None:
        """Return the components below the root if the path begins with the root's name, or None. No file is read."""
        for prefix in self._prefixes:
            if path == prefix or path.startswith(prefix.rstrip(b"/") + b"/"):
                return path[len(prefix) :].split(b"/")
        return None

    def is_below(self, path: bytes) -> bool:
        """Whether the root's name begins with an absolute path. No file is read."""
        return any(prefix.startswith(path.rstrip(b"/") + b"/") for prefix in self._prefixes)

    def _follow(self, path: bytes) -> list[bytes] | None:
        # `..` outside the root would reveal whether the directory before it exists, so only links may contain it.
        todo = deque((name, False) for name in path.split(b"/"))
        links = 0
        with ExitStack() as stack:
            ancestors = [os.open(b"/", DIRECTORY)]
            stack.callback(os.close, ancestors[-1])
            while not self._is_root(ancestors[-1]):
                if not todo:
                    return None
                name, from_link = todo.popleft()
                if name in (b"", b"."):
                    continue
                if name == b"..":
                    if not from_link:
                        return None
                    ancestors = ancestors[:-1] or ancestors
                    continue
                try:
                    target = _link(name, ancestors[-1])
                    if target is None:
                        below = os.open(name, DIRECTORY, dir_fd=ancestors[-1])
                        stack.callback(os.close, below)
                        ancestors.append(below)
                        continue
                except OSError:
                    return None
                links += 1
                if links > MAX_LINKS:
                    return None
                todo.extendleft((step, True) for step in reversed(target.split(b"/")))
                if target.startswith(b"/"):
                    ancestors = ancestors[:1]
        return [name for name, _ in todo]

    def _is_root(self, directory: int) -> bool:
        status = os.fstat(directory)
        return (status.st_dev, status.st_ino) == self._identity


def _link(name: bytes, directory: int) -> bytes | None:
    """Return the target of a link, or None if it is no link."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise
