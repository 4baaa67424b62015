"""The interface of the files that operations see. `Tree` is one root, `Roots` are several with names."""

import os
import stat
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, Self

from zeno.files.batch_open import FILE, FOLDER, OTHER, BatchReader
from zeno.files.open_file import TextFile
from zeno.files.policy import Policy


class Entry(NamedTuple):
    """A file, a directory or something else in a tree."""

    kind: str
    """`FILE`, `FOLDER` or `OTHER`."""
    size: int
    """In bytes, as the tree has it."""
    mtime_ns: int
    """When it was last modified, in nanoseconds since 1970."""

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Return the entry with a status, whose links are resolved."""
        mode = status.st_mode
        kind = FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else OTHER
        return cls(kind, status.st_size, status.st_mtime_ns)


class Place(NamedTuple):
    """A resolved path and what is there."""

    path: str
    """Relative to the root with links resolved; the root is `.`."""
    entry: Entry | None
    """None if nothing is there."""

    @property
    def is_file(self) -> bool:
        return self.entry is not None and self.entry.kind == FILE

    @property
    def is_folder(self) -> bool:
        return self.entry is not None and self.entry.kind == FOLDER


class SearchedTree(Protocol):
    """A tree whose files are read one after the other, for a search."""

    def batch_opener(self) -> AbstractContextManager[BatchReader]:
        """Open many files; fastest in the order of their paths."""
        ...

    def open(self, path: str, field: str = "path") -> TextFile:
        """Open a regular file; see `FileTree.open`."""
        ...


class FileTree(Protocol):
    """The files that operations see."""

    @property
    def names(self) -> list[str]:
        """Names of the roots, sorted; empty where one root is served without a name."""
        ...

    @property
    def rev(self) -> str | None:
        """The id of the commit whose tree this is; None for directories."""
        ...

    @property
    def policy(self) -> Policy:
        """The names that are never shown."""
        ...

    @property
    def descriptors(self) -> list[int]:
        """The descriptors of the open roots."""
        ...

    def place(self, path: str, field: str = "path") -> Place:
        """Look up a path; `entry` is None if nothing is there. Raises OutsideRoot, Denied or PermissionDenied."""
        ...

    def open(self, path: str, field: str = "path") -> TextFile:
        """Open a regular file. Raises NotFound, NotAFile, OutsideRoot, Denied or PermissionDenied."""
        ...

    def inside(self, path: bytes) -> list[bytes] | None:
        """Return the components of an absolute path as requests give them, or None if it leads under no root."""
        ...

    def find_covered(self, path: bytes) -> list[str]:
        """Return the directories of this tree that an absolute path covers: the one it leads to, or every root below.

        The tree as a whole is `.`. Empty if the path leads to no directory under a root.
        """
        ...

    def under(self, policy: Policy) -> "FileTree":
        """Return this tree under another policy. It uses the same open roots, and must not be closed."""
        ...
