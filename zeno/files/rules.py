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
from zeno.text.gitignore import IGNORE_FILES, MAX_FILE_BYTES, REPOSITORY, Ignores
from zeno.text.path_names import decode_entry

HIDDEN, IGNORED, EXCLUDED = LEFT_OUT = ("hidden", "ignored", "excluded")
"""Rules that can leave a name out, in the order in which they are tried."""

RULING = (*IGNORE_FILES, REPOSITORY)
"""Names that can change the ignore rules of a directory."""

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


def denies(ignores: Ignores, path: bytes, is_directory: bool) -> bool:
    """Whether a policy that denies ignored names denies a path, given the ignore rules in its directory."""
    return path.rpartition(b"/")[2] == os.fsencode(REPOSITORY) or ignores.leave_out(path, is_directory)


def read_rules(
    around: Ignores, base: bytes, directory: int, location: Location, names: Iterable[str] = RULING
) -> tuple[Ignores, bool]:
    """Return the ignore rules inside an open directory, and whether all its ignore files could be read.

    `base` is its path with a slash at the end. Only ignore files with one of the `names` count.
    """
    texts: dict[str, bytes] = {}
    exclude, is_repository, complete = None, False, True
    for name in names:
        try:
            mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            is_repository = is_repository or name == REPOSITORY
            # Like git, do not follow a link here. If `.git` is a file, the repository is elsewhere.
            if name == REPOSITORY and stat.S_ISDIR(mode):
                exclude = _read_in_place(directory, b".git/info/exclude", base, location)
            elif name != REPOSITORY and stat.S_ISREG(mode):
                texts[name] = _read_in_place(directory, os.fsencode(name), base, location)
        except OSError as error:
            complete = complete and error.errno in _ABSENT
    try:
        return around.enter(base, texts, exclude, is_repository=is_repository), complete
    except OSError:
        # As if none of the files in this directory could be read.
        return around.enter(base, {}, None, is_repository=is_repository), False


def _read_in_place(above: int, path: bytes, base: bytes, location: Location) -> bytes:
    """Return the text of an ignore file below an open directory, if it was still there after it was read.

    `base` is the path of the directory with a slash at the end. Raises OSError.
    """
    folder, _, name = path.rpartition(b"/")
    directory = Location(above).open_directory(folder, DIRECTORY)
    try:
        for _ in range(MAX_MOVES):
            descriptor = os.open(name, READING, dir_fd=directory)
            try:
                text = ignore_text(descriptor)
                if location.has(descriptor, base + path):
                    return text
            finally:
                os.close(descriptor)
    finally:
        os.close(directory)
    raise OSError(errno.EAGAIN, "an ignore file that keeps moving")


def ignore_text(descriptor: int) -> bytes:
    """Return the text of an open ignore file. Raises OSError if it is no regular file or too large."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, "an ignore file that is too large or no regular file")
    return os.read(descriptor, MAX_FILE_BYTES)
