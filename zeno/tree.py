"""The root: find, walk, read. The only module that opens what is under it, and nothing here can open anything else.

A path is followed one component at a time from the descriptor of the root, each opened without following links; links
are read and followed by hand. So what was checked is what is opened, however fast someone swaps directories and links.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from zeno.errors import NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.names import printed, printed_entry, raw
from zeno.text import is_binary

if TYPE_CHECKING:
    from zeno.beneath import Opener

CHUNK = 1 << 18
MAX_LINKS = 40
# A step that changed between its check and its opening is tried again, but not for ever.
MAX_RETRIES = 64

# O_PATH opens a directory that may be searched but not listed; systems without it need the right to list.
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a FIFO that took a file's place would stop the server.
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}


class _Changed(Exception):
    """What stood at a path was replaced while it was being opened."""


class Place(NamedTuple):
    """What a path leads to."""

    path: str
    """Relative to the root with links resolved; the root is `.`."""
    status: os.stat_result | None
    """What the system says of it; None where nothing is."""


class File:
    """An open regular file. What is appended after it was opened is not read: a growing log has an end all the same."""

    def __init__(self, path: str, descriptor: int, size: int) -> None:
        self.path = path
        self.size = size
        self.bytes_read = 0
        self._descriptor = descriptor
        self._head: bytes | None = None

    def close(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)

    @property
    def is_binary(self) -> bool:
        """Whether the file is binary; only its first piece is read."""
        return is_binary(self._start())

    def require_text(self) -> None:
        """Refuse a binary file."""
        if self.is_binary:
            raise NotAFile(self.path, "a binary file")

    def chunks(self) -> Iterator[bytes]:
        """The content from its start, in pieces."""
        offset = 0
        chunk = self._start()
        while chunk:
            yield chunk
            offset += len(chunk)
            chunk = self._read(offset, min(CHUNK, self.size - offset)) if offset < self.size else b""

    def read(self) -> bytes:
        """The whole content."""
        return b"".join(self.chunks())

    def chunks_backwards(self, end: int) -> Iterator[bytes]:
        """The content before offset `end` in pieces, the last one first."""
        while end > 0:
            start = max(0, end - CHUNK)
            yield self._read(start, end - start)
            end = start

    def _start(self) -> bytes:
        if self._head is None:
            self._head = self._read(0, min(CHUNK, self.size))
        return self._head

    def _read(self, offset: int, size: int) -> bytes:
        try:
            data = os.pread(self._descriptor, size, offset)
        except OSError as error:
            raise PermissionDenied(self.path, os.strerror(error.errno or 0)) from None
        self.bytes_read += len(data)
        return data


class Tree:
    """A directory, opened once: if its path is given to another directory later, the opened one is still served."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        status = os.fstat(self._root)
        self._identity = (status.st_dev, status.st_ino)
        given = os.fsencode(os.path.abspath(root))
        self._prefixes = sorted({given, os.path.realpath(given)})
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

    def quicken(self) -> None:
        """Make single paths cheaper, where the system can: at the price of loading what that needs."""
        if hasattr(os, "O_PATH"):
            from zeno.beneath import opener

            self._glance = opener(os.O_PATH | os.O_NOFOLLOW)
            self._grasp = opener(_READING)

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

    @contextmanager
    def open(self, path: str, field: str = "path") -> Iterator[File]:
        """Open a regular file; anything else is refused with the reason."""
        file = self._at_once(path, field)
        if file is not None:
            try:
                yield file
            finally:
                file.close()
            return
        for _ in range(MAX_RETRIES):
            with ExitStack() as stack:
                try:
                    file = stack.enter_context(self._opened(path, field))
                except _Changed:
                    continue
                yield file
                return
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
        if stat.S_ISLNK(status.st_mode) or (status.st_dev, status.st_ino) == self._concealed:
            return None
        return status

    def _at_once(self, path: str, field: str) -> File | None:
        """A regular file by a plain path that holds no links; None where one has to look closer."""
        status = self._at_a_glance(path, field)
        # Looked at before it is opened: to open a device can do something.
        if status is None or self._grasp is None or not stat.S_ISREG(status.st_mode):
            return None
        descriptor = self._grasp(self._root, raw(path, field))
        if descriptor < 0:
            return None
        now = os.fstat(descriptor)
        if not stat.S_ISREG(now.st_mode) or (now.st_dev, now.st_ino) == self._concealed:
            os.close(descriptor)
            return None
        return File(path, descriptor, now.st_size)

    @contextmanager
    def _opened(self, path: str, field: str) -> Iterator[File]:
        with self._followed(path, field) as found:
            if found.status is None:
                raise NotFound(path)
            if not stat.S_ISREG(found.status.st_mode):
                raise NotAFile(path, _kind(found.status.st_mode))
            try:
                descriptor = os.open(found.name, _READING, dir_fd=found.parent)
            except OSError as error:
                if error.errno in _NOWHERE:
                    raise _Changed from error
                raise PermissionDenied(path, os.strerror(error.errno or 0)) from None
        try:
            now = os.fstat(descriptor)
            if not stat.S_ISREG(now.st_mode) or (now.st_dev, now.st_ino) == self._concealed:
                raise _Changed
            yield File(found.path, descriptor, now.st_size)
        finally:
            os.close(descriptor)

    def inside(self, path: bytes) -> list[bytes] | None:
        """The components of an absolute path below the root, or None when it does not lead under the root.

        The root's own name counts even after the directory was moved; any other way in is followed step by step until
        it meets the root.
        """
        for prefix in self._prefixes:
            if path == prefix or path.startswith(prefix.rstrip(b"/") + b"/"):
                return path[len(prefix) :].split(b"/")
        return self._way_in(path)

    def _way_in(self, path: bytes) -> list[bytes] | None:
        # A step back outside the root would tell whether what stands before it exists: only links may have them.
        todo = deque((name, False) for name in path.split(b"/"))
        links = 0
        with ExitStack() as stack:
            ancestors = [stack.enter_context(_descriptor(os.open(b"/", _DIRECTORY)))]
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
                        below = os.open(name, _DIRECTORY, dir_fd=ancestors[-1])
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
    def _followed(self, path: str, field: str) -> Iterator["_Found"]:
        """Follow a path to its end, or to where nothing is."""
        with ExitStack() as stack:
            yield self._follow(path, raw(path, field), stack)

    def _follow(self, path: str, target: bytes, stack: ExitStack) -> "_Found":
        names: list[bytes] = []
        directories = [self._root]
        todo = deque(self._components(path, target))
        links = retries = 0
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
                    links += 1
                    if links > MAX_LINKS:
                        return self._missing(path, names, name, todo)
                    link = os.readlink(name, dir_fd=parent)
                    if link.startswith(b"/"):
                        names.clear()
                        directories = [self._root]
                    todo.extendleft(reversed(self._components(path, link)))
                elif stat.S_ISDIR(status.st_mode):
                    directory = os.open(name, _DIRECTORY, dir_fd=parent)
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
                elif error.errno in _NOWHERE:
                    return self._missing(path, names, name, todo)
                else:
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
    def descent(self) -> Iterator["Descent"]:
        """A way to open many files, cheapest in the order of their paths."""
        descent = Descent(self._root, self._concealed)
        try:
            yield descent
        finally:
            descent.close()

    def walk(self, include_hidden: bool, exclude_dirs: frozenset[str]) -> Iterator[str]:
        """The regular files under the root in the order of their printed paths, linked directories not entered.

        Directories are ordered as if their names ended in a slash, so that the walk itself is in the order of whole
        paths (`a-b/x` before `a/x`) and can be left at any point.
        """
        levels: list[tuple[str, int, Iterator[tuple[str, str, str, int]]]] = []
        try:
            top = os.open(b".", _LISTING, dir_fd=self._root)
            levels.append(("", top, self._entries(top, include_hidden, exclude_dirs)))
            while levels:
                prefix, directory, entries = levels[-1]
                for key, name, kind, inode in entries:
                    if kind == DIRECTORY:
                        try:
                            below = os.open(name, _LISTING, dir_fd=directory)
                        except OSError:
                            continue
                        levels.append((prefix + key, below, self._entries(below, include_hidden, exclude_dirs)))
                        break
                    if self.is_listed(prefix + key, kind, inode):
                        yield prefix + key
                else:
                    levels.pop()
                    os.close(directory)
        finally:
            for _, directory, _ in levels:
                os.close(directory)

    def _entries(
        self, directory: int, include_hidden: bool, exclude_dirs: frozenset[str]
    ) -> Iterator[tuple[str, str, str, int]]:
        """The entries of one directory that a walk may meet, sorted; a directory's key ends in a slash."""
        found = []
        # A directory that vanishes or may not be listed has no files to show.
        with suppress(OSError):
            for name, kind, inode in scan(directory):
                key = printed_entry(name)
                if not include_hidden and key.startswith("."):
                    continue
                if kind != DIRECTORY:
                    found.append((key, name, kind, inode))
                elif key not in exclude_dirs:
                    found.append((key + "/", name, kind, inode))
        found.sort()
        return iter(found)

    def is_listed(self, path: str, kind: str, inode: int) -> bool:
        """Whether a file shows up in a listing: not the log, and a link only if it leads to a regular file inside."""
        if kind == FILE and (self._concealed is None or inode != self._concealed[1]):
            return True
        try:
            status = self.place(path).status
        except (OutsideRoot, PermissionDenied):
            return False
        return status is not None and stat.S_ISREG(status.st_mode)


