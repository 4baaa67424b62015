"""The tree of a commit as operations see it: what is at a path, and the bytes of a file. Nothing is checked out."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import ClassVar, NamedTuple, Self

from zeno.errors import Denied, NotAFile, NotFound, ObjectUnavailable, OutsideRoot
from zeno.files.absolute_paths import MAX_LINKS
from zeno.files.batch_open import FILE
from zeno.files.batch_open import FOLDER as A_FOLDER
from zeno.files.file_tree import Entry, Place
from zeno.files.open_file import HeldFile
from zeno.files.policy import DENIED, Policy
from zeno.files.resolve import MAX_LINK_COMPONENTS, join_missing
from zeno.files.tree import Tree
from zeno.revisions.blob_opener import BlobOpener
from zeno.revisions.objects import Unavailable
from zeno.revisions.trees import FOLDER, LINK, SUBMODULE, Commit, TreeEntry, Trees
from zeno.text.gitignore import IGNORE_FILES, MAX_FILE_BYTES, Ignores
from zeno.text.path_names import decode_name, raw

MAX_LINK = 4095
"""Bytes of a link: no checkout can have a longer one."""


class _Found(NamedTuple):
    """The end of a path: what is there, if anything."""

    path: str
    entry: TreeEntry | None


class InSubmodule(ObjectUnavailable):
    """A path that leads into a submodule."""

    def __init__(self, path: str, place: bytes, commit: bytes, rest: bytes) -> None:
        """Take the path of the submodule, the commit that it is fixed to, and the path that is left inside it."""
        super().__init__(path, f"it is in the submodule {decode_name(place)!r}, not in the commit")
        self.place = place
        self.commit = commit
        self.rest = decode_name(rest)


class LeadsOut(OutsideRoot):
    """A path that leads out of a tree: of a submodule's, it may be below the root all the same."""

    def __init__(self, path: str, rest: bytes, *, from_root: bool) -> None:
        """Take the path that is left, from the top of the tree or from the root."""
        super().__init__(path)
        self.rest = rest
        self.from_root = from_root


