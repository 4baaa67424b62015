"""Walk the tree: yield every name under the root in the order of whole paths, with the reason if it is no file.

Directories are opened by descriptor, one below the other, and never through a link. Names count only if the directory
was still at its path after it was listed. Only the last directories of a deep path are held open.
"""

import os
from bisect import bisect_left
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from zeno.errors import Denied, OutsideRoot, PermissionDenied
from zeno.files.batch_open import LISTING
from zeno.files.file_tree import Place
from zeno.files.location import MAX_LISTED_PATH, MAX_MOVES, HeldDirectories
from zeno.files.resolve import NOWHERE
from zeno.files.rules import DeniedByRules, NameRules, rules_inside
from zeno.files.tree import Tree
from zeno.text.gitignore import IGNORE_FILES, REPOSITORY, Ignores
from zeno.text.path_names import decode_entry, raw

_SPECIAL = {*IGNORE_FILES, REPOSITORY}

NOT_REGULAR = "not_regular"
LINKED = "linked_dirs"
"""A link to a directory under the root: it is not entered."""
UNREADABLE = "unreadable"


class Walked(NamedTuple):
    """A name that the walk found."""

    path: str
    """Relative to the root. A directory that was not listed appears with a slash at the end."""
    problem: str | None
    """None for a regular file or a link to one under the root. Otherwise `not_regular`, `linked_dirs`,
    `unreadable`, or the rule that leaves the name out (see `zeno.files.rules`)."""


class WalkedNames(NamedTuple):
    """Names that the walk found, all with the same problem or none."""

    paths: list[str]
    problem: str | None


class Unlisted(NamedTuple):
    """A directory that the walk has not entered yet."""

    path: str
    """Relative to the root, with a slash at the end; empty for the root."""
    ignores: Ignores | None
    """The ignore rules that apply to it; None where none are asked for."""


class _Entries(NamedTuple):
    """The entries of one directory, by name as `os.scandir` decodes it, without denied names."""

    files: list[str]
    folders: list[str]
    others: "dict[str, os.DirEntry[str]]"
    """Links and what else is neither file nor directory."""
    special: "dict[str, os.DirEntry[str]]"
    """Those that may make ignore rules."""
    complete: bool
    """Whether the directory could be read to its end."""


def walk(tree: Tree, rules: NameRules, start: str = "") -> Iterator[Walked]:
    """Walk the tree from the path `start` on. The caller may stop at any point.

    Directories are ordered as if their names ended in a slash: `a-b/x` comes before `a/x`, as whole paths do.
    Names that a rule leaves out are yielded in no order, when the walk enters their directory.
    """
    for paths, problem in walk_runs(tree, rules, start):
        for path in paths:
            yield Walked(path, problem)


def walk_runs(tree: Tree, rules: NameRules, start: str, first: Unlisted | None = None) -> Iterator[WalkedNames]:
    """Like `walk`, but yield lists of consecutive names. With `first` given, walk only that directory."""
    return _Walk(tree, rules, start).run(first or Unlisted("", rules.begin()))


def list_directory(tree: Tree, rules: NameRules, directory: Unlisted) -> list[WalkedNames | Unlisted]:
    """List one directory, in the order of a walk, without the directories below it."""
    return _Walk(tree, rules, "").names_in(directory)


