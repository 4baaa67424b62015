"""The root: look up and open single paths, and make openers for many. `resolve` follows every path."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.absolute_paths import AbsolutePaths
from zeno.files.batch_open import READING, BatchOpener
from zeno.files.file_tree import Entry, Place
from zeno.files.location import Location
from zeno.files.open_file import File
from zeno.files.policy import ALLOWED, DENIED, Policy, other_case
from zeno.files.resolve import MAX_RETRIES, NOWHERE, Confines, ResolvedPath, Trail
from zeno.text.path_names import decode_name, raw

if TYPE_CHECKING:
    from zeno.files.openat2 import Opener


# To load openat2 costs as much as some hundred lookups without it.
MANY_LOOKUPS = 64


class _Changed(Exception):
    """The file at a path was replaced while it was being opened."""


class LinkTarget(NamedTuple):
    """Where a symbolic link leads."""

    path: str | None = None
    """The path of the regular file under the root that it leads to, or None."""
    to_folder: bool = False
    """Whether it leads to a directory under the root."""
    denied: bool = False
    """Whether it leads to a path that the policy denies: then it is as good as absent."""
    may_change_unseen: bool = False
    """Whether an absolute link on the way does not begin with the root's name. Then its target can change without a
    change under the root."""
    steps: frozenset[str] = frozenset()
    """Every path at which something was looked up on the way: while nothing there changes, it leads to the same."""


class Tree:
    """The root directory, opened once: if another directory takes its path later, the opened one is still served."""

    names: ClassVar[list[str]] = []
    """One root needs no name."""
    rev: ClassVar[str | None] = None
    """It is no commit."""

    def __init__(self, root: str, policy: Policy | None = None) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.policy = policy or Policy()
        self._absolute_paths = AbsolutePaths(self._root, root)
        self.location = Location(self._root)
        self._concealed: tuple[int, int] | None = None
        self._open_for_status: Opener | None = None
        self._open_for_reading: Opener | None = None
        self._lookups = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._root)

    def conceal(self, descriptor: int) -> None:
        """Treat the file behind this descriptor as missing under every name. Used for the server's own log."""
        status = os.fstat(descriptor)
        self._concealed = (status.st_dev, status.st_ino)

    @property
    def descriptor(self) -> int:
        """The descriptor of the root, for the walk."""
        return self._root

    @property
    def descriptors(self) -> list[int]:
        return [self._root]

    def under(self, policy: Policy) -> Self:
        tree = copy(self)
        tree.policy = policy
        return tree

    @property
    def log_inode(self) -> int | None:
        """Inode of the concealed file, if there is one. A file on another device may share it; `place` decides."""
        return self._concealed[1] if self._concealed else None

    def speed_up_lookups(self) -> None:
        """Use openat2 for single paths if the system has it. This imports ctypes."""
        if hasattr(os, "O_PATH"):
            from zeno.files.openat2 import opener

            self._open_for_status = opener(os.O_PATH | os.O_NOFOLLOW)
            self._open_for_reading = opener(READING)

    def current_path(self) -> bytes:
        """Return the current path of the root. Linux only."""
        return os.readlink(b"/proc/self/fd/%d" % self._root)

    # One path

    def place(self, path: str, field: str = "path") -> Place:
        status = self._status_by_openat2(path, field, check=True)
        if status is not None:
            return Place(path, Entry.of(status))
        with self._follow(path, field) as found:
            return Place(found.path, None if found.status is None else Entry.of(found.status))

    def open(self, path: str, field: str = "path") -> File:
        file = self._open_by_openat2(path, field)
        if file is not None:
            return file
        for _ in range(MAX_RETRIES):
            try:
                return self._open(path, field)
            except _Changed:
                continue
        raise NotFound(path, "it keeps changing while it is being opened")

    def _status_by_openat2(self, path: str, field: str, *, check: bool) -> os.stat_result | None:
        """Return the status of a plain path without links, by one openat2; None if the path has to be resolved.

        With `check` also None if the file was moved meanwhile. Raises Denied.
        """
        self._lookups += 1
        if self._lookups == MANY_LOOKUPS:
            self.speed_up_lookups()
        if self._open_for_status is None or self.policy.ignored or not _is_plain(path):
            return None
        name = raw(path, field)
        if self.policy.active and (verdict := self.policy.verdict(path)) != ALLOWED:
            if verdict == DENIED:
                raise Denied(path)
            return None
        if self.policy.active and not self._finds_no_other_case(name):
            return None
        descriptor = self._open_for_status(self._root, name)
        if descriptor < 0:
            return None
        try:
            status = os.fstat(descriptor)
            if check and not self.location.has(descriptor, name):
                return None
        finally:
            os.close(descriptor)
        if stat.S_ISLNK(status.st_mode) or (self._concealed and (status.st_dev, status.st_ino) == self._concealed):
            return None
        return status

    def _finds_no_other_case(self, path: bytes) -> bool:
        """Whether no component of a path is found by another spelling, as far as one openat2 for each can tell."""
        steps = path.split(b"/")
        for end, step in enumerate(steps, 1):
            other = other_case(step)
            if other is None or self._open_for_status is None:
                return False
            if other != step:
                descriptor = self._open_for_status(self._root, b"/".join([*steps[: end - 1], other]))
                if descriptor >= 0:
                    os.close(descriptor)
                    return False
        return True

    def _open_by_openat2(self, path: str, field: str) -> File | None:
        """Open a regular file by a plain path without links, by openat2; None if the path has to be resolved."""
        status = self._status_by_openat2(path, field, check=False)
        # Check the type before opening: opening a device can have effects.
        if status is None or self._open_for_reading is None or not stat.S_ISREG(status.st_mode):
            return None
        descriptor = self._open_for_reading(self._root, raw(path, field))
        return None if descriptor < 0 else self._regular(path, descriptor)

    def _regular(self, path: str, descriptor: int) -> File | None:
        """Return the opened file; close it and return None if it is no regular file or the concealed one."""
        now = os.fstat(descriptor)
        if not stat.S_ISREG(now.st_mode) or (self._concealed and (now.st_dev, now.st_ino) == self._concealed):
            os.close(descriptor)
            return None
        return File(path, descriptor, now, self.location)

    def _open(self, path: str, field: str) -> File:
        with self._follow(path, field) as found:
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
        if not self.location.has(descriptor, raw(found.path, field)):
            os.close(descriptor)
            raise _Changed
        file = self._regular(found.path, descriptor)
        if file is None:
            raise _Changed
        return file

    def inside(self, path: bytes) -> list[bytes] | None:
        """Return the components of an absolute path below the root, or None if it does not lead under the root."""
        return self._absolute_paths.below(path)

    def inside_by_name(self, path: bytes) -> list[bytes] | None:
        """Like `inside`, but only for a path that begins with the root's name. No file is read."""
        return self._absolute_paths.by_name(path)

    def find_covered(self, path: bytes) -> list[str]:
        """Return the directory that an absolute path leads to, `.` if the root is below the path, else nothing."""
        below = self.inside(path)
        if below is None:
            return ["."] if self._absolute_paths.is_below(path) else []
        try:
            place = self.place("/".join(map(decode_name, below)).lstrip("/") or ".")
        except (Denied, OutsideRoot, PermissionDenied):
            return []
        return [place.path] if place.is_folder else []

    @contextmanager
    def _follow(self, path: str, field: str, trail: Trail | None = None) -> Iterator[ResolvedPath]:
        """Resolve a path. `trail` takes what it leads through."""
        with ExitStack() as stack:
            confines = Confines(self.location, self._absolute_paths, self.policy)
            found = confines.follow(path, raw(path, field), stack, trail)
            if found.status is None and found.path != "." and self.policy.denies(found.path, is_directory=False):
                raise Denied(path)
            status = found.status
            if status is not None and (status.st_dev, status.st_ino) == self._concealed:
                found = found._replace(status=None)
            yield found

    # Many paths

    @contextmanager
    def batch_opener(self) -> Iterator[BatchOpener]:
        """Open many files; fastest in the order of their paths."""
        opener = BatchOpener(self.location, self._concealed)
        try:
            yield opener
        finally:
            opener.close()

    def is_listed(self, path: str, inode: int) -> bool:
        """Whether a regular file is listed; the concealed file is not."""
        return inode != self.log_inode or self.place(path).entry is not None

    def link_target(self, path: str) -> LinkTarget:
        """Follow a link."""
        trail = Trail()
        target, to_folder, denied = None, False, False
        try:
            with self._follow(path, "path", trail) as found:
                mode = 0 if found.status is None else found.status.st_mode
                target, to_folder = found.path if stat.S_ISREG(mode) else None, stat.S_ISDIR(mode)
        except Denied:
            denied = True
        except (OutsideRoot, PermissionDenied):
            pass
        outside = any(link.startswith(b"/") and self._absolute_paths.by_name(link) is None for link in trail.links)
        return LinkTarget(target, to_folder, denied, outside, frozenset(map(decode_name, trail.steps)))


def _is_plain(path: str) -> bool:
    """Whether a path is relative and has no empty, `.` or `..` component."""
    if "/." not in path and "//" not in path and not path.startswith((".", "/")) and not path.endswith("/"):
        return True
    steps = path.split("/")
    return "" not in steps and "." not in steps and ".." not in steps


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
