"""The ledger: a folder of JSON lines and raw bundles. This module reads it.

    records*.jsonl   VALID records            sorted by bundle hash, then index
    invalid*.jsonl   INVALID records          likewise, with reasons
    headers*.jsonl   what a bundle holds besides its entries, a line a bundle
    audit*.jsonl     bundles from which no record could be made, with reasons
    bundles/ab/      every bundle's raw bytes, by hash
    settings/        rubrics, manifests and dialects, by hash
    *.index          which ids and names a bucket of records has, if there are several
    commit*.json     digests of all files of lines
    .lock            held while a run writes, shared while a command reads

`buckets` says which lines are in which file. Only `transaction` and `recovery` write, and only as a whole. Readers
change nothing, and compare everything they read with its digest.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import contract_spec as spec

from normalizer.documents import lossless
from normalizer.errors import UnusableLedger, did_you_mean
from normalizer.ledger.buckets import LinePlace, places_in
from normalizer.ledger.commit_record import NAME, LineFile, read_index, read_verified
from normalizer.ledger.commit_tree import CommitTree
from normalizer.ledger.content_check import content_checked_on_failure, settings_document
from normalizer.ledger.line_format import (
    DOCUMENT_NAME,
    MAX_DEPTH,
    RECORD_FILES,
    SCHEMAS,
    id_starts,
    in_order,
    read_promise,
    sha_slice,
    starts_well,
)
from normalizer.ledger.record_index import may_hold, names_in, quick_test
from normalizer.regular_files import open_regular, regular_bytes, whole_lines

LOCK = ".lock"
STAGING = ".staging"
COMMIT = "COMMIT"
RAW_BUCKET = re.compile("[0-9a-f]{2}")


class Ledger:
    """An open ledger. No run changes it while it is open."""

    def __init__(self, folder: Path, tree: CommitTree | None = None) -> None:
        """`tree` has the digests of the commit record; None: read what is there without comparing digests."""
        self.folder = folder
        self.tree = tree

    def places(self, kind: str) -> list[LinePlace]:
        """Return the files of records, invalid, headers or audit lines, in order."""
        if self.tree is not None:
            return [file.place for file in self.tree.files(kind)]
        return [place for place in places_in(self.folder) if place.kind == kind]

    def paths(self, kind: str) -> list[Path]:
        """Return the paths of the files of a kind, in order."""
        return [self.folder / place.name for place in self.places(kind)]

    def size(self, kind: str) -> int:
        """Return how many bytes of lines of a kind there are."""
        if self.tree is not None:
            return self.tree.total(kind).bytes
        return sum(path.stat().st_size for path in self.paths(kind))

    def lines(self, kind: str) -> Iterator[bytes]:
        """Yield the lines of a kind, in order."""
        if self.tree is None:
            for path in self.paths(kind):
                with open_regular(path) as file:
                    yield from whole_lines(file)
        else:
            for listed in self.tree.files(kind):
                yield from BytesIO(read_verified(self.folder, listed))

    def check_digests(self, kind: str) -> None:
        """Raise UnusableLedger if a file of a kind was changed. The ledger must have been opened to be checked."""
        if self.tree is not None:
            self.tree.check(kind)

    def iterate_checked_lines(self, kind: str) -> Iterator[bytes]:
        """Yield the lines of a kind, in order. Raises UnusableLedger at a line that a run would not write there."""
        return self.iterate_checked(kind, self.lines(kind))

    def iterate_checked(self, kind: str, lines: Iterable[bytes], prefix: str = "") -> Iterator[bytes]:
        """Yield lines, in order. Raises UnusableLedger at one that a run would not write, or not below that prefix."""
        where, last, begin = sha_slice(kind), b"", prefix.encode()
        for line in lines:
            sha256 = line[where]
            whole = starts_well(kind, line) and line.endswith(b"}\n")
            if not (whole and in_order(kind, last, sha256) and sha256.startswith(begin)):
                raise self._report_damage(kind)
            last = sha256
            yield line

    def items(self, kind: str) -> Iterator[dict[str, Any]]:
        """The lines of a file as values with ordinary numbers."""
        return (self.item(kind, line) for line in self.iterate_checked_lines(kind))

    def item(self, kind: str, line: bytes) -> dict[str, Any]:
        """A line as a value with ordinary numbers. Without digests its shape is checked by its schema."""
        try:
            value: dict[str, Any] = lossless.loads_plain(line)
        except ValueError:
            raise self._report_damage(kind) from None
        if self.tree is None:
            plain = lossless.to_builtin(self.exact(kind, line))
            if all(spec.violations(schema, plain) for schema in SCHEMAS[kind]):
                raise self._report_damage(kind)
        return value

    def settings(self, text: bytes) -> dict[str, str]:
        """The settings that a line names, from their JSON text (see `settings_in`)."""
        try:
            value: dict[str, str] = lossless.loads_plain(text)
        except ValueError:
            raise self._report_damage("headers") from None
        return value

    def exact(self, kind: str, line: bytes) -> dict[str, Any]:
        """A line as a value, numbers as they are spelled."""
        try:
            value: dict[str, Any] = lossless.parse(line, MAX_DEPTH)
        except spec.NotStrictJson:
            raise self._report_damage(kind) from None
        if type(value) is not dict or not starts_well(kind, line):
            raise self._report_damage(kind)
        return value

    def _report_damage(self, kind: str) -> UnusableLedger:
        return UnusableLedger(
            f"{self.folder} has {kind} lines that are not as a run left them: was it edited? See `normalizer audit`"
        )

    def record_count(self) -> int:
        """Return how many records the ledger has, by its commit record or its headers, which is not checked here."""
        if self.tree is not None:
            return sum(self.tree.total(kind).lines for kind in RECORD_FILES)
        return sum(counts.entries for line in self.lines("headers") if (counts := read_promise(line)) is not None)

    def lines_of(self, kind: str, sha256: str) -> Iterator[bytes]:
        """Yield the lines of one bundle; of the ledger only its bucket is read."""
        wanted, where = sha256.encode(), sha_slice(kind)
        if self.tree is not None:
            for file in self.tree.files_of(kind, sha256):
                yield from (line for line in BytesIO(read_verified(self.folder, file)) if line[where] == wanted)
            return
        for place in self.places(kind):
            if sha256.startswith(place.prefix):
                with open_regular(self.folder / place.name) as stream:
                    yield from (line for line in whole_lines(stream) if line[where] == wanted)

    def find(self, kind: str, name: str) -> Iterator[bytes]:
        """Yield, in order, the records whose id begins so or that are of this file, item or artifact.

        Of a ledger of several buckets only their indexes and the buckets that may have such a record are read.
        """
        begin, within = id_starts(name), quick_test(name)
        for line in self._lines_about(kind, name):
            if line.startswith(begin) or (within in line and name in names_in(lossless.loads_plain(line))):
                yield line

    def _lines_about(self, kind: str, name: str) -> Iterator[bytes]:
        if self.tree is None:
            yield from self.lines(kind)
            return
        wanted = [file for file, may in self.tree.map_files(kind, partial(_may_hold, name)) if may]
        for file in wanted:
            yield from BytesIO(read_verified(self.folder, file))

    def find_bundle(self, sha256: str) -> Path:
        """Return the raw bundle with that hash, or an unambiguous beginning of it."""
        named = re.fullmatch("[0-9a-f]{1,64}", sha256.lower())
        begin = named[0] if named else ""
        folders = f"{begin[:2]}*" if len(begin) < 2 else begin[:2]
        matches = sorted((self.folder / "bundles").glob(f"{folders}/{begin}*.json")) if begin else []
        if not matches:
            raise UnusableLedger(f"no bundle has the hash {sha256}: `normalizer list {self.folder}` prints them all")
        if len(matches) > 1:
            raise UnusableLedger(f"{len(matches)} bundles have hashes that begin with {sha256}: give more digits")
        return matches[0]

    def raw_bundles(self, prefix: str = "") -> list[str]:
        """Return the hashes of the raw bundles that are there and begin so, in order. Strange files do not count."""
        found: list[str] = []
        root = self.folder / "bundles"
        for name in sorted(os.listdir(root)) if root.is_dir() else ():
            if RAW_BUCKET.fullmatch(name) and (name.startswith(prefix) or prefix.startswith(name)):
                inner = os.listdir(root / name) if (root / name).is_dir() else []
                found += sorted(
                    each[:-5]
                    for each in inner
                    if DOCUMENT_NAME.fullmatch(each) and each.startswith(name) and each.startswith(prefix)
                )
        return found

    def bundle(self, sha256: str) -> bytes:
        """The raw bytes of a bundle, as they came."""
        path = self.find_bundle(sha256)
        try:
            data = regular_bytes(path, "max_kept_bytes")
        except OSError as error:
            raise UnusableLedger(f"cannot read {path}: {error.strerror}") from None
        if hashlib.sha256(data).hexdigest() != path.stem:
            raise UnusableLedger(f"the bytes of {path} are not those of its hash: the file was changed")
        return data

    def document(self, sha256: str) -> dict[str, Any]:
        """A rubric, manifest or dialect that bundles were normalized under, numbers as they are spelled."""
        return settings_document(self.folder, sha256)


def _may_hold(name: str, folder: Path, file: LineFile) -> bool:
    """Whether a file may have a record of that name, by its index. Raises UnusableLedger if the index was changed."""
    return not file.index_sha256 or may_hold(read_index(folder, file), file.lines, name)


def is_ledger(folder: Path) -> bool:
    """Whether a folder holds a ledger, or the beginnings of one."""
    lines = any(place.kind == "headers" for place in places_in(folder))
    return lines or (folder / NAME).is_file() or (folder / STAGING).is_dir()


def require_ledger(folder: Path) -> None:
    """Raise UnusableLedger, with what would make one, if this is no ledger."""
    if folder.is_file():
        raise UnusableLedger(f"{folder} is a file: `normalizer normalize {folder} --out FOLDER` makes a ledger of it")
    if not folder.exists():
        beside = os.listdir(folder.parent) if os.access(folder.parent, os.R_OK | os.X_OK) else []
        near = did_you_mean(folder.name, beside, "`normalizer normalize BUNDLE... --out FOLDER` makes one")
        raise UnusableLedger(f"{folder} is not a ledger: there is no such file or folder; {near}")
    if not is_ledger(folder):
        raise UnusableLedger(f"{folder} is not a ledger: `normalizer normalize {folder} --out FOLDER` makes one of it")


@contextmanager
def hold_lock(folder: Path, mode: Literal["read", "write"]) -> Iterator[None]:
    """Hold the ledger's lock; raises UnusableLedger if another process has it. The lock ends with its process.

    Only a writer creates the lock file. It may not be a link, which would be created wherever it leads.
    """
    path = folder / LOCK
    try:
        flags = os.O_RDWR | os.O_CREAT if mode == "write" else os.O_RDONLY
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if mode == "read" and isinstance(error, FileNotFoundError):
            yield  # a copy of a ledger, which no run writes to
            return
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise UnusableLedger(f"cannot open {path}: {why}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnusableLedger(f"cannot open {path}: it is not a file")
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if mode == "write" else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnusableLedger(f"another run is using {folder}: try again when it has ended") from None
        # A run that was refused removes the lock file that it made: a lock on the removed file keeps no other run out.
        if not path.exists() or not os.path.samestat(os.fstat(descriptor), os.stat(path)):
            raise UnusableLedger(f"another run was using {folder} until now: try again")
        yield
    finally:
        os.close(descriptor)


@contextmanager
def reading(folder: Path, *, checked: bool = True) -> Iterator[Ledger]:
    """Open a ledger to read. Never writes.

    `checked`: all lines that are read are compared with the digests of its commit record.

    Raises UnusableLedger if it is none, or if a run was cut while it moved its files into place, until it is recovered.
    """
    require_ledger(folder)
    with hold_lock(folder, "read"):
        if os.path.lexists(folder / STAGING / COMMIT):
            raise UnusableLedger(
                f"a run on {folder} was cut while it moved its files into place: `normalizer repair {folder}` "
                "completes it, and so does the next `normalizer normalize` into it"
            )
        with content_checked_on_failure(folder):
            yield Ledger(folder, CommitTree(folder) if checked else None)
