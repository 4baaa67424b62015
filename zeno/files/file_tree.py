"""The interface of the files that operations see. `Tree` is one root, `Roots` are several with names."""

import os
from typing import NamedTuple, Protocol

from zeno.files.open_file import File
from zeno.files.policy import Policy


class Place(NamedTuple):
    """A resolved path and the status of its end."""

    path: str
    """Relative to the root with links resolved; the root is `.`."""
    status: os.stat_result | None
    """Its status; None if nothing is there."""


class FileTree(Protocol):
    """The files that operations see."""

    @property
    def names(self) -> list[str]:
        """Names of the roots, sorted; empty where one root is served without a name."""
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
        """Look up a path; `status` is None if nothing is there. Raises OutsideRoot, Denied or PermissionDenied."""
        ...

    def open(self, path: str, field: str = "path") -> File:
        """Open a regular file. Raises NotFound, NotAFile, OutsideRoot, Denied or PermissionDenied."""
        ...

    def inside(self, path: bytes) -> list[bytes] | None:
        """Return the components of an absolute path as requests give them, or None if it leads under no root."""
        ...

    def covered_by(self, path: bytes) -> list[str]:
        """Return the directories of this tree that an absolute path covers: the one it leads to, or every root below.

        The tree as a whole is `.`. Empty if the path leads to no directory under a root.
        """
        ...

    def under(self, policy: Policy) -> "FileTree":
        """Return this tree under another policy. It uses the same open roots, and must not be closed."""
        ...

    def load_openat2(self) -> None:
        """Load openat2, which makes operations on single paths faster."""
        ...

    def conceal(self, descriptor: int) -> None:
        """Treat the file behind this descriptor as missing under every name."""
        ...

    def close(self) -> None:
        """Close the roots."""
        ...
