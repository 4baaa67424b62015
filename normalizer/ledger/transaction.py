"""Change a ledger in one transaction: everything or nothing.

A run writes all new files to `.staging/`, then a file COMMIT, then moves the files into place. If it is cut before
COMMIT, the ledger is unchanged and the next run starts anew; if it is cut after COMMIT, the next run completes the
moves (see `recovery`). In both cases the final bytes are those of an undisturbed run. Moves need no space, so a full
disk fails before COMMIT.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from heapq import merge as merge_sorted
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from normalizer.documents.settings import Settings
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger import buckets
from normalizer.ledger.buckets import Chunk, chunks, split
from normalizer.ledger.commit_record import LineFile, encode, line_file, node_name
from normalizer.ledger.commit_tree import Change
from normalizer.ledger.durable import sync, sync_tree
from normalizer.ledger.integrity import Intact
from normalizer.ledger.line_format import FILES, holds_comparisons, read_promise, sha_slice
from normalizer.ledger.reader import COMMIT, STAGING
from normalizer.ledger.record_index import make_index
from normalizer.ledger.recovery import commit_marker, put_in_place, recover

T = TypeVar("T")
_SETTINGS = {
    "manifest": "another manifest",
    "stated": "other values of --set",
    "rubric": "another rubric",
    "dialect": "another dialect",
    "joined": "another file as --join",
    "limits": "other limits",
    "protocol": "another protocol version",
}
"""The settings that the records of a bundle depend on, and the words for a difference in each."""


class Counts(NamedTuple):
    """How many lines a ledger's files have, and what its headers promise."""

    bundles: int
    unreadable: int
    entries: int
    valid: int
    invalid: int


