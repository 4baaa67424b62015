"""The commit record of a ledger: digests of its line files, by which a reader notices changed bytes.

Each file is cut into spans of whole lines: at every change of bucket (64 of them, by bundle hash), and within a bucket
after the first line that makes a span `SPAN_BYTES` long. The cuts depend only on the file's content, so the record of
a ledger is the same however many runs made it, and a run keeps the spans of buckets that it does not change.

The record covers the four files of lines. The lines name raw bundles and settings documents by SHA-256.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import contract_spec as spec

from normalizer.errors import UnusableLedger
from normalizer.ledger.line_format import FILES

NAME = "commit.json"
SPAN_BYTES = 1 << 20
_MOST_BYTES = 1 << 28
"""A commit record is shorter: a span takes some 120 bytes and covers up to 1 MiB."""
_MEMBER = b',"sha256":"'


class Span(NamedTuple):
    """Digest of some consecutive lines of one bucket."""

    bucket: str
    bytes: int
    lines: int
    sha256: str


Spans = dict[str, tuple[Span, ...]]
"""The spans of each file, by its name in `FILES`."""


def bucket_of(sha256: str) -> str:
    """The bucket of a bundle hash: its first byte with the two lowest bits zero. Buckets sort as hashes do."""
    return f"{int(sha256[:2], 16) & 0xFC:02x}"


class SpanDigester:
    """Computes the spans of a file from its content, given in order and in pieces of any size."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._bucket, self._bytes, self._lines, self._digest = "", 0, 0, hashlib.sha256()

    def add(self, bucket: str, data: bytes) -> None:
        """Add bytes of lines that belong to one bucket."""
        if bucket != self._bucket:
            self._close()
            self._bucket = bucket
        while data:
            end = data.find(b"\n", max(0, SPAN_BYTES - self._bytes - 1)) + 1
            piece = data[:end] if end else data
            self._digest.update(piece)
            self._bytes += len(piece)
            self._lines += piece.count(b"\n")
            data = data[len(piece) :]
            if end:
                self._close()

    def keep(self, span: Span) -> None:
        """Add a whole span of an earlier record as it is."""
        self._close()
        self._spans.append(span)

    def spans(self) -> tuple[Span, ...]:
        """The spans of everything that was added."""
        self._close()
        return tuple(self._spans)

    def _close(self) -> None:
        if self._bytes:
            self._spans.append(Span(self._bucket, self._bytes, self._lines, self._digest.hexdigest()))
        self._bytes, self._lines, self._digest = 0, 0, hashlib.sha256()


def encode(files: Spans) -> bytes:
    """The bytes of a commit record."""
    members = {"format": 1, "files": {kind: [span._asdict() for span in files[kind]] for kind in FILES}}
    body = json.dumps(members, separators=(",", ":")).encode()[:-1]
    return body + _MEMBER + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def load(folder: Path) -> Spans | None:
    """The commit record of a ledger, or None if it has none: versions before this record made it.

    Raises UnusableLedger if it is not exactly what a run writes.
    """
    path = folder / NAME
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableLedger(f"cannot read {path}: {_why(error)}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnusableLedger(f"cannot read {path}: it is not a file")
        data = file.read() if os.fstat(descriptor).st_size < _MOST_BYTES else b""
    files = _decode(data)
    if files is None or encode(files) != data:
        raise UnusableLedger(f"{path} was changed: {advice(folder)}")
    return files


def advice(folder: Path) -> str:
    """The end of a message about changed bytes."""
    return f"`normalizer audit {folder}` lists what else differs, `normalizer repair {folder} --out NEW` rebuilds it"


def verified_blocks(path: Path, spans: tuple[Span, ...], bucket: str | None = None) -> Iterator[tuple[Span, bytes]]:
    """Read a file span by span, or the spans of one bucket; each is compared with its digest before it is given out.

    Raises UnusableLedger, naming file and lines, at the first span that was changed, and if the file is longer.
    """
    line = 1
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > sum(span.bytes for span in spans):
            last = sum(span.lines for span in spans)
            raise UnusableLedger(f"{path} was changed: it goes on after line {last}: {advice(path.parent)}")
        for span in spans:
            if bucket is None or span.bucket == bucket:
                yield span, _block(file, path, span, line)
            else:
                file.seek(min(span.bytes, 1 << 62), os.SEEK_CUR)
            line += span.lines


def changes(folder: Path) -> list[str] | None:
    """Everything in the files of a ledger that differs from its commit record, in words; None if it has no record."""
    try:
        files = load(folder)
    except UnusableLedger as error:
        return [str(error)]
    if files is None:
        return None
    found = []
    for kind in FILES:
        path = folder / f"{kind}.jsonl"
        line = 1
        if not path.is_file():
            found.append(f"{path} is missing: {advice(folder)}")
            continue
        with path.open("rb") as file:
            for span in files[kind]:
                try:
                    _block(file, path, span, line)
                except UnusableLedger as error:
                    found.append(str(error))
                line += span.lines
            if file.read(1):
                found.append(f"{path} was changed: it goes on after line {line - 1}: {advice(folder)}")
    return found


def _block(file: BinaryIO, path: Path, span: Span, line: int) -> bytes:
    left = os.fstat(file.fileno()).st_size - file.tell()
    data = file.read(span.bytes) if span.bytes <= left else b""
    if len(data) != span.bytes or hashlib.sha256(data).hexdigest() != span.sha256:
        last = line + span.lines - 1
        where = f"line {line}" if span.lines == 1 else f"lines {line} to {last}"
        raise UnusableLedger(f"{path} was changed: {where} do not have the digest in {NAME}: {advice(path.parent)}")
    return data


def _decode(data: bytes) -> Spans | None:
    try:
        value = spec.parse(data.removesuffix(b"\n"), max_depth=8)
    except spec.NotStrictJson:
        return None
    if spec.violations("eval/ledger_commit.json", value):
        return None
    return {kind: tuple(Span(**span) for span in value["files"][kind]) for kind in FILES}


def _why(error: OSError) -> str:
    return "it is a link" if error.errno == errno.ELOOP else str(error.strerror)
