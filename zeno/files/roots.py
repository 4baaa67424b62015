"""Several roots as one tree, whose first level are their names.

Each root is confined by itself: a path or a link that leaves it is outside, even if it leads into another root. The
first level is no directory of a file system; its size and its time are 0.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import ClassVar, Generic, Self, TypeVar

from zeno.errors import Denied, NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.files.batch_open import FOLDER
from zeno.files.file_tree import Entry, FileTree, Place
from zeno.files.open_file import TextFile
from zeno.files.policy import DENIED, Policy
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import Walked, walk
from zeno.text.path_names import decode_name, raw

T = TypeVar("T", bound=FileTree)

TOP = Entry(FOLDER, 0, 0)
"""The first level."""


class Nested(Exception):
    """Two roots of which one is inside the other, or both are one directory."""

    def __init__(self, outer: str, inner: str) -> None:
        super().__init__(f"the root {inner!r} is inside the root {outer!r}; every file must have one path")


class NamedTrees(ABC, Generic[T]):
    """Trees by name: those of open roots, or of their commits. The policy's globs match paths that begin with the
    name."""

    def __init__(self, names: list[str], trees: dict[str, T], policy: Policy) -> None:
        self.names = names
        """Sorted."""
        self.trees = trees
        """In the order of paths below them: as if their names ended in a slash."""
        self.policy = policy

    def place(self, path: str, field: str = "path") -> Place:
        name, rest = self._divide(path, field)
        if name is None:
            return Place(".", TOP)
        if name not in self.trees:
            return Place(name if rest == "." else f"{name}/{rest}", None)
        with _errors_naming(path):
            found = self.trees[name].place(rest, field)
        return Place(name if found.path == "." else f"{name}/{found.path}", found.entry)

    def open(self, path: str, field: str = "path") -> TextFile:
        name, rest = self._divide(path, field)
        if name is None:
            raise NotAFile(path, "a directory")
        if name not in self.trees:
            raise NotFound(path)
        with _errors_naming(path):
            file = self.trees[name].open(rest, field)
        file.path = f"{name}/{file.path}"
        return file

    @abstractmethod
    def inside(self, path: bytes) -> list[bytes] | None:
        """Return the components of an absolute path, the name of its root first; None if it leads under no root."""

    def _divide(self, path: str, field: str) -> tuple[str | None, str]:
        """Divide a path into the name of a root and the path below it; None and `.` for the first level.

        Raises OutsideRoot for a path that leaves the first level, and Denied for a name that the policy denies.
        """
        name = raw(path, field)
        if name.startswith(b"/"):
            below = self.inside(name)
            if below is None:
                raise OutsideRoot(path)
            steps = list(map(decode_name, below))
        else:
            steps = path.split("/")
        while steps and steps[0] in ("", "."):
            del steps[0]
        if not steps:
            return None, "."
        first, *rest = steps
        if first == "..":
            raise OutsideRoot(path)
        if first not in self.trees:
            return first, self._name_missing(path, first, rest)
        if self.policy.active and self.policy.verdict(first) == DENIED:
            raise Denied(path)
        # A slash at the end matters, one at the beginning would make it absolute.
        return first, "/".join(rest).lstrip("/") or "."

    def _name_missing(self, path: str, name: str, steps: list[str]) -> str:
        """Return the path below a name that no root has. Raises OutsideRoot and Denied like a missing directory."""
        depth = 1
        for step in steps:
            depth += {"": 0, ".": 0, "..": -1}.get(step, 1)
            if depth < 0:
                raise OutsideRoot(path)
        rest = "/".join(step for step in steps if step not in ("", "."))
        for one in (name, f"{name}/{rest}".rstrip("/")) if self.policy.active else ():
            if self.policy.denies(one, is_directory=False):
                raise Denied(path)
        return rest or "."


class Roots(NamedTrees[Tree]):
    """Open roots by name.

    Raises OSError for a directory that cannot be opened, with its name in `filename`, and Nested.
    """

    rev: ClassVar[str | None] = None
    """They are no commit."""

    def __init__(self, directories: Mapping[str, str], policy: Policy | None = None) -> None:
        super().__init__(sorted(directories), {}, policy or Policy())
        with ExitStack() as stack:
            for name in sorted(directories, key=lambda name: f"{name}/"):
                self.trees[name] = stack.enter_context(Tree(directories[name], self.policy.below(name)))
            _require_apart(directories)
            stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for tree in self.trees.values():
            tree.close()

    @property
    def descriptors(self) -> list[int]:
        return [tree.descriptor for tree in self.trees.values()]

    def conceal(self, descriptor: int) -> None:
        for tree in self.trees.values():
            tree.conceal(descriptor)

    def under(self, policy: Policy) -> "Roots":
        roots = copy(self)
        roots.policy = policy
        roots.trees = {name: tree.under(policy.below(name)) for name, tree in self.trees.items()}
        return roots

    def inside(self, path: bytes) -> list[bytes] | None:
        # All names first: a link in one root that leads to another is outside.
        for look in (Tree.inside_by_name, Tree.inside):
            for name, tree in self.trees.items():
                below = look(tree, path)
                if below is not None:
                    return [name.encode(), *below]
        return None

    def find_covered(self, path: bytes) -> list[str]:
        found: list[str] = []
        for name, tree in self.trees.items():
            found += [name if one == "." else f"{name}/{one}" for one in tree.find_covered(path)]
        return found


def walk_all(tree: FileTree, *, include_hidden: bool) -> Iterator[Walked]:
    """Walk a root, or several one after the other; see `walk`."""
    if isinstance(tree, Tree):
        yield from walk(tree, NameRules(include_hidden))
    elif isinstance(tree, Roots):
        for name, root in tree.trees.items():
            if tree.policy.verdict(name) != DENIED:
                for found in walk(root, NameRules(include_hidden)):
                    yield Walked(f"{name}/{found.path.removeprefix('./')}", found.problem)


@contextmanager
def _errors_naming(path: str) -> Iterator[None]:
    """Make errors name the path as the request gave it, with the name of its root."""
    try:
        yield
    except OutsideRoot:
        raise OutsideRoot(path) from None
    except Denied:
        raise Denied(path) from None
    except NotFound as error:
        raise NotFound(path, error.why) from None
    except NotAFile as error:
        raise NotAFile(path, error.what) from None
    except PermissionDenied as error:
        # One of its kinds is an object that is not available.
        raise type(error)(path, error.why) from None


def _require_apart(directories: Mapping[str, str]) -> None:
    """Raise Nested if a root is inside another."""
    real = {name: os.path.realpath(directory) for name, directory in directories.items()}
    for outer in real:
        for inner in real:
            if outer != inner and f"{real[inner]}/".startswith(f"{real[outer].rstrip('/')}/"):
                raise Nested(directories[outer], directories[inner])
