"""The walk: every name under the root in the order of whole paths, and what is wrong with those that are no files.

Directories are opened one below the other by descriptor, and no link is followed to enter one. Names count only if the
directory was still at its path after it was listed.
"""

import errno
import os
import stat
from bisect import bisect_left
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from zeno.errors import OutsideRoot, PermissionDenied
from zeno.files.batch_open import LISTING, READING
from zeno.files.location import DIRECTORY, MAX_MOVES, Location
from zeno.files.resolve import NOWHERE
from zeno.files.tree import Tree
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, MAX_FILE_BYTES, REPOSITORY, Ignores
from zeno.text.path_names import printed, raw

_SPECIAL = {*IGNORE_FILES, REPOSITORY}

NOT_REGULAR = "not_regular"
UNREADABLE = "unreadable"


class Walked(NamedTuple):
    """A name that the walk came by."""

    path: str
    """Relative to the root; that of a directory, here only because it could not be listed, ends in a slash."""
    problem: str | None
    """None for a regular file or a link to one under the root; else why it is none: `not_regular`, `unreadable`."""


class Run(NamedTuple):
    """Names that the walk came by one right after the other, all with the same problem or none."""

    paths: list[str]
    problem: str | None


class _Level:
    """A directory that the walk is in."""

    __slots__ = ("at", "directory", "files", "ignores", "others", "prefix")

    def __init__(
        self, prefix: str, directory: int, files: list[str], others: list["_Other"], ignores: Ignores | None
    ) -> None:
        self.prefix = prefix
        self.directory = directory
        self.files = sorted(files)
        """Names of regular files as they are printed."""
        self.at = 0
        """How many of them the walk has left behind."""
        self.others = iter(sorted(others, key=itemgetter(0)))
        self.ignores = ignores


_Other = tuple[str, "os.DirEntry[str]"]
"""What is no plain file, by its printed name; that of a directory ends in a slash, as it does in whole paths."""
_LAST: tuple[str, None] = ("", None)


def walk(
    tree: Tree, *, include_hidden: bool, exclude_dirs: frozenset[str], gitignore: bool = False, start: str = ""
) -> Iterator[Walked]:
    """Walk the tree, from the path `start` on; it can be left at any point.

    Directories are ordered as if their names ended in a slash: `a-b/x` comes before `a/x`, as whole paths do.
    """
    for paths, problem in runs(
        tree, include_hidden=include_hidden, exclude_dirs=exclude_dirs, gitignore=gitignore, start=start
    ):
        for path in paths:
            yield Walked(path, problem)


def runs(
    tree: Tree, *, include_hidden: bool, exclude_dirs: frozenset[str], gitignore: bool, start: str
) -> Iterator[Run]:
    """The same walk in longer strides, for those who have no use for an object for each name."""
    return _Walk(tree, include_hidden, exclude_dirs, gitignore, start).run()


