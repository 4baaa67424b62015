"""The interface of the files that operations see. `Tree` is one root, `Roots` are several with names."""

import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from zeno.files.batch_open import FILE, FOLDER, OTHER, NoBytes
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
        """Whether a regular file is there."""
        return self.entry is not None and self.entry.kind == FILE

    @property
    def is_folder(self) -> bool:
        """Whether a directory is there."""
        return self.entry is not None and self.entry.kind == FOLDER


class TextFile(Protocol):
    """An open file, or one whose text is in memory. Use what was read of it only after its `with` statement."""

    path: str
    size: int
    bytes_read: int

    @property
    def is_normal(self) -> bool:
        """Whether its chunks are in normal form (see `zeno.text.file_lines.normal`)."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    @property
    def no_text(self) -> NoBytes | None:
        """Why the file is no text; None for text."""
        ...

    def require_text(self) -> None:
        """Raise NotAFile if the file is no text."""
        ...

    def chunks(self) -> Iterator[bytes]:
        """Yield the content in chunks."""
        ...

    def chunks_backwards(self) -> Iterator[bytes]:
        """Yield the content in chunks, the last one first."""
        ...

    def read_text(self) -> bytes:
        """Return the whole text in normal form."""
        ...


class BatchReader(Protocol):
    """Reads many files of one tree; see `zeno.files.batch_open.BatchOpener`."""

    @property
    def doubtful(self) -> list[bytes]:
        """Directories that were moved while files in them were read."""
        ...

    def close(self) -> None:
        """Close all files and directories."""
        ...

    def is_in_place(self) -> bool:
        """Whether the file read last is still at its path."""
        ...

    def fill(self, path: bytes, limit: int, buffer: bytearray, *, whole: bool = True) -> int | bytes | NoBytes:
        """Read a regular file into a buffer; return the number of bytes, the bytes, or why there are none."""
        ...


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

    def speed_up_lookups(self) -> None:
        """Make operations on single paths faster, at a cost of some milliseconds once."""
        ...

    def conceal(self, descriptor: int) -> None:
        """Treat the file behind this descriptor as missing under every name."""
        ...

    def close(self) -> None:
        """Close the roots."""
        ...