class Staging:
    """Prepares the next state of a ledger and commits it. The ledger's lock must be held."""

    def __init__(self, folder: Path, settings: Settings, *, replace: bool) -> None:
        self._folder = folder
        self._settings = settings
        self._replace = replace
        self.root = folder / STAGING
        recover(folder)
        self._intact = Intact(folder)
        self.committed = False
        self._written: list[LineFile] = []
        self._removed: dict[str, list[LineFile]] = {kind: [] for kind in FILES}
        self._change = Change()

    def begin(self) -> None:
        """Create the folders of `.staging`."""
        for name in ("incoming", "known", "parts", "new", "settings"):
            (self.root / name).mkdir(parents=True)

    def has_flawed_known(self) -> bool:
        """Whether a given bundle that the ledger has already is unreadable or has INVALID records.

        Raises UnusableLedger if it was normalized under other settings.
        """
        flawed = False
        for kind in ("headers", "audit"):
            region: str | None = None
            lines: dict[str, bytes] = {}
            for sha256 in self._list_staged("known"):
                if region is None or not sha256.startswith(region):
                    region = self._intact.tree.region(kind, sha256)
                    files = self._intact.tree.files_of(kind, sha256)
                    self._intact.check_sizes(sha256)
                    lines = {line[sha_slice(kind)].decode(): line for line in self._intact.lines(kind, files)}
                if sha256 in lines:
                    item = self._intact.item(kind, lines[sha256])
                    self._same_settings(sha256, item["settings"])
                    flawed = flawed or bool(item["reasons"]) or item["invalid"] > 0
        return flawed

    def _same_settings(self, sha256: str, before: dict[str, str]) -> None:
        now = self._settings.identity
        differing = [words for name, words in _SETTINGS.items() if before.get(name) != now.get(name)]
        if differing:
            raise UnusableLedger(
                f"bundle {sha256} is in {self._folder} already, normalized with {' and '.join(differing)}: "
                "give --replace to normalize it again, or another folder as --out"
            )

    def buckets(self) -> list[str]:
        """Names of the folders with staged bundles; each is normalized on its own."""
        return sorted(os.listdir(self.root / "incoming"))

    def merge(self) -> Counts:
        """Make the next state of the buckets that the run changes, and count what the ledger will have.

        Damage is reported here, before anything has changed.
        """
        self._intact.check(self._list_staged("incoming"), self._settings.documents, replace=self._replace)
        promises, counted = _Promises(), dict[str, int]()
        for kind in FILES:
            written = self._merge(kind, promises)
            counted[kind] = sum(file.lines for file in written) - sum(file.lines for file in self._removed[kind])
            self._written += written
        self._require_one_kind(promises)
        self._require_conservation(promises, counted)
        removed = [file.place for kind in FILES for file in self._removed[kind]]
        self._change = self._intact.tree.change(removed, self._written)
        lines = {kind: total.lines for kind, total in self._change.totals.items()}
        valid, invalid = lines["records"], lines["invalid"]
        return Counts(lines["headers"], lines["audit"], valid + invalid, valid, invalid)

    def commit(self) -> None:
        """Move everything into place. All staged files are synced to disk before COMMIT is written."""
        for digest, text in self._settings.documents.items():
            (self.root / "settings" / f"{digest}.json").write_bytes(text.encode("ascii") + b"\n")
        for prefix, node in self._change.nodes.items():
            (self.root / "new" / node_name(prefix)).write_bytes(encode(node))
        marker = self.root / "marker"
        marker.write_bytes(commit_marker(self._obsolete(), replaced=self._replace))
        sync_tree(self.root)
        sync(self._folder)
        marker.rename(self.root / COMMIT)
        self.committed = True
        sync(self.root)
        put_in_place(self._folder)

    def _obsolete(self) -> list[str]:
        """Return the names of the files of lines and records that the next state has no more."""
        written = {file.place for file in self._written}
        places = {file.place for kind in FILES for file in self._removed[kind]} - written
        gone = {name for place in places for name in (place.name, place.index_name) if name is not None}
        return sorted(gone | self._change.removed)

    def discard(self) -> None:
        """Leave the ledger as it was."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _merge(self, kind: str, promises: "_Promises") -> list[LineFile]:
        """Write the next state of the buckets of one kind that change; returns what was written."""
        fresh = _Ahead(chunks(kind, self._fresh(kind)), lambda chunk: chunk.sha256)
        given = _Ahead(self._list_staged("incoming") if self._replace else iter(()), str)
        touched = self._find_touched(kind) if self._replace else {}
        written: list[LineFile] = []
        if not self._intact.tree.total(kind).files and not fresh.sha256:
            written += self._write(kind, "", iter(()))
        while heads := [sha256 for sha256 in (fresh.sha256, given.sha256) if sha256]:
            region = self._region(kind, min(heads), touched)
            replaced = set(given.below(region))
            present = chunks(kind, self._present(kind, region, replaced, promises))
            new = promises.note_lines(kind, fresh.below(region))
            written += self._write(kind, region, merge_sorted(present, new, key=lambda chunk: chunk.sha256))
        return written

    def _present(self, kind: str, region: str, replaced: set[str], promises: "_Promises") -> Iterator[bytes]:
        """Yield the lines below a prefix that stay; all files of it are noted as removed."""
        where = sha_slice(kind)
        files = list(self._intact.tree.files(kind, region))
        self._removed[kind] += files
        for line in self._intact.lines(kind, files):
            if line[where].decode() not in replaced:
                yield line
            else:
                promises.note(kind, line, -1)

    def _write(self, kind: str, region: str, content: Iterator[Chunk]) -> Iterator[LineFile]:
        for place, data in split(kind, region, content):
            (self.root / "new" / place.name).write_bytes(data)
            index = None
            if place.index_name is not None:
                index = make_index(data)
                (self.root / "new" / place.index_name).write_bytes(index)
            yield line_file(place, data, index)

    def _region(self, kind: str, sha256: str, touched: dict[str, int]) -> str:
        """Return the prefix of everything that may have to be arranged anew for a bundle.

        Adding lines can only split their bucket. Where lines are replaced by fewer ones, buckets come together again:
        so this goes up as long as what stays untouched there fits into one bucket.
        """
        region = self._intact.tree.region(kind, sha256)
        while touched and region:
            above = region[:-1]
            changed = sum(size for prefix, size in touched.items() if prefix.startswith(above))
            if self._intact.tree.bytes_below(kind, above) - changed > buckets.BUCKET_BYTES:
                break
            region = above
        return region

    def _find_touched(self, kind: str) -> dict[str, int]:
        """Return the buckets, with their bytes, that bundles of the run are in or may come into."""
        found: dict[str, int] = {}
        region: str | None = None
        for sha256 in self._list_staged("incoming"):
            if region is None or not sha256.startswith(region):
                region = self._intact.tree.region(kind, sha256)
                found[region] = sum(file.bytes for file in self._intact.tree.files_of(kind, sha256))
        return found

    def _fresh(self, kind: str) -> Iterator[bytes]:
        """Yield the new lines of a kind, in order."""
        for name in sorted(os.listdir(self.root / "parts")):
            if name.endswith(f".{kind}"):
                with (self.root / "parts" / name).open("rb") as file:
                    yield from file

    def _list_staged(self, part: str) -> Iterator[str]:
        """Yield the hashes of a part of the staging folder, in order."""
        root = self.root / part
        for bucket in sorted(os.listdir(root)):
            yield from (name.removesuffix(".json") for name in sorted(os.listdir(root / bucket)))

    def _require_one_kind(self, promises: "_Promises") -> None:
        header = self._intact.first_header() if promises.kinds else None
        if len(promises.kinds | ({holds_comparisons(header)} if header else set())) > 1:
            raise CannotRun(
                f"{self._folder} would hold both single scores and comparisons, which are never mixed: normalize "
                "bundles with per_comparison into a ledger of their own; nothing was changed"
            )

    def _require_conservation(self, promises: "_Promises", counted: dict[str, int]) -> None:
        """Raise CannotRun unless as many lines came and went as the headers that came and went promise."""
        if (promises.valid, promises.invalid) != (counted["records"], counted["invalid"]):
            raise CannotRun(
                f"conservation does not hold: the headers promise {promises.valid:+} valid and {promises.invalid:+} "
                f"invalid records, but there are {counted['records']:+} and {counted['invalid']:+} in {self._folder}; "
                "nothing was changed"
            )
        if promises.entries != promises.valid + promises.invalid:
            raise CannotRun(f"conservation does not hold: {promises.entries} entries are not valid + invalid")


class _Promises:
    """Counts that the headers of new bundles promise, less those of replaced ones."""

    def __init__(self) -> None:
        self.entries = self.valid = self.invalid = 0
        self.kinds: set[bool] = set()
        """Whether bundles that are added hold comparisons."""

    def note_lines(self, kind: str, content: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield new lines as they are; what headers promise is noted."""
        for chunk in content:
            if kind == "headers":
                self.note(kind, chunk.data, 1)
                self.kinds.add(holds_comparisons(chunk.data))
            yield chunk

    def note(self, kind: str, line: bytes, sign: int) -> None:
        """Add or take away what a line promises, if it is a header."""
        if kind != "headers":
            return
        counts = read_promise(line)
        if counts is None:
            raise CannotRun("a header is not one of ours: was the ledger edited? Nothing was changed")
        self.entries += sign * counts.entries
        self.valid += sign * counts.valid
        self.invalid += sign * counts.invalid


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