class CommitTree:
    """The files of one commit. `root` maps absolute paths, as those of requests are given."""

    names: ClassVar[list[str]] = []
    """One root needs no name."""

    def __init__(self, root: Tree, trees: Trees, commit: Commit) -> None:
        self._root = root
        self.trees = trees
        self.commit = commit
        self.policy = root.policy
        self._is_submodule = False

    @property
    def descriptors(self) -> list[int]:
        """The descriptor of the root."""
        return self._root.descriptors

    @property
    def rev(self) -> str | None:
        """The id of the commit."""
        return self.commit.id.hex()

    @property
    def mtime_ns(self) -> int:
        """The time of every file: the commit's."""
        return self.commit.time * 10**9

    def under(self, policy: Policy) -> Self:
        """Return this tree under another policy."""
        tree = copy(self)
        tree.policy = policy
        return tree

    def in_submodule(self, trees: Trees, commit: Commit) -> Self:
        """Return the tree of a submodule's commit, to which the policy does not apply: its paths begin below it."""
        tree = self.under(Policy())
        tree.trees, tree.commit, tree._is_submodule = trees, commit, True
        return tree

    def inside(self, path: bytes) -> list[bytes] | None:
        """Return the components of an absolute path below the root, or None if it does not lead under the root."""
        return self._root.inside(path)

    def find_covered(self, path: bytes) -> list[str]:
        """Return the directories of the root that an absolute path covers."""
        return self._root.find_covered(path)

    # One path

    def place(self, path: str, field: str = "path") -> Place:
        """Look up a path; `entry` is None if nothing is there. Raises OutsideRoot, Denied or ObjectUnavailable."""
        found = self.follow(path, field)
        if found.entry is None:
            return Place(found.path, None)
        if not found.entry.is_file:
            return Place(found.path, Entry(A_FOLDER, 0, self.mtime_ns))
        with _name_errors(path):
            return Place(found.path, Entry(FILE, self.trees.objects.blob_size(found.entry.id), self.mtime_ns))

    def open(self, path: str, field: str = "path") -> HeldFile:
        """Return a regular file. Raises NotFound, NotAFile, OutsideRoot, Denied or ObjectUnavailable."""
        found = self.follow(path, field)
        if found.entry is None:
            raise NotFound(path)
        if not found.entry.is_file:
            raise NotAFile(path, "a directory" if found.entry.mode == FOLDER else "a submodule")
        with _name_errors(path):
            return HeldFile(found.path, self.trees.objects.read_blob(found.entry.id))

    @contextmanager
    def batch_opener(self) -> Iterator[BlobOpener]:
        """Read many files; fastest in the order of their paths."""
        yield BlobOpener(self.trees.objects, self.find_folder)

    def find_folder(self, path: bytes) -> Mapping[bytes, TreeEntry] | None:
        """Return the entries of a directory by its path without links; None if there is none. Raises Unavailable."""
        folder = self.trees.read(self.commit.tree)
        for name in path.split(b"/") if path else ():
            entry = folder.get(name)
            if entry is None or entry.mode != FOLDER:
                return None
            folder = self.trees.read(entry.id)
        return folder

    def follow(self, path: str, field: str = "path") -> _Found:
        """Resolve a path, links included, as `zeno.files.resolve` does on disk. Raises what `place` raises."""
        with _name_errors(path):
            found = self._resolve(path, raw(path, field))
        if found.entry is None and found.path != "." and self.policy.denies(found.path, is_directory=False):
            raise Denied(path)
        return found

    def _resolve(self, path: str, target: bytes) -> _Found:
        names: list[bytes] = []
        above = [TreeEntry(FOLDER, self.commit.tree)]
        """The directories from the root to the current one."""
        todo = deque(self._components(path, target, self.inside))
        links = added = 0
        while todo:
            name = todo.popleft()
            if name in (b"", b"."):
                continue
            if name == b"..":
                if not names:
                    raise LeadsOut(path, b"/".join([name, *todo]), from_root=False)
                names.pop()
                above.pop()
                continue
            if above[-1].mode == SUBMODULE:
                raise InSubmodule(path, b"/".join(names), above[-1].id, b"/".join([name, *todo]))
            place = b"/".join([*names, name])
            if self.policy.active and self.policy.verdict(decode_name(place)) == DENIED:
                raise Denied(path)
            entry = self.trees.read(above[-1].id).get(name)
            self._require_allowed(path, names, name, entry)
            if entry is None:
                return _Found(join_missing(path, names, name, todo), None)
            if entry.mode == LINK:
                link = self.trees.objects.read_blob(entry.id, MAX_LINK)
                links, added = links + 1, added + link.count(b"/") + 1
                if links > MAX_LINKS or added > MAX_LINK_COMPONENTS:
                    return _Found(join_missing(path, names, name, todo), None)
                todo.extendleft(reversed(self._components(path, link, self._root.inside_by_name)))
                if link.startswith(b"/"):
                    del names[:], above[1:]
                    if self._is_submodule:
                        raise LeadsOut(path, b"/".join(todo).lstrip(b"/"), from_root=True)
            elif not entry.is_file:
                names.append(name)
                above.append(entry)
            elif todo:
                return _Found(join_missing(path, names, name, todo), None)
            else:
                return _Found(decode_name(place), entry)
        return _Found(decode_name(b"/".join(names)) if names else ".", above[-1])

    def _components(self, path: str, target: bytes, inside: Callable[[bytes], list[bytes] | None]) -> list[bytes]:
        below = inside(target) if target.startswith(b"/") else target.split(b"/")
        if below is None:
            raise OutsideRoot(path)
        return below

    # The policy and ignore rules

    def _require_allowed(self, path: str, names: list[bytes], name: bytes, entry: TreeEntry | None) -> None:
        """Raise Denied for a component that the policy denies; the absence of one is not revealed."""
        if not self.policy.active:
            return
        place = b"/".join([*names, name])
        is_folder = entry is not None and entry.mode in (FOLDER, SUBMODULE)
        if self.policy.denies(decode_name(place), is_directory=is_folder):
            raise Denied(path)
        if self.policy.ignored:
            rules = self._rules_on(names)
            kinds = (is_folder,) if entry is not None else (True, False)
            if rules is None or any(rules.leave_out(place, kind) for kind in kinds):
                raise Denied(path)

    def _rules_on(self, names: list[bytes]) -> Ignores | None:
        """Return the ignore rules in a directory; None if an ignore file on the way cannot be read."""
        rules = Ignores()
        for depth in range(len(names) + 1):
            base = b"".join(name + b"/" for name in names[:depth])
            folder = self.find_folder(base[:-1])
            rules, complete = self.rules_inside(rules, base, folder or {})
            if not complete:
                return None
        return rules

    def rules_inside(self, around: Ignores, base: bytes, folder: Mapping[bytes, TreeEntry]) -> tuple[Ignores, bool]:
        """Return the ignore rules inside a directory, and whether all its ignore files could be read."""
        texts: dict[str, bytes] = {}
        complete = True
        for name in IGNORE_FILES:
            entry = folder.get(os.fsencode(name))
            if entry is None or not entry.is_file:
                continue
            if self.policy.active and self.policy.denies(decode_name(base) + name, is_directory=False):
                continue
            try:
                texts[name] = self.trees.objects.read_blob(entry.id, MAX_FILE_BYTES)
            except Unavailable:
                complete = False
        try:
            return around.enter(base, texts, None, is_repository=False), complete
        except OSError:
            return around.enter(base, {}, None, is_repository=False), False


@contextmanager
def _name_errors(path: str) -> Iterator[None]:
    """Tell an object that is not available as an error about a path."""
    try:
        yield
    except Unavailable as error:
        raise ObjectUnavailable(path, str(error)) from None
