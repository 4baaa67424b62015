"""Which names of a directory the rules of a request leave out: hidden, ignored and excluded ones.

The walk, the cached listing and several roots ask here. Names that the policy denies are not asked about: they are as
good as absent. Globs are about whole paths; `zeno.search.selection` applies them. Ignore files are read here: for
requests with `gitignore`, and for a policy that denies ignored names.
"""

import errno
import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from zeno.files.batch_open import READING
from zeno.files.location import DIRECTORY, MAX_MOVES, Location
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, MAX_FILE_BYTES, REPOSITORY, Ignores
from zeno.text.path_names import decode_entry

HIDDEN, IGNORED, EXCLUDED = LEFT_OUT = ("hidden", "ignored", "excluded")
"""Rules that can leave a name out, in the order in which they are tried."""

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}


class NameRules(NamedTuple):
    """The rules of a request that decide about single names."""

    include_hidden: bool = False
    exclude_dirs: frozenset[str] = frozenset()
    """Names of directories, as results print them."""
    gitignore: bool = False

    @property
    def leave_all(self) -> bool:
        """Whether no name is left out."""
        return self.include_hidden and not self.exclude_dirs and not self.gitignore

    def begin(self) -> Ignores | None:
        """Return the ignore rules outside the root: none yet, or None where they are not asked for."""
        return Ignores() if self.gitignore else None

    def leave_out(
        self, entries: Iterable[tuple[str, bool]], base: bytes = b"", ignores: Ignores | None = None
    ) -> dict[str, str]:
        """Return those names of a directory that a rule leaves out, with the rule.

        Names are given as `os.scandir` decodes them, each with whether it is a directory. `base` is the path of the
        directory with a slash at the end, and `ignores` are the ignore rules inside it.
        """
        if self.leave_all:
            return {}
        include_hidden, exclude_dirs = self.include_hidden, self.exclude_dirs
        found: dict[str, str] = {}
        for name, is_directory in entries:
            if name[0] == "." and not include_hidden:
                found[name] = HIDDEN
            elif ignores is not None and (
                name == REPOSITORY or ignores.leave_out(base + os.fsencode(name), is_directory)
            ):
                found[name] = IGNORED
            elif is_directory and exclude_dirs and decode_entry(name) in exclude_dirs:
                found[name] = EXCLUDED
        return found


class DeniedByRules:
    """The ignore rules of the directories from the root to the current one.

    If an ignore file cannot be read, everything in its directory is denied.
    """

    def __init__(self, root: int) -> None:
        self._rules: list[Ignores | None] = [_inside(Ignores(), b"", root)]

    def enter(self, base: bytes, directory: int) -> None:
        """Enter an open directory; `base` is its path with a slash at the end."""
        around = self._rules[-1]
        self._rules.append(None if around is None else _inside(around, base, directory))

    def leave(self, depth: int) -> None:
        """Go back up to the directory that is `depth` levels below the root."""
        del self._rules[depth + 1 :]

    def deny(self, path: bytes, *, is_directory: bool) -> bool:
        """Whether the rules ignore an entry of the current directory, given by its path from the root."""
        rules = self._rules[-1]
        name = path.rpartition(b"/")[2]
        return rules is None or name == os.fsencode(REPOSITORY) or rules.leave_out(path, is_directory)


def _inside(around: Ignores, base: bytes, directory: int) -> Ignores | None:
    """Return the rules inside an open directory; None if an ignore file in it cannot be read."""
    try:
        texts = {name: text for name in IGNORE_FILES if (text := _text(directory, name)) is not None}
        is_repository = _exists(directory, REPOSITORY)
        exclude = _text_below(directory, (REPOSITORY, "info"), EXCLUDE) if is_repository else None
        return around.enter(base, texts, exclude, is_repository=is_repository)
    except OSError:
        return None


def _exists(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno in _ABSENT:
            return False
        raise
    return True


def _text_below(directory: int, names: tuple[str, ...], last: str) -> bytes | None:
    if not names:
        return _text(directory, last)
    try:
        below = os.open(names[0], DIRECTORY, dir_fd=directory)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise
    try:
        return _text_below(below, names[1:], last)
    finally:
        os.close(below)


def _text(directory: int, name: str) -> bytes | None:
    """Return the text of an ignore file, or None if there is none. Like git, do not follow a link here."""
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            return None
        descriptor = os.open(name, READING, dir_fd=directory)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise
    try:
        return ignore_text(descriptor)
    finally:
        os.close(descriptor)


def ignore_text(descriptor: int) -> bytes:
    """Return the text of an open ignore file. Raises OSError if it is no regular file or too large."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, "an ignore file that is too large or no regular file")
    return os.read(descriptor, MAX_FILE_BYTES)


def rules_inside(
    ignores: Ignores, base: bytes, directory: int, special: dict[str, "os.DirEntry[str]"], location: Location
) -> tuple[Ignores, bool]:
    """Return the ignore rules inside a directory, and whether all its ignore files could be read."""
    texts: dict[str, bytes] = {}
    exclude = None
    complete = True
    for name, entry in special.items():
        try:
            if name == REPOSITORY:
                # If `.git` is a file, the repository is elsewhere and its exclude file is not read.
                if entry.is_dir(follow_symlinks=False):
                    exclude = _read_checked_below(directory, base, (REPOSITORY, "info"), EXCLUDE, location)
            elif entry.is_file(follow_symlinks=False):
                # Like git, do not follow a link here.
                texts[name] = _read_checked(directory, base, name, location)
        except OSError as error:
            complete = complete and error.errno in _ABSENT
    is_repository = REPOSITORY in special
    try:
        return ignores.enter(base, texts, exclude, is_repository=is_repository), complete
    except OSError:
        # As if none of the files in this directory could be read.
        return ignores.enter(base, {}, None, is_repository=is_repository), False


def _read_checked_below(directory: int, base: bytes, names: tuple[str, ...], last: str, location: Location) -> bytes:
    if not names:
        return _read_checked(directory, base, last, location)
    below = os.open(names[0], DIRECTORY, dir_fd=directory)
    try:
        return _read_checked_below(below, base + os.fsencode(names[0]) + b"/", names[1:], last, location)
    finally:
        os.close(below)


def _read_checked(directory: int, base: bytes, name: str, location: Location) -> bytes:
    """Return the text of an ignore file in an open directory, whose path with a slash at the end is `base`."""
    for _ in range(MAX_MOVES):
        descriptor = os.open(name, READING, dir_fd=directory)
        try:
            text = ignore_text(descriptor)
            if location.has(descriptor, base + os.fsencode(name)):
                return text
        finally:
            os.close(descriptor)
    raise OSError(errno.EAGAIN, "an ignore file that keeps moving")
