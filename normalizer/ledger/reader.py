"""The ledger: a folder of JSON lines and raw bundles. This module knows its layout and reads it.

    records.jsonl    VALID records            sorted by bundle hash, then index
    invalid.jsonl    INVALID records          likewise, with reasons
    headers.jsonl    what a bundle holds besides its entries, a line a bundle
    audit.jsonl      bundles from which no record could be made, with reasons
    bundles/         every bundle's raw bytes, by hash
    settings/        rubrics, manifests and dialects, by hash
    commit.json      digests of the four files; ledgers of earlier versions have none
    .lock            held while a run writes, shared while a command reads

Only `transaction` and `recovery` write, and only as a whole. Readers change nothing, and compare everything they read
with its digest.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, Literal

import contract_spec as spec

from normalizer.documents import lossless
from normalizer.errors import UnusableLedger
from normalizer.ledger.commit_record import NAME, Spans, advice, bucket_of, load, verified_blocks
from normalizer.ledger.content_check import content_checked_on_failure, settings_document
from normalizer.ledger.line_format import (
    DOCUMENT_NAME,
    FILES,
    MAX_DEPTH,
    RECORD_FILES,
    SCHEMAS,
    id_starts,
    in_order,
    promised,
    sha_slice,
    starts_well,
)
from normalizer.regular_files import regular_bytes, whole_lines

LOCK = ".lock"
STAGING = ".staging"
COMMIT = "COMMIT"


class Ledger:
    """An open ledger. No run changes it while it is open."""

    def __init__(self, folder: Path, spans: Spans | None = None) -> None:
        """`spans` are those of the commit record; None: read without comparing digests."""
        self.folder = folder
        self.spans = spans

    def path(self, kind: str) -> Path:
        """The file of records, invalid, headers or audit lines."""
        return self.folder / f"{kind}.jsonl"

    def lines(self, kind: str) -> Iterator[bytes]:
        """The lines of a file, in order."""
        if self.spans is None:
            with self.path(kind).open("rb") as file:
                yield from whole_lines(file)
        else:
            for _, block in verified_blocks(self.path(kind), self.spans[kind]):
                yield from BytesIO(block)

    def check_digests(self) -> None:
        """Raise UnusableLedger if a file of lines was changed. The ledger must have a commit record."""
        for kind in FILES:
            for _ in verified_blocks(self.path(kind), (self.spans or {})[kind]):
                pass

    def checked_lines(self, kind: str) -> Iterator[bytes]:
        """Yield the lines of a file, in order. Raises UnusableLedger at a line that a run would not write there."""
        where, last = sha_slice(kind), b""
        for line in self.lines(kind):
            if not (starts_well(kind, line) and line.endswith(b"}\n") and in_order(kind, last, line[where])):
                raise self._damaged(kind)
            last = line[where]
            yield line

    def items(self, kind: str) -> Iterator[dict[str, Any]]:
        """The lines of a file as values with ordinary numbers."""
        return (self.item(kind, line) for line in self.checked_lines(kind))

    def item(self, kind: str, line: bytes) -> dict[str, Any]:
        """A line as a value with ordinary numbers. Without digests its shape is checked by its schema."""
        try:
            value: dict[str, Any] = lossless.loads_plain(line)
        except ValueError:
            raise self._damaged(kind) from None
        if self.spans is None:
            plain = lossless.to_builtin(self.exact(kind, line))
            if all(spec.violations(schema, plain) for schema in SCHEMAS[kind]):
                raise self._damaged(kind)
        return value

    def settings(self, text: bytes) -> dict[str, str]:
        """The settings that a line names, from their JSON text (see `settings_in`)."""
        try:
            value: dict[str, str] = lossless.loads_plain(text)
        except ValueError:
            raise self._damaged("headers") from None
        return value

    def exact(self, kind: str, line: bytes) -> dict[str, Any]:
        """A line as a value, numbers as they are spelled."""
        try:
            value: dict[str, Any] = lossless.parse(line, MAX_DEPTH)
        except spec.NotStrictJson:
            raise self._damaged(kind) from None
        if type(value) is not dict or not starts_well(kind, line):
            raise self._damaged(kind)
        return value

    def _damaged(self, kind: str) -> UnusableLedger:
        return UnusableLedger(
            f"{self.path(kind)} has lines that are not as a run left them: was it edited? See `normalizer audit`"
        )

    def record_count(self) -> int:
        """How many records the ledger has, by its commit record or its headers, whose numbers are not checked here."""
        if self.spans is not None:
            return sum(span.lines for kind in RECORD_FILES for span in self.spans[kind])
        return sum(counts.entries for line in self.lines("headers") if (counts := promised(line)) is not None)

    def lines_of(self, kind: str, sha256: str) -> Iterator[bytes]:
        """The lines of one bundle. The file is sorted, so that they are found by bisection."""
        wanted, where = sha256.encode(), sha_slice(kind)
        if self.spans is not None:
            for _, block in verified_blocks(self.path(kind), self.spans[kind], bucket_of(sha256)):
                yield from (line for line in BytesIO(block) if line[where] == wanted)
            return
        with self.path(kind).open("rb") as file:
            _seek(file, where, wanted)
            for line in whole_lines(file):
                if line[where] > wanted:
                    return
                if line[where] == wanted:
                    yield line

    def bounds_of(self, kind: str, sha256: str) -> tuple[int, int]:
        """Where in a file the lines of one bundle begin and end, found by bisection."""
        with self.path(kind).open("rb") as file:
            start = _seek(file, sha_slice(kind), sha256.encode())
        return start, start + sum(map(len, self.lines_of(kind, sha256)))

    def cuts(self, kind: str, hashes: list[str]) -> list[int]:
        """Where a file begins, where the first line at or after each hash does (they ascend), and where it ends."""
        with self.path(kind).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            places = [0, *(_seek(file, sha_slice(kind), sha256.encode()) for sha256 in hashes), size]
        return list(accumulate(places, max))  # ascending even if the file is not sorted

    def record(self, record_id: str) -> tuple[str, bytes]:
        """Return the file that has a record, and its line, given its id or an unambiguous beginning of it."""
        if not record_id:
            raise UnusableLedger("give a record_id, or its first digits")
        wanted = id_starts(record_id)
        found = [(kind, line) for kind in RECORD_FILES for line in self.lines(kind) if line.startswith(wanted)]
        if not found:
            raise UnusableLedger(f"no record of {self.folder} has an id that begins with {record_id}")
        if len(found) > 1:
            raise UnusableLedger(f"{len(found)} records have ids that begin with {record_id}: give more digits")
        return found[0]

    def kept(self, sha256: str) -> Path:
        """The raw bundle with that hash, or an unambiguous beginning of it."""
        folder = self.folder / "bundles"
        named = re.fullmatch("[0-9a-f]{1,64}", sha256.lower())
        matches = sorted(folder.glob(f"{named[0]}*.json")) if named else []
        if not matches:
            raise UnusableLedger(f"no bundle of {self.folder} has the hash {sha256}")
        if len(matches) > 1:
            raise UnusableLedger(f"{len(matches)} bundles have hashes that begin with {sha256}: give more digits")
        return matches[0]

    def raw_bundles(self) -> int:
        """Return how many raw bundles are stored. Other files, such as those of an editor, are not counted."""
        folder = self.folder / "bundles"
        names = os.listdir(folder) if folder.is_dir() else []
        return sum(DOCUMENT_NAME.fullmatch(name) is not None for name in names)

    def bundle(self, sha256: str) -> bytes:
        """The raw bytes of a bundle, as they came."""
        path = self.kept(sha256)
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


def _seek(file: BinaryIO, where: slice, wanted: bytes) -> int:
    """Go to the first line of a sorted file whose hash is not below the wanted one; returns its place."""
    low, high = 0, os.fstat(file.fileno()).st_size
    while low < high:
        middle = (low + high) // 2
        file.seek(middle)
        lines = whole_lines(file)
        if middle:
            next(lines, b"")
        line = next(lines, b"")
        if line and line[where] < wanted:
            low = middle + 1
        else:
            high = middle
    file.seek(low)
    if low:
        next(whole_lines(file), b"")
    return file.tell()


def is_ledger(folder: Path) -> bool:
    """Whether a folder holds a ledger, or the beginnings of one."""
    return (folder / "headers.jsonl").is_file() or (folder / NAME).is_file() or (folder / STAGING).is_dir()


@contextmanager
def locked(folder: Path, mode: Literal["read", "write"]) -> Iterator[None]:
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
def reading(folder: Path, *, checked: bool = True, complete: bool = True) -> Iterator[Ledger]:
    """Open a ledger to read. Never writes.

    `checked`: all lines are compared with the digests of its commit record. `complete`: every file must be there.

    Raises UnusableLedger if it is none, or if a run was cut while it moved its files into place, until it is recovered.
    """
    if folder.is_file():
        raise UnusableLedger(f"{folder} is a file: `normalizer normalize {folder} --out FOLDER` makes a ledger of it")
    if not is_ledger(folder):
        raise UnusableLedger(f"{folder} is not a ledger: `normalizer normalize BUNDLE... --out {folder}` makes one")
    with locked(folder, "read"):
        if os.path.lexists(folder / STAGING / COMMIT):
            raise UnusableLedger(
                f"a run on {folder} was cut while it moved its files into place: `normalizer repair {folder}` "
                "completes it, and so does the next `normalizer normalize` into it"
            )
        missing = [kind for kind in FILES if not (folder / f"{kind}.jsonl").is_file()]
        if missing and complete:
            raise UnusableLedger(f"{folder} is not complete: {missing[0]}.jsonl is missing: {advice(folder)}")
        with content_checked_on_failure(folder):
            yield Ledger(folder, load(folder) if checked else None)
