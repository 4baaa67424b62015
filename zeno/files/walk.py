"""Walk the tree: yield every name under the root in the order of whole paths, with the reason if it is no file.

Directories are opened by descriptor, one below the other, and never through a link. Names count only if the directory
was still at its path after it was listed.
"""

import os
from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from zeno.errors import Denied, OutsideRoot, PermissionDenied
from zeno.files.batch_open import BatchOpener
from zeno.files.file_tree import Place
from zeno.files.location import MAX_LISTED_PATH
from zeno.files.resolve import NOWHERE
from zeno.files.rules import RULING, NameRules, denies, read_rules
from zeno.files.tree import Tree
from zeno.text.gitignore import Ignores
from zeno.text.path_names import decode_entry, raw

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
    """The ignore rules around it; None where none are asked for."""
    denying: Ignores | None = None
    """Those by which the policy denies names; None where it does not."""


class _Entries(NamedTuple):
    """The entries of one directory, by name as `os.scandir` decodes it, without denied names."""

    files: list[str]
    folders: list[str]
    others: "dict[str, os.DirEntry[str]]"
    """Links and what else is neither file nor directory."""
    ruling: list[str]
    """Names that may make ignore rules."""
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
    with tree.batch_opener() as opener:
        walk = _Walk(tree, rules, start, opener)
        levels: list[Iterator[WalkedNames | Unlisted]] = [iter([first or begin_walk(tree, rules)])]
        while levels:
            found = next(levels[-1], None)
            if found is None:
                levels.pop()
            elif isinstance(found, Unlisted):
                levels.append(walk.names_in(found))
            else:
                yield found


def begin_walk(tree: Tree, rules: NameRules) -> Unlisted:
    """Return the root, with which a walk begins."""
    return Unlisted("", rules.begin(), Ignores() if tree.policy.ignored else None)


def list_level(tree: Tree, rules: NameRules, items: list[WalkedNames | Unlisted]) -> list[WalkedNames | Unlisted]:
    """Replace each directory by what is in it, in the order of a walk."""
    with tree.batch_opener() as opener:
        walk = _Walk(tree, rules, "", opener)
        return [found for item in items for found in (walk.names_in(item) if isinstance(item, Unlisted) else (item,))]


class _Walk:
    def __init__(self, tree: Tree, rules: NameRules, start: str, opener: BatchOpener) -> None:
        self._tree = tree
        self._rules = rules
        self._start = start
        self._opener = opener

    def names_in(self, directory: Unlisted) -> Iterator[WalkedNames | Unlisted]:
        """Return what is in a directory, in order; first the directory itself if not all of it could be read."""
        path = raw(directory.path[:-1], "path")
        level: Iterator[WalkedNames | Unlisted] = iter(())
        complete = False
        try:
            if len(path) <= MAX_LISTED_PATH:
                level, complete = self._opener.list_folder(path, partial(self._list, directory))
        except OSError as error:
            # A directory that was removed meanwhile counts as if it had never existed.
            complete = error.errno in NOWHERE
        return level if complete else chain([WalkedNames([directory.path or "./"], UNREADABLE)], level)

    def _list(self, found: Unlisted, directory: int) -> tuple[Iterator[WalkedNames | Unlisted], bool]:
        """List an open directory. Also return whether everything in it could be read."""
        path, ignores, denying = found
        location, base = self._tree.location, b""
        if denying is not None:
            base = raw(path, "path")
            denying, complete = read_rules(denying, base, directory, location)
            # If an ignore file cannot be read, everything in its directory is denied.
            if not complete:
                return iter(()), True
        entries = self._entries(path, directory, denying)
        complete = entries.complete
        if ignores is not None:
            base = raw(path, "path")
            ignores, all_read = read_rules(ignores, base, directory, location, entries.ruling)
            complete = complete and all_read
        return self._in_order(entries, Unlisted(path, ignores, denying), base), complete

    def _in_order(self, found: _Entries, around: Unlisted, base: bytes) -> Iterator[WalkedNames | Unlisted]:
        """Yield the names in a directory: those that the rules leave out first, all others in order."""
        prefix, ignores, denying = around
        files, folders, others = found.files, found.folders, found.others
        # No other rule is about files with plain names, which are most.
        ruled = files if ignores is not None else [name for name in files if name[0] == "."]
        entries = [(name, False) for name in ruled] + [(name, True) for name in folders]
        if others:
            entries += [(name, False) for name in others]
        left_out = self._rules.leave_out(entries, base, ignores)
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
                    yield Unlisted(path, ignores, denying)
            elif path >= start and (walked := self._look(path, entry)) is not None:
                yield walked
        if at < len(paths):
            yield WalkedNames(paths[at:], None)

    def _entries(self, prefix: str, directory: int, denying: Ignores | None) -> _Entries:
        """List an open directory. A denied ignore file has no effect on a request."""
        found = _Entries([], [], {}, [], True)
        files, folders, others, ruling, _ = found
        concealed = self._tree.log_inode
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
                    if guarded and self._denies(prefix + decode_entry(name), is_directory, denying):
                        continue
                    if is_file:
                        files.append(name)
                    elif is_directory:
                        folders.append(name)
                    else:
                        others[name] = entry
                    if name[0] == "." and name in RULING:
                        ruling.append(name)
        except OSError:
            return found._replace(complete=False)
        return found

    def _denies(self, path: str, is_directory: bool, denying: Ignores | None) -> bool:
        """Whether the policy denies a name, given the ignore rules by which it does."""
        return self._tree.policy.denies(path, is_directory=is_directory) or (
            denying is not None and denies(denying, raw(path, "path"), is_directory)
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
