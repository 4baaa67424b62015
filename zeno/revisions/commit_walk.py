"""List the names of a commit by the rules of a request, with the result that a walk of a checkout would have."""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from zeno.errors import Denied, ObjectUnavailable, OutsideRoot
from zeno.files.location import MAX_LISTED_PATH
from zeno.files.rules import NameRules
from zeno.files.walk import LINKED, NOT_REGULAR, UNREADABLE, Walked, WalkedNames
from zeno.revisions.commit_tree import CommitTree
from zeno.revisions.objects import Unavailable
from zeno.revisions.trees import FOLDER, SUBMODULE, TreeEntry
from zeno.text.gitignore import Ignores
from zeno.text.path_names import decode_name

MAX_NAMES = 1 << 20
"""A commit with more names is refused: a few directories, each many times in the one above, make billions."""

_DOT = ord(".")


class _Folder(NamedTuple):
    """A directory to be listed."""

    base: bytes
    """Its path with a slash at the end; empty for the root."""
    id: bytes
    ignores: Ignores | None
    """The ignore rules around it, where a request asks for them."""
    denying: Ignores | None
    """The ignore rules around it, where the policy denies what they ignore."""


def walk_commit(tree: CommitTree, rules: NameRules) -> Iterator[WalkedNames]:
    """Yield all names: those that a rule leaves out, those with a problem in order, and all files in order.

    Raises ObjectUnavailable.
    """
    return _Walk(tree, rules).run()


class _Walk:
    def __init__(self, tree: CommitTree, rules: NameRules) -> None:
        self._tree = tree
        self._rules = rules
        self._files: list[str] = []
        self._problems: list[Walked] = []
        self._left_out: dict[str, list[str]] = {}
        self._names = 0

    def run(self) -> Iterator[WalkedNames]:
        denying = Ignores() if self._tree.policy.ignored else None
        todo = [_Folder(b"", self._tree.commit.tree, self._rules.begin(), denying)]
        while todo:
            todo += self._list(todo.pop())
        for rule, paths in self._left_out.items():
            yield WalkedNames(paths, rule)
        self._problems.sort()
        for path, problem in self._problems:
            yield WalkedNames([path], problem)
        self._files.sort()
        yield WalkedNames(self._files, None)

    def _list(self, folder: _Folder) -> list[_Folder]:
        """List one directory; return those in it that are to be listed."""
        base, tree = folder.base, self._tree
        prefix = decode_name(base)
        try:
            if len(base) > MAX_LISTED_PATH:
                raise Unavailable("a path that is too long")
            entries = tree.trees.read(folder.id)
        except Unavailable:
            self._problems.append(Walked(prefix or "./", UNREADABLE))
            return []
        self._names += len(entries)
        if self._names > MAX_NAMES:
            raise ObjectUnavailable(".", f"the commit has more than {MAX_NAMES} names")
        ignores, denying = folder.ignores, folder.denying
        if denying is not None:
            denying, complete = tree.rules_inside(denying, base, entries)
            # If an ignore file cannot be read, everything in its directory is denied.
            entries = self._leave_allowed(entries, base, denying) if complete else {}
        elif tree.policy.active:
            entries = self._leave_allowed(entries, base, None)
        if ignores is not None:
            ignores, complete = tree.rules_inside(ignores, base, entries)
            if not complete:
                self._problems.append(Walked(prefix or "./", UNREADABLE))
        without = self._leave_out(entries, base, ignores)
        below: list[_Folder] = []
        for name, entry in entries.items():
            path = prefix + decode_name(name)
            if without and name in without:
                self._left_out.setdefault(without[name], []).append(path + "/" if _is_folder(entry) else path)
            elif entry.is_file:
                self._files.append(path)
            elif entry.mode == FOLDER:
                below.append(_Folder(base + name + b"/", entry.id, ignores, denying))
            elif entry.mode == SUBMODULE:
                self._problems.append(Walked(path + "/", UNREADABLE))
            else:
                self._follow(path)
        return below

    def _leave_out(self, entries: Mapping[bytes, TreeEntry], base: bytes, ignores: Ignores | None) -> dict[bytes, str]:
        """Return the names that a rule leaves out, with the rule."""
        # Of most names it is known at once that no rule is about them.
        some = (
            (os.fsdecode(name), _is_folder(entry))
            for name, entry in entries.items()
            if ignores is not None or name[0] == _DOT or not entry.is_file
        )
        return {os.fsencode(name): rule for name, rule in self._rules.leave_out(some, base, ignores).items()}

    def _leave_allowed(
        self, entries: Mapping[bytes, TreeEntry], base: bytes, denying: Ignores | None
    ) -> Mapping[bytes, TreeEntry]:
        """Return the entries that the policy does not deny."""
        policy, prefix = self._tree.policy, decode_name(base)
        return {
            name: entry
            for name, entry in entries.items()
            if not policy.denies(prefix + decode_name(name), is_directory=_is_folder(entry))
            and not (denying is not None and denying.leave_out(base + name, _is_folder(entry)))
        }

    def _follow(self, path: str) -> None:
        """Classify a link."""
        try:
            # Its size is not asked for: a file whose object is missing is a file.
            entry = self._tree.follow(path).entry
        except Denied:
            return
        except OutsideRoot:
            entry = None
        except ObjectUnavailable:
            self._problems.append(Walked(path, UNREADABLE))
            return
        if entry is not None and entry.is_file:
            self._files.append(path)
        else:
            is_folder = entry is not None and _is_folder(entry)
            self._problems.append(Walked(path, LINKED if is_folder else NOT_REGULAR))


def list_blobs(tree: CommitTree) -> Iterator[tuple[str, bytes]]:
    """Yield the regular files of a commit with the ids of their blobs, one directory after the other."""
    todo = [(b"", tree.commit.tree)]
    names = 0
    while todo and names <= MAX_NAMES:
        base, folder = todo.pop()
        try:
            entries = tree.trees.read(folder) if len(base) <= MAX_LISTED_PATH else {}
        except Unavailable:
            continue
        names += len(entries)
        prefix = decode_name(base)
        for name, entry in entries.items():
            if entry.is_file:
                yield prefix + decode_name(name), entry.id
        # A stack, so that neighbours are stored together.
        todo += [(base + name + b"/", one.id) for name, one in [*entries.items()][::-1] if one.mode == FOLDER]


def _is_folder(entry: TreeEntry) -> bool:
    return entry.mode in (FOLDER, SUBMODULE)