class _Walk:
    def __init__(
        self, tree: Tree, include_hidden: bool, exclude_dirs: frozenset[str], gitignore: bool, start: str
    ) -> None:
        self._tree = tree
        self._include_hidden = include_hidden
        self._exclude_dirs = exclude_dirs
        self._start = start
        self._levels: list[_Level] = []
        self._ignores = Ignores() if gitignore else None

    def run(self) -> Iterator[Run]:
        levels, start = self._levels, self._start
        try:
            if not self._enter("", self._tree.descriptor, b".", self._ignores):
                yield Run(["./"], UNREADABLE)
            while levels:
                level = levels[-1]
                key, entry = next(level.others, _LAST)
                files, at = level.files, level.at
                level.at = len(files) if entry is None else bisect_left(files, key, at)
                if level.at > at:
                    prefix = level.prefix
                    paths = [prefix + name for name in files[at : level.at]]
                    yield Run([path for path in paths if path >= start] if start else paths, None)
                if entry is None:
                    levels.pop()
                    os.close(level.directory)
                    continue
                path = level.prefix + key
                if key.endswith("/"):
                    wanted = path >= start or start.startswith(path)
                    if wanted and not self._enter(path, level.directory, raw(key[:-1], "path"), level.ignores):
                        yield Run([path], UNREADABLE)
                elif path >= start and (found := self._look(path, entry)) is not None:
                    yield found
        finally:
            for level in levels:
                os.close(level.directory)

    def _enter(self, prefix: str, parent: int, name: bytes, ignores: Ignores | None) -> bool:
        """Go one directory deeper; False if it, or an ignore file in it, cannot be read.

        One that is no longer in its place after it was listed is looked for again from the root.
        """
        location = self._tree.location
        for attempt in range(MAX_MOVES):
            try:
                if attempt:
                    directory = location.open_directory(raw(prefix[:-1], "path"), LISTING)
                else:
                    directory = os.open(name, LISTING, dir_fd=parent)
            except OSError as error:
                if attempt == 0:
                    # It may be the parent that was moved.
                    continue
                # What vanished in the meantime was never there.
                return error.errno in NOWHERE
            try:
                level, complete = self._level(prefix, directory, ignores)
                if location.is_above(directory, len(self._levels)) or location.leads_to(
                    directory, raw(prefix[:-1], "path")
                ):
                    self._levels.append(level)
                    return complete
            except BaseException:
                os.close(directory)
                raise
            os.close(directory)
        return False

    def _level(self, prefix: str, directory: int, ignores: Ignores | None) -> tuple[_Level, bool]:
        """List an open directory, and whether everything in it could be read."""
        files, others, special, complete = self._entries(directory)
        if ignores is not None:
            base = raw(prefix, "path")
            ignores, all_read = _inside(ignores, base, directory, special, self._tree.location)
            complete = complete and all_read
            files = [key for key in files if not ignores.leave_out(base + raw(key, "path"), False)]
            others = [
                (key, entry)
                for key, entry in others
                if not ignores.leave_out(base + raw(key.rstrip("/"), "path"), key.endswith("/"))
            ]
        return _Level(prefix, directory, files, others, ignores), complete

    def _entries(self, directory: int) -> tuple[list[str], list[_Other], dict[str, "os.DirEntry[str]"], bool]:
        """What one directory holds that the rules leave, what in it makes rules, and whether that is all."""
        files: list[str] = []
        others: list[_Other] = []
        special = {}
        concealed = self._tree.concealed_inode
        try:
            # By descriptor the names come as text; their bytes are recovered without loss.
            with os.scandir(directory) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        if self._ignores is not None and name in _SPECIAL:
                            special[name] = entry
                            if name == REPOSITORY:
                                continue
                        if not self._include_hidden:
                            continue
                    key = name if name.isascii() else printed(os.fsencode(name))
                    if entry.is_file(follow_symlinks=False) and (concealed is None or entry.inode() != concealed):
                        files.append(key)
                    elif not entry.is_dir(follow_symlinks=False):
                        others.append((key, entry))
                    elif key not in self._exclude_dirs:
                        others.append((key + "/", entry))
        except OSError:
            return files, others, special, False
        return files, others, special, True

    def _look(self, path: str, entry: "os.DirEntry[str]") -> Run | None:
        """A link, the log, or something that is no file at all. The log is not even mentioned."""
        try:
            status = self._tree.place(path).status
        except (OutsideRoot, PermissionDenied):
            status = None
        if status is None and entry.is_file(follow_symlinks=False):
            return None
        return Run([path], None if status is not None and stat.S_ISREG(status.st_mode) else NOT_REGULAR)


def _inside(
    ignores: Ignores, base: bytes, directory: int, special: dict[str, "os.DirEntry[str]"], location: Location
) -> tuple[Ignores, bool]:
    """The ignore rules inside a directory, and whether all of its ignore files could be read."""
    texts: dict[str, bytes] = {}
    exclude = None
    complete = True
    for name, entry in special.items():
        try:
            if name == REPOSITORY:
                # Where it is a file, the repository proper is elsewhere and has no rules for us.
                if entry.is_dir(follow_symlinks=False):
                    exclude = _text_below(directory, base, (REPOSITORY, "info"), EXCLUDE, location)
            elif entry.is_file(follow_symlinks=False):
                # Like git, do not follow a link in this place.
                texts[name] = _text(directory, base, name, location)
        except OSError as error:
            complete = complete and error.errno in NOWHERE
    return ignores.enter(base, texts, exclude, is_repository=REPOSITORY in special), complete


def _text_below(directory: int, base: bytes, names: tuple[str, ...], last: str, location: Location) -> bytes:
    if not names:
        return _text(directory, base, last, location)
    below = os.open(names[0], DIRECTORY, dir_fd=directory)
    try:
        return _text_below(below, base + os.fsencode(names[0]) + b"/", names[1:], last, location)
    finally:
        os.close(below)


def _text(directory: int, base: bytes, name: str, location: Location) -> bytes:
    """The text of an ignore file in an open directory, whose path with a slash at its end is `base`."""
    for _ in range(MAX_MOVES):
        descriptor = os.open(name, READING, dir_fd=directory)
        try:
            text = ignore_text(descriptor)
            if location.has(descriptor, base + os.fsencode(name)):
                return text
        finally:
            os.close(descriptor)
    raise OSError(errno.EAGAIN, "an ignore file that keeps moving")


def ignore_text(descriptor: int) -> bytes:
    """The text of an open ignore file. One that is too long is as good as unreadable."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, "no ignore file of sensible size")
    return os.read(descriptor, MAX_FILE_BYTES)
