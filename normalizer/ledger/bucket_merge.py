"""Merge the new lines of a run into the buckets below one prefix. Several processes or machines can share the work.

Everything above the prefix of a task is split for certain, so that what a task writes depends on nothing outside of it.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge as merge_sorted
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from normalizer.errors import CannotRun
from normalizer.ledger import buckets
from normalizer.ledger.buckets import DIGITS, Chunk, chunks, split
from normalizer.ledger.commit_record import LineFile, line_file
from normalizer.ledger.commit_tree import CommitTree
from normalizer.ledger.integrity import Intact
from normalizer.ledger.line_format import holds_comparisons, read_promise, sha_slice
from normalizer.ledger.reader import STAGING
from normalizer.ledger.record_index import make_index

T = TypeVar("T")
_PART_DIGITS = 2
"""Digits of the hash that name a staged file of new lines."""


class MergeTask(NamedTuple):
    """The lines of one kind below one prefix."""

    kind: str
    below: str


@dataclass(slots=True)
class Merged:
    """The files that a task wrote and those it replaces, and the counts in new headers, less those in replaced ones.

    It is small: a file of lines is some 200 bytes here.
    """

    kind: str
    written: list[LineFile] = field(default_factory=list)
    removed: set[LineFile] = field(default_factory=set)
    entries: int = 0
    valid: int = 0
    invalid: int = 0
    holds: set[bool] = field(default_factory=set)
    """Whether bundles that are added hold comparisons."""

    def note_lines(self, content: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield new lines as they are; what headers promise is noted."""
        for chunk in content:
            if self.kind == "headers":
                self.note(chunk.data, 1)
                self.holds.add(holds_comparisons(chunk.data))
            yield chunk

    def note(self, line: bytes, sign: int) -> None:
        """Add or take away what a line promises, if it is a header."""
        if self.kind != "headers":
            return
        counts = read_promise(line)
        if counts is None:
            raise CannotRun("a header is not one of ours: was the ledger edited? Nothing was changed")
        self.entries += sign * counts.entries
        self.valid += sign * counts.valid
        self.invalid += sign * counts.invalid


def plan_merge(folder: Path, tree: CommitTree, kind: str, *, replace: bool) -> Iterator[MergeTask]:
    """Yield the tasks of one kind that change something. A ledger without any file of a kind gets one, if only an empty
    one."""
    sizes = {
        part.name.partition(".")[0]: part.stat().st_size for part in (folder / STAGING / "parts").glob(f"*.{kind}")
    }
    given = os.listdir(folder / STAGING / "incoming") if replace else []

    def plan(prefix: str, divided: bool) -> Iterator[MergeTask]:
        """`divided`: a file with lines below the prefix, and beside it, is split by this run."""
        if not divided and not any(name.startswith(prefix) for name in (*sizes, *given)):
            return
        size = sum(length for name, length in sizes.items() if name.startswith(prefix))
        # Lines that are there may be replaced by none; otherwise they stay.
        size += 0 if replace else tree.bytes_below(kind, prefix)
        if len(prefix) < _PART_DIGITS and size > buckets.BUCKET_BYTES:
            for digit in DIGITS:
                yield from plan(prefix + digit, divided or bool(tree.files_of(kind, prefix)))
        else:
            yield MergeTask(kind, prefix)

    yield from plan("", divided=not tree.total(kind).files)


def merge_bucket(folder: Path, task: MergeTask, *, replace: bool) -> Merged:
    """Write the next state of the buckets of a task into the staging folder. Done twice, it gives the same bytes."""
    return _Merger(folder, task, replace).merge()


def write_again(path: Path, data: bytes) -> None:
    """Write a file that another attempt of the task may have written, and that may be committed by now.

    The file is not emptied first: its bytes are overwritten by equal ones, so that it is whole all the time.
    """
    with open(path, "wb", buffering=0, opener=lambda name, flags: os.open(name, flags & ~os.O_TRUNC, 0o666)) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        file.truncate()