FILE, DIRECTORY, LINK = "file", "directory", "link"


def scan(directory: int) -> Iterator[tuple[str, str, int]]:
    """Name, kind and inode of the regular files, directories and links in an open directory, in no order.

    Names come as the system decodes them, bytes that are not UTF-8 as lone surrogates; to open, give them back so.
    """
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield entry.name, FILE, entry.inode()
            elif entry.is_dir(follow_symlinks=False):
                yield entry.name, DIRECTORY, entry.inode()
            elif entry.is_symlink():
                yield entry.name, LINK, entry.inode()


def leads_elsewhere(directory: int, name: str) -> bool:
    """Whether a link in an open directory names an absolute path, whose steps may lie outside the root."""
    try:
        return os.readlink(name, dir_fd=directory).startswith("/")
    except OSError:
        return True


Content = tuple[int, bytes, bool]
"""The size of a regular file, its bytes, and whether it is binary. Of one larger than was asked for there are no bytes,
of a binary one only the first. A plain tuple: a search makes thousands."""


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
                self._descriptors.append(os.open(b".", _LISTING, dir_fd=self._root))
            while len(self._names) > common:
                self._names.pop()
                os.close(self._descriptors.pop())
            self._folder = b"/".join(self._names)
            for name in names[common:]:
                self._descriptors.append(os.open(name, _LISTING, dir_fd=self._descriptors[-1]))
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

    def read(self, path: bytes, limit: int) -> Content | None:
        """What is in a regular file; None where there is no such file now, or none that may be read."""
        folder, _, name = path.rpartition(b"/")
        try:
            if folder != self._folder or not self._descriptors:
                self.folder(folder)
            descriptor = os.open(name, _READING, dir_fd=self._descriptors[-1])
        except OSError:
            return None
        try:
            return content(descriptor, limit, self._concealed)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def _open(self, path: bytes) -> int | None:
        folder, _, name = path.rpartition(b"/")
        try:
            descriptor = os.open(name, _READING, dir_fd=self.folder(folder))
        except OSError:
            return None
        if self._concealed is not None:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) == self._concealed:
                os.close(descriptor)
                return None
        return descriptor


def content(descriptor: int, limit: int, concealed: tuple[int, int] | None = None) -> Content | None:
    """What is in an open file; None for what is no regular file, or the concealed one."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or (concealed and (status.st_dev, status.st_ino) == concealed):
        return None
    size = status.st_size
    if size > limit:
        return size, b"", False
    data = os.pread(descriptor, min(CHUNK, size), 0)
    if is_binary(data):
        return size, data, True
    while len(data) < size and (more := os.pread(descriptor, size - len(data), len(data))):
        data += more
    return size, data, False


def _is_plain(path: str) -> bool:
    """Whether a path is relative and written the way results print it."""
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