class _Walk:
    def __init__(self, tree: Tree, rules: NameRules, start: str) -> None:
        self._tree = tree
        self._rules = rules
        self._start = start
        self._levels: list[Iterator[WalkedNames | Unlisted]] = []
        """For each directory that the walk is in, what is left of it."""
        self._held = HeldDirectories(tree.location, LISTING)
        self._denied = DeniedByRules(tree.descriptor) if tree.policy.ignored else None
        """Ignore rules of the policy, those of the current directory last."""

    def run(self, first: Unlisted) -> Iterator[WalkedNames]:
        """Walk a directory and all below it."""
        levels = self._levels
        try:
            yield from self._begin(first)
            while levels:
                found = next(levels[-1], None)
                if found is None:
                    levels.pop()
                    self._held.leave()
                    if self._denied is not None:
                        self._denied.leave(len(levels) - 1)
                elif not isinstance(found, Unlisted):
                    yield found
                elif not self._enter(found):
                    yield WalkedNames([found.path], UNREADABLE)
        finally:
            self._held.clear()

    def names_in(self, directory: Unlisted) -> list[WalkedNames | Unlisted]:
        try:
            return [*self._begin(directory), *(found for level in self._levels for found in level)]
        finally:
            self._held.clear()

    def _begin(self, first: Unlisted) -> list[WalkedNames]:
        """Enter the directory that the walk begins with, from the root. Return it if it cannot be read."""
        try:
            for name in [b".", *raw(first.path, "path").split(b"/")][:-2] if first.path else ():
                self._held.enter(name, os.open(name, LISTING, dir_fd=self._held.last()))
            if self._enter(first):
                return []
        except OSError as error:
            # A directory that was removed meanwhile counts as if it had never existed.
            if error.errno in NOWHERE:
                return []
        return [WalkedNames([first.path or "./"], UNREADABLE)]

    def _enter(self, found: Unlisted) -> bool:
        """Enter a directory. Return False if it, or an ignore file in it, cannot be read, or its path is too long.

        If it was moved while it was listed, it is opened again from the root.
        """
        path = raw(found.path[:-1], "path")
        if len(path) > MAX_LISTED_PATH:
            return False
        name, location = path.rpartition(b"/")[2] or b".", self._tree.location
        for attempt in range(MAX_MOVES):
            try:
                if attempt:
                    directory = location.open_directory(path, LISTING)
                else:
                    directory = os.open(name, LISTING, dir_fd=self._held.last())
            except OSError as error:
                if attempt == 0:
                    # The parent may have been moved.
                    continue
                # A directory that was removed meanwhile counts as if it had never existed.
                return error.errno in NOWHERE
            try:
                level, complete = self._level(found.path, directory, found.ignores)
                if location.is_above(directory, found.path.count("/")) or location.leads_to(directory, path):
                    self._levels.append(level)
                    self._held.enter(name, directory)
                    return complete
            except BaseException:
                os.close(directory)
                raise
            os.close(directory)
        return False

    def _level(
        self, prefix: str, directory: int, ignores: Ignores | None
    ) -> tuple[Iterator[WalkedNames | Unlisted], bool]:
        """List an open directory: what is in it, in order. Also return whether everything in it could be read."""
        if self._denied is not None and prefix:
            self._denied.leave(len(self._levels) - 1)
            self._denied.enter(raw(prefix, "path"), directory)
        found = self._entries(prefix, directory)
        complete = found.complete
        base = b""
        if ignores is not None:
            base = raw(prefix, "path")
            ignores, all_read = rules_inside(ignores, base, directory, found.special, self._tree.location)
            complete = complete and all_read
        return self._in_order(prefix, found, base, ignores), complete

    def _in_order(
        self, prefix: str, found: _Entries, base: bytes, ignores: Ignores | None
    ) -> Iterator[WalkedNames | Unlisted]:
        """Yield the names in a directory: those that the rules leave out first, all others in order."""
        files, folders, others = found.files, found.folders, found.others
        entries = [(name, False) for name in files] + [(name, True) for name in folders]
        left_out = self._rules.leave_out([*entries, *((name, False) for name in others)], base, ignores)
        if left_out:
            slashes = set(folders)
            by_rule: dict[str, list[str]] = {}
            for name, rule in left_out.items():
                by_rule.setdefault(rule, []).append(prefix + decode_entry(name) + "/" * (name in slashes))
            for rule, names in by_rule.items():
                yield WalkedNames(names, rule)
            files = [name for name in files if name not in left_out]
        start, at = self._start, 0
        paths = [path for name in sorted(map(decode_entry, files)) if (path := prefix + name) >= start]
        rest: list[tuple[str, os.DirEntry[str] | None]] = [
            *((decode_entry(name) + "/", None) for name in folders if name not in left_out),
            *((decode_entry(name), entry) for name, entry in others.items() if name not in left_out),
        ]
        for key, entry in sorted(rest, key=itemgetter(0)):
            path = prefix + key
            before, at = at, bisect_left(paths, path, at)
            if at > before:
                yield WalkedNames(paths[before:at], None)
            if entry is None:
                if path >= start or start.startswith(path):
                    yield Unlisted(path, ignores)
            elif path >= start and (walked := self._look(path, entry)) is not None:
                yield walked
        if at < len(paths):
            yield WalkedNames(paths[at:], None)

    def _entries(self, prefix: str, directory: int) -> _Entries:
        """List an open directory. A denied ignore file has no effect on a request."""
        found = _Entries([], [], {}, {}, True)
        files, folders, others, special, _ = found
        concealed = self._tree.concealed_inode
        guarded = self._tree.policy.active
        try:
            # Listed by descriptor, names are text; `os.fsencode` gives their bytes back.
            with os.scandir(directory) as entries:
                for entry in entries:
                    name = entry.name
                    is_file = entry.is_file(follow_symlinks=False)
                    # The concealed log is not listed; another file may have the same inode.
                    if (
                        is_file
                        and concealed is not None
                        and concealed == entry.inode()
                        and self._look(prefix + decode_entry(name), entry) is None
                    ):
                        continue
                    is_directory = not is_file and entry.is_dir(follow_symlinks=False)
                    if guarded and self._denies(prefix + decode_entry(name), is_directory):
                        continue
                    if is_file:
                        files.append(name)
                    elif is_directory:
                        folders.append(name)
                    else:
                        others[name] = entry
                    if name[0] == "." and name in _SPECIAL:
                        special[name] = entry
        except OSError:
            return found._replace(complete=False)
        return found

    def _denies(self, path: str, is_directory: bool) -> bool:
        """Whether the policy denies a name in the current directory."""
        return self._tree.policy.denies(path, is_directory=is_directory) or (
            self._denied is not None and self._denied.deny(raw(path, "path"), is_directory=is_directory)
        )

    def _look(self, path: str, entry: "os.DirEntry[str]") -> WalkedNames | None:
        """Classify a link, a special file, or a file with the log's inode. None: it is as good as absent."""
        try:
            place = self._tree.place(path)
        except Denied:
            return None
        except (OutsideRoot, PermissionDenied):
            place = Place(path, None)
        if place.entry is None and entry.is_file(follow_symlinks=False):
            return None
        return WalkedNames([path], None if place.is_file else LINKED if place.is_folder else NOT_REGULAR)
