"""The root: find and read. Only this, `follow`, `beneath`, `descent`, `location` and `walk` open what is under it."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple, Self

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.absolute_paths import Entrance
from zeno.files.batch_open import READING, Descent
from zeno.files.location import Location
from zeno.files.open_file import File
from zeno.files.policy import ALLOWED, DENIED, Policy
from zeno.files.resolve import MAX_RETRIES, NOWHERE, Found, follow
from zeno.text.path_names import raw

if TYPE_CHECKING:
    from zeno.files.openat2 import Opener


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

    def __init__(self, root: str, policy: Policy | None = None) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.policy = policy or Policy()
        self._entrance = Entrance(self._root, root)
        self.location = Location(self._root)
        self._concealed: tuple[int, int] | None = None
        self._glance: Opener | None = None
        self._grasp: Opener | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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
            from zeno.files.openat2 import opener

            self._glance = opener(os.O_PATH | os.O_NOFOLLOW)
            self._grasp = opener(READING)

    def current_path(self) -> bytes:
        """Where the root is now, as Linux tells it."""
        return os.readlink(b"/proc/self/fd/%d" % self._root)

    # One path

    def place(self, path: str, field: str = "path") -> Place:
        """What is at a path. Nothing at all is an answer; a path outside the root is refused."""
        status = self._at_a_glance(path, field, check=True)
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

    def _at_a_glance(self, path: str, field: str, *, check: bool) -> os.stat_result | None:
        """What the system says of a plain path that holds no links; None where one has to look closer.

        With `check` also None where it was moved before the system had said so.
        """
        if self._glance is None or self.policy.ignored or not _is_plain(path):
            return None
        if self.policy.active and (verdict := self.policy.verdict(path)) != ALLOWED:
            if verdict == DENIED:
                raise Denied(path)
            return None
        name = raw(path, field)
        descriptor = self._glance(self._root, name)
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

    def _at_once(self, path: str, field: str) -> File | None:
        """A regular file by a plain path that holds no links; None where one has to look closer."""
        status = self._at_a_glance(path, field, check=False)
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
        return File(path, descriptor, now, self.location)

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
        if not self.location.has(descriptor, raw(found.path, field)):
            os.close(descriptor)
            raise _Changed
        file = self._regular(found.path, descriptor)
        if file is None:
            raise _Changed
        return file

    def inside(self, path: bytes) -> list[bytes] | None:
        """The components of an absolute path below the root, or None when it does not lead under the root."""
        return self._entrance.below(path)

    @contextmanager
    def _followed(self, path: str, field: str, links: list[bytes] | None = None) -> Iterator[Found]:
        """Follow a path to its end, or to where nothing is; `links` then holds what the links on the way say."""
        with ExitStack() as stack:
            found = follow(self.location, self._entrance, self.policy, path, raw(path, field), stack, links)
            if found.status is None and found.path != "." and self.policy.denies(found.path, is_directory=False):
                raise Denied(path)
            status = found.status
            if status is not None and (status.st_dev, status.st_ino) == self._concealed:
                found = found._replace(status=None)
            yield found

    # Many paths

    @contextmanager
    def descent(self) -> Iterator[Descent]:
        """A way to open many files, cheapest in the order of their paths."""
        descent = Descent(self.location, self._concealed)
        try:
            yield descent
        finally:
            descent.close()

    def is_listed(self, path: str, inode: int) -> bool:
        """Whether a regular file shows up in a listing: the log does not."""
        return inode != self.concealed_inode or self.place(path).status is not None

    def leads(self, path: str) -> tuple[str | None, bool, bool]:
        """Follow a link: the path of the regular file inside that it leads to, or None; whether that may change though
        nothing under the root does; whether it leads to what is denied."""
        links: list[bytes] = []
        target, denied = None, False
        try:
            with self._followed(path, "path", links) as found:
                regular = found.status is not None and stat.S_ISREG(found.status.st_mode)
                target = found.path if regular else None
        except Denied:
            denied = True
        except (OutsideRoot, PermissionDenied):
            pass
        abroad = any(link.startswith(b"/") and self._entrance.by_name(link) is None for link in links)
        return target, abroad, denied


def _is_plain(path: str) -> bool:
    """Whether a path is relative and written the way results print it."""
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