class _Merger:
    def __init__(self, folder: Path, task: MergeTask, replace: bool) -> None:
        self._root = folder / STAGING
        self._kind, self._below = task
        self._replace = replace
        self._intact = Intact(folder)
        self._tree = self._intact.tree
        self._merged = Merged(task.kind)

    def merge(self) -> Merged:
        kind = self._kind
        fresh = _Ahead(chunks(kind, self._read_fresh()), lambda chunk: chunk.sha256)
        given = _Ahead(self._list_given() if self._replace else iter(()), str)
        above = [file for file in self._tree.files_of(kind, self._below) if file.place.prefix != self._below]
        if above or not (self._tree.total(kind).files or fresh.sha256):
            self._arrange(self._below, above, fresh, given)
            return self._merged
        touched = self._find_touched() if self._replace else {}
        while heads := [sha256 for sha256 in (fresh.sha256, given.sha256) if sha256]:
            region = max(self._region(min(heads), touched), self._below, key=len)
            self._arrange(region, list(self._tree.files(kind, region)), fresh, given)
        return self._merged

    def _arrange(self, region: str, files: list[LineFile], fresh: "_Ahead[Chunk]", given: "_Ahead[str]") -> None:
        """Write everything below a prefix that stays or is new; `files` have what is there."""
        self._merged.removed.update(files)
        present = chunks(self._kind, self._read_present(region, files, set(given.below(region))))
        new = self._merged.note_lines(fresh.below(region))
        for place, data in split(self._kind, region, merge_sorted(present, new, key=lambda chunk: chunk.sha256)):
            write_again(self._root / "new" / place.name, data)
            index = None
            if place.index_name is not None:
                index = make_index(data)
                write_again(self._root / "new" / place.index_name, index)
            self._merged.written.append(line_file(place, data, index))

    def _read_present(self, region: str, files: list[LineFile], replaced: set[str]) -> Iterator[bytes]:
        """Yield the lines below a prefix that stay."""
        where = sha_slice(self._kind)
        for line in self._intact.lines(self._kind, files):
            sha256 = line[where].decode()
            if sha256 in replaced:
                self._merged.note(line, -1)
            elif sha256.startswith(region):
                yield line

    def _read_fresh(self) -> Iterator[bytes]:
        """Yield the new lines below the prefix, in order."""
        for name in sorted(os.listdir(self._root / "parts")):
            if name.startswith(self._below) and name.endswith(f".{self._kind}"):
                with (self._root / "parts" / name).open("rb") as file:
                    yield from file

    def _list_given(self) -> Iterator[str]:
        """Yield the hashes of the bundles below the prefix that the run was given, in order."""
        for bucket in sorted(os.listdir(self._root / "incoming")):
            if bucket.startswith(self._below):
                yield from (name.removesuffix(".json") for name in sorted(os.listdir(self._root / "incoming" / bucket)))

    def _region(self, sha256: str, touched: dict[str, int]) -> str:
        """Return the prefix of everything that may have to be arranged anew for a bundle.

        Adding lines can only split their bucket. Where lines are replaced by fewer ones, buckets come together again:
        so this goes up as long as what stays untouched there fits into one bucket.
        """
        region = self._tree.region(self._kind, sha256)
        while touched and region:
            above = region[:-1]
            changed = sum(size for prefix, size in touched.items() if prefix.startswith(above))
            if self._tree.bytes_below(self._kind, above) - changed > buckets.BUCKET_BYTES:
                break
            region = above
        return region

    def _find_touched(self) -> dict[str, int]:
        """Return the buckets, with their bytes, that bundles of the run are in or may come into."""
        found: dict[str, int] = {}
        region: str | None = None
        for sha256 in self._list_given():
            if region is None or not sha256.startswith(region):
                region = self._tree.region(self._kind, sha256)
                found[region] = sum(file.bytes for file in self._tree.files_of(self._kind, sha256))
        return found


class _Ahead(Generic[T]):
    """Items in the order of their hashes, of which the next can be looked at."""

    def __init__(self, items: Iterator[T], hash_of: Callable[[T], str]) -> None:
        self._items, self._hash_of = items, hash_of
        self._next = next(items, None)

    @property
    def sha256(self) -> str:
        """The hash of the next item; empty after the last."""
        return "" if self._next is None else self._hash_of(self._next)

    def below(self, prefix: str) -> Iterator[T]:
        """Yield the next items whose hashes begin so. The first that does not stays."""
        while self._next is not None and self._hash_of(self._next).startswith(prefix):
            item = self._next
            self._next = next(self._items, None)
            yield item
