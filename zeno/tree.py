"""The root: find and read. Only this module, `walk` and `descent` open what is under it, and nothing else.

A path is followed one component at a time from the descriptor of the root, each opened without following links; links
are read and followed by hand. So what was checked is what is opened, however fast someone swaps directories and links.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from zeno.descent import READING, Descent
from zeno.errors import NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.file import File
from zeno.names import printed, raw

if TYPE_CHECKING:
    from zeno.beneath import Opener

MAX_LINKS = 40
# A step that changed between its check and its opening is tried again, but not for ever.
MAX_RETRIES = 64

# O_PATH opens a directory that may be searched but not listed; systems without it need the right to list.
DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}


class _Changed(Exception):
    """What stood at a path was replaced while it was being opened."""


class Place(NamedTuple):
    """What a path leads to."""

    path: str
    """Relative to the root with links resolved; the root is `.`."""
    status: os.stat_result | None
    """What the system says of it; None where nothing is."""


class Tree:
    """A directory, opened once: if its path is given to another directory later, the opened one is still served."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        status = os.fstat(self._root)
        self._identity = (status.st_dev, status.st_ino)
        real = os.fsencode(os.path.realpath(root))
        given = os.fsencode(os.path.abspath(root))
        # The short form of `link/..` is the name of another directory.
        self._prefixes = sorted({given, real}) if os.path.realpath(given) == real else [real]
        self._concealed: tuple[int, int] | None = None
        self._glance: Opener | None = None
        self._grasp: Opener | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the root."""
        os.close(self._root)

    def conceal(self, descriptor: int) -> None:
        """Treat the file behind this descriptor as if it were not there, whatever its name: the server's own log."""
        status = os.fstat(descriptor)
        self._concealed = (status.st_dev, status.st_ino)

    @property
    def descriptor(self) -> int:
        """The root itself, for the walk."""
        return self._root

    @property
    def concealed_inode(self) -> int | None:
        """The number of the concealed file, if there is one. Another file may have it too; `place` knows."""
        return self._concealed[1] if self._concealed else None

    def quicken(self) -> None:
        """Make single paths cheaper, where the system can: at the price of loading what that needs."""
        if hasattr(os, "O_PATH"):
            from zeno.beneath import opener

            self._glance = opener(os.O_PATH | os.O_NOFOLLOW)
            self._grasp = opener(READING)

    def current_path(self) -> bytes:
        """Where the root is now, as Linux tells it."""
        return os.readlink(b"/proc/self/fd/%d" % self._root)

    # One path

    def place(self, path: str, field: str = "path") -> Place:
        """What is at a path. Nothing at all is an answer; a path outside the root is refused."""
        status = self._at_a_glance(path, field)
        if status is not None:
            return Place(path, status)
        with self._followed(path, field) as found:
            return Place(found.path, found.status)

    def open(self, path: str, field: str = "path") -> File:
        """Open a regular file; anything else is refused with the reason."""
        file = self._at_once(path, field)
        if file is not None:
            return file
        for _ in range(MAX_RETRIES):
            try:
                return self._opened(path, field)
            except _Changed:
                continue
        raise NotFound(path, "it keeps changing while it is being opened")

    def _at_a_glance(self, path: str, field: str) -> os.stat_result | None:
        """What the system says of a plain path that holds no links; None where one has to look closer."""
        if self._glance is None or not _is_plain(path):
            return None
        descriptor = self._glance(self._root, raw(path, field))
        if descriptor < 0:
            return None
        status = os.fstat(descriptor)
        os.close(descriptor)
        if stat.S_ISLNK(status.st_mode) or (self._concealed and (status.st_dev, status.st_ino) == self._concealed):
            return None
        return status

    def _at_once(self, path: str, field: str) -> File | None:
        """A regular file by a plain path that holds no links; None where one has to look closer."""
        status = self._at_a_glance(path, field)
        # Looked at before it is opened: to open a device can do something.
        if status is None or self._grasp is None or not stat.S_ISREG(status.st_mode):
            return None
        descriptor = self._grasp(self._root, raw(path, field))
        return None if descriptor < 0 else self._regular(path, descriptor)

    def _regular(self, path: str, descriptor: int) -> File | None:
        """What was opened, if it is a regular file that may be read; else it is closed."""
        now = os.fstat(descriptor)
        if not stat.S_ISREG(now.st_mode) or (self._concealed and (now.st_dev, now.st_ino) == self._concealed):
            os.close(descriptor)
            return None
        return File(path, descriptor, now.st_size)

    def _opened(self, path: str, field: str) -> File:
        with self._followed(path, field) as found:
            if found.status is None:
                raise NotFound(path)
            if not stat.S_ISREG(found.status.st_mode):
                raise NotAFile(path, _kind(found.status.st_mode))
            try:
                descriptor = os.open(found.name, READING, dir_fd=found.parent)
            except OSError as error:
                if error.errno in NOWHERE:
                    raise _Changed from error
                raise PermissionDenied(path, os.strerror(error.errno or 0)) from None
        file = self._regular(found.path, descriptor)
        if file is None:
            raise _Changed
        return file

    def inside(self, path: bytes) -> list[bytes] | None:
        """The components of an absolute path below the root, or None when it does not lead under the root.

        The root's own name counts even after the directory was moved; any other way in is followed step by step until
        it meets the root.
        """
        below = self._by_name(path)
        return self._way_in(path) if below is None else below

    def _by_name(self, path: bytes) -> list[bytes] | None:
        """The same where the path begins with the root's own name, wherever that leads by now."""
        for prefix in self._prefixes:
            if path == prefix or path.startswith(prefix.rstrip(b"/") + b"/"):
                return path[len(prefix) :].split(b"/")
        return None

    def _way_in(self, path: bytes) -> list[bytes] | None:
        # A step back outside the root would tell whether what stands before it exists: only links may have them.
        todo = deque((name, False) for name in path.split(b"/"))
        links = 0
        with ExitStack() as stack:
            ancestors = [stack.enter_context(_descriptor(os.open(b"/", DIRECTORY)))]
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
                        ancestors.append(stack.enter_context(_descriptor(below)))
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

    @contextmanager
    def _followed(self, path: str, field: str, links: list[bytes] | None = None) -> Iterator["_Found"]:
        """Follow a path to its end, or to where nothing is; `links` then holds what the links on the way say."""
        with ExitStack() as stack:
            yield self._follow(path, raw(path, field), stack, [] if links is None else links)

    def _follow(self, path: str, target: bytes, stack: ExitStack, links: list[bytes]) -> "_Found":
        names: list[bytes] = []
        directories = [self._root]
        todo = deque(self._components(path, target))
        retries = 0
        while todo:
            name = todo.popleft()
            if name in (b"", b"."):
                continue
            if name == b"..":
                if not names:
                    raise OutsideRoot(path)
                names.pop()
                directories.pop()
                continue
            parent = directories[-1]
            try:
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    link = os.readlink(name, dir_fd=parent)
                    links.append(link)
                    if len(links) > MAX_LINKS:
                        return self._missing(path, names, name, todo)
                    if link.startswith(b"/"):
                        names.clear()
                        directories = [self._root]
                    todo.extendleft(reversed(self._components(path, link)))
                elif stat.S_ISDIR(status.st_mode):
                    directory = os.open(name, DIRECTORY, dir_fd=parent)
                    stack.callback(os.close, directory)
                    names.append(name)
                    directories.append(directory)
                elif todo or (status.st_dev, status.st_ino) == self._concealed:
                    return self._missing(path, names, name, todo)
                else:
                    return _Found(_join([*names, name]), parent, name, status)
            except OSError as error:
                retries += 1
                # A link or a file stands where a directory stood a moment ago: look again.
                if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EINVAL) and retries < MAX_RETRIES:
                    todo.appendleft(name)
                elif error.errno in NOWHERE:
                    return self._missing(path, names, name, todo)
                else:
                    self._missing(path, names, name, todo)  # a step that would leave the root is outside here too
                    raise PermissionDenied(path, os.strerror(error.errno or 0)) from None
        return _Found(_join(names), directories[-1], b".", os.fstat(directories[-1]))

    def _components(self, path: str, target: bytes) -> list[bytes]:
        if not target.startswith(b"/"):
            return target.split(b"/")
        below = self.inside(target)
        if below is None:
            raise OutsideRoot(path)
        return below

    def _missing(self, path: str, names: list[bytes], name: bytes, todo: deque[bytes]) -> "_Found":
        """Nothing is there. The steps not taken still count: one that would leave the root is outside."""
        depth = len(names) + 1
        for step in todo:
            depth += {b"": 0, b".": 0, b"..": -1}.get(step, 1)
            if depth < 0:
                raise OutsideRoot(path)
        return _Found(_join([*names, name, *(step for step in todo if step not in (b"", b"."))]), -1, name, None)

    # Many paths

    @contextmanager
    def descent(self) -> Iterator[Descent]:
        """A way to open many files, cheapest in the order of their paths."""
        descent = Descent(self._root, self._concealed)
        try:
            yield descent
        finally:
            descent.close()

    def is_listed(self, path: str, inode: int) -> bool:
        """Whether a regular file shows up in a listing: the log does not."""
        return inode != self.concealed_inode or self.place(path).status is not None

    def leads(self, path: str) -> tuple[bool, bool]:
        """Whether a link leads to a regular file inside; whether that may change though nothing under the root does."""
        links: list[bytes] = []
        try:
            with self._followed(path, "path", links) as found:
                regular = found.status is not None and stat.S_ISREG(found.status.st_mode)
        except (OutsideRoot, PermissionDenied):
            regular = False
        return regular, any(link.startswith(b"/") and self._by_name(link) is None for link in links)


def _is_plain(path: str) -> bool:
    """Whether a path is relative and written the way results print it."""
    if "/." not in path and "//" not in path and not path.startswith((".", "/")) and not path.endswith("/"):
        return True
    steps = path.split("/")
    return "" not in steps and "." not in steps and ".." not in steps


class _Found(NamedTuple):
    path: str
    parent: int
    name: bytes
    status: os.stat_result | None


@contextmanager
def _descriptor(number: int) -> Iterator[int]:
    try:
        yield number
    finally:
        os.close(number)


def _link(name: bytes, directory: int) -> bytes | None:
    """Where a link leads, or None for what is no link."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _join(names: list[bytes]) -> str:
    return printed(b"/".join(names)) if names else "."


def _kind(mode: int) -> str:
    for test, name in (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    ):
        if test(mode):
            return name
    return "something else"
