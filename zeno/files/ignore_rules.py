"""Reads ignore files: for a request that leaves out what git ignores, and for a policy that denies it."""

import errno
import os
import stat

from zeno.files.batch_open import READING
from zeno.files.location import DIRECTORY, MAX_MOVES, Location
from zeno.text.gitignore import EXCLUDE, IGNORE_FILES, MAX_FILE_BYTES, REPOSITORY, Ignores

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}


class DeniedByRules:
    """The ignore rules along the directories from the root to the current one.

    Where an ignore file cannot be read, everything in its directory is denied.
    """

    def __init__(self, root: int) -> None:
        self._rules: list[Ignores | None] = [_inside(Ignores(), b"", root)]

    def enter(self, base: bytes, directory: int) -> None:
        """Go down into an open directory; `base` is its path with a slash at its end."""
        around = self._rules[-1]
        self._rules.append(None if around is None else _inside(around, base, directory))

    def leave(self, depth: int) -> None:
        """Go back up until only `depth` directories below the root are left."""
        del self._rules[depth + 1 :]

    def deny(self, path: bytes, *, is_directory: bool) -> bool:
        """Whether the rules of the current directory leave out a name in it, given by its path from the root."""
        rules = self._rules[-1]
        name = path.rpartition(b"/")[2]
        return rules is None or name == os.fsencode(REPOSITORY) or rules.leave_out(path, is_directory)


def _inside(around: Ignores, base: bytes, directory: int) -> Ignores | None:
    """The rules inside an open directory; None where an ignore file in it cannot be read."""
    try:
        texts = {name: text for name in IGNORE_FILES if (text := _text(directory, name)) is not None}
        is_repository = _exists(directory, REPOSITORY)
        exclude = _text_below(directory, (REPOSITORY, "info"), EXCLUDE) if is_repository else None
    except OSError:
        return None
    return around.enter(base, texts, exclude, is_repository=is_repository)


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
    """The text of an ignore file; None where there is none. Like git, do not follow a link in this place."""
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
    """The text of an open ignore file. One that is too long is as good as unreadable."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, "no ignore file of sensible size")
    return os.read(descriptor, MAX_FILE_BYTES)


def rules_inside(
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
                    exclude = _checked_text_below(directory, base, (REPOSITORY, "info"), EXCLUDE, location)
            elif entry.is_file(follow_symlinks=False):
                # Like git, do not follow a link in this place.
                texts[name] = _checked_text(directory, base, name, location)
        except OSError as error:
            complete = complete and error.errno in _ABSENT
    return ignores.enter(base, texts, exclude, is_repository=REPOSITORY in special), complete


def _checked_text_below(directory: int, base: bytes, names: tuple[str, ...], last: str, location: Location) -> bytes:
    if not names:
        return _checked_text(directory, base, last, location)
    below = os.open(names[0], DIRECTORY, dir_fd=directory)
    try:
        return _checked_text_below(below, base + os.fsencode(names[0]) + b"/", names[1:], last, location)
    finally:
        os.close(below)


def _checked_text(directory: int, base: bytes, name: str, location: Location) -> bytes:
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
