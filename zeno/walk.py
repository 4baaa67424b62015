"""The walk: every name under the root in the order of whole paths, and what is wrong with those that are no files.

Directories are opened one below the other by descriptor, and no link is followed to enter one.
"""

import errno
import os
import stat
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from zeno.descent import LISTING, READING
from zeno.errors import OutsideRoot, PermissionDenied
from zeno.ignore import IGNORE_FILES, MAX_FILE_BYTES, REPOSITORY, Ignores
from zeno.names import printed
from zeno.tree import DIRECTORY, NOWHERE, Tree

_SPECIAL = {*IGNORE_FILES, REPOSITORY}

NOT_REGULAR = "not_regular"
UNREADABLE = "unreadable"


class Walked(NamedTuple):
    """A name that the walk came by."""

    path: str
    """Relative to the root; that of a directory, here only because it could not be listed, ends in a slash."""
    problem: str | None
    """None for a regular file or a link to one under the root; else why it is none: `not_regular`, `unreadable`."""


_Entry = tuple[str, bytes, "os.DirEntry[str]", bool]
"""Key, name, what the system said, and whether one must look closer to know that it is a regular file.

The key is the printed name; that of a directory ends in a slash, so that the walk is in the order of whole paths.
"""


class _Level(NamedTuple):
    prefix: str
    base: bytes
    """The same in bytes."""
    directory: int
    entries: Iterator[_Entry]
    ignores: Ignores | None


def walk(
    tree: Tree, *, include_hidden: bool, exclude_dirs: frozenset[str], gitignore: bool = False, start: str = ""
) -> Iterator[Walked]:
    """Walk the tree, from the path `start` on; it can be left at any point.

    Directories are ordered as if their names ended in a slash: `a-b/x` comes before `a/x`, as whole paths do.
    """
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

    def run(self) -> Iterator[Walked]:
        levels, start = self._levels, self._start
        try:
            yield from self._enter("", b"", self._tree.descriptor, b".", self._ignores)
            while levels:
                level = levels[-1]
                for key, name, entry, doubtful in level.entries:
                    path = level.prefix + key
                    if key.endswith("/"):
                        if path >= start or start.startswith(path):
                            base = level.base + name + b"/"
                            yield from self._enter(path, base, level.directory, name, level.ignores)
                            break
                    elif path >= start:
                        if not doubtful:
                            yield Walked(path, None)
                        elif (found := self._look(path, entry)) is not None:
                            yield found
                else:
                    levels.pop()
                    os.close(level.directory)
        finally:
            for level in levels:
                os.close(level.directory)

    def _enter(self, prefix: str, base: bytes, parent: int, name: bytes, ignores: Ignores | None) -> Iterator[Walked]:
        """Go one directory deeper, or tell that it, or an ignore file in it, cannot be read."""
        try:
            directory = os.open(name, LISTING, dir_fd=parent)
        except OSError as error:
            # What vanished in the meantime was never there.
            if error.errno not in NOWHERE:
                yield Walked(prefix or "./", UNREADABLE)
            return
        try:
            found, special, complete = self._entries(directory)
            if ignores is not None:
                ignores, all_read = _inside(ignores, base, directory, special)
                complete = complete and all_read
                found = [item for item in found if not ignores.leave_out(base + item[1], item[0].endswith("/"))]
        except BaseException:
            os.close(directory)
            raise
        found.sort(key=itemgetter(0))
        self._levels.append(_Level(prefix, base, directory, iter(found), ignores))
        if not complete:
            yield Walked(prefix or "./", UNREADABLE)

    def _entries(self, directory: int) -> tuple[list[_Entry], dict[str, "os.DirEntry[str]"], bool]:
        """What one directory holds that the rules leave, what in it makes rules, and whether that is all."""
        found: list[_Entry] = []
        special = {}
        concealed = self._tree.concealed_inode
        try:
            # By descriptor the names come as text; their bytes are recovered without loss.
            with os.scandir(directory) as entries:
                for entry in entries:
                    name = entry.name
                    if name.startswith("."):
                        if self._ignores is not None and name in _SPECIAL:
                            special[name] = entry
                            if name == REPOSITORY:
                                continue
                        if not self._include_hidden:
                            continue
                    if name.isascii():
                        key, raw_name = name, name.encode()
                    else:
                        raw_name = os.fsencode(name)
                        key = printed(raw_name)
                    if entry.is_dir(follow_symlinks=False):
                        if key not in self._exclude_dirs:
                            found.append((key + "/", raw_name, entry, False))
                    else:
                        regular = entry.is_file(follow_symlinks=False)
                        doubtful = not regular or (concealed is not None and entry.inode() == concealed)
                        found.append((key, raw_name, entry, doubtful))
        except OSError:
            return found, special, False
        return found, special, True

    def _look(self, path: str, entry: "os.DirEntry[str]") -> Walked | None:
        """A link, the log, or something that is no file at all. The log is not even mentioned."""
        try:
            status = self._tree.place(path).status
        except (OutsideRoot, PermissionDenied):
            status = None
        if status is None and entry.is_file(follow_symlinks=False):
            return None
        return Walked(path, None if status is not None and stat.S_ISREG(status.st_mode) else NOT_REGULAR)


def _inside(
    ignores: Ignores, base: bytes, directory: int, special: dict[str, "os.DirEntry[str]"]
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
                    exclude = _text_below(directory, (REPOSITORY, "info"), "exclude")
            elif entry.is_file(follow_symlinks=False):
                # Like git, do not follow a link in this place.
                texts[name] = _text(directory, name)
        except OSError as error:
            complete = complete and error.errno in NOWHERE
    return ignores.enter(base, texts, exclude, is_repository=REPOSITORY in special), complete


def _text_below(directory: int, names: tuple[str, ...], last: str) -> bytes:
    if not names:
        return _text(directory, last)
    below = os.open(names[0], DIRECTORY, dir_fd=directory)
    try:
        return _text_below(below, names[1:], last)
    finally:
        os.close(below)


def _text(directory: int, name: str) -> bytes:
    """The text of a regular ignore file. One that is too long is as good as unreadable."""
    descriptor = os.open(name, READING, dir_fd=directory)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            raise OSError(errno.EFBIG, "no ignore file of sensible size")
        return os.read(descriptor, MAX_FILE_BYTES)
    finally:
        os.close(descriptor)
