"""The commit record of a ledger: digests of its files of lines, by which a reader notices changed bytes.

The record is a tree. `commit.json` lists the files of lines, each with its length and its SHA-256. When there are more
than `commit_tree.MOST_FILES`, it lists only those that no digit of a hash decides, and for each first digit of the
others the digest of a further record, `commit-0.json` to `commit-f.json`, which is made alike. So reading or changing
one bucket needs the records on the way to it, and `commit.json` stands for every byte.

The record covers the files of lines. The lines name raw bundles and settings documents by SHA-256.
"""

import errno
import hashlib
import json
import os
import stat
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import contract_spec as spec

from normalizer.errors import UnusableLedger
from normalizer.ledger.buckets import WHOLE_HASH, LinePlace
from normalizer.ledger.line_format import FILES
from normalizer.ledger.record_index import MOST_BYTES, make_index

NAME = "commit.json"
_MOST_BYTES = 1 << 28
"""A commit record is shorter: a file takes some 130 bytes, and only one long bundle has more than some 500 files."""
_MEMBER = b',"sha256":"'


class LineFile(NamedTuple):
    """A file of lines as a commit record has it."""

    place: LinePlace
    bytes: int
    lines: int
    sha256: str
    index_sha256: str = ""
    """The SHA-256 of its index, if it has one."""


class Totals(NamedTuple):
    """Totals of the files of one kind below a record."""

    files: int = 0
    bytes: int = 0
    lines: int = 0

    def plus(self, other: "Totals") -> "Totals":
        """Return the sum of both."""
        return Totals(self.files + other.files, self.bytes + other.bytes, self.lines + other.lines)


class Part(NamedTuple):
    """A further record: everything below one prefix."""

    prefix: str
    totals: dict[str, Totals]
    sha256: str


class Node(NamedTuple):
    """One record of the tree."""

    prefix: str
    files: dict[str, list[LineFile]]
    """Those listed here, by kind and in order."""
    parts: list[Part]
    """The further records, in order; none if everything is listed here."""

    def totals(self) -> dict[str, Totals]:
        """Return what the files of each kind have together, those of further records included."""
        found = {}
        for kind in FILES:
            own = self.files[kind]
            total = Totals(len(own), sum(file.bytes for file in own), sum(file.lines for file in own))
            for part in self.parts:
                total = total.plus(part.totals[kind])
            found[kind] = total
        return found


def node_name(prefix: str) -> str:
    """Return the name of the record of a prefix."""
    return f"commit-{prefix}.json" if prefix else NAME


def encode(node: Node) -> bytes:
    """Return the bytes of a record."""
    members = {
        "format": 2,
        "prefix": node.prefix,
        "files": {kind: [_file_members(file) for file in node.files[kind]] for kind in FILES},
        "parts": [
            {
                "prefix": part.prefix,
                "totals": {kind: part.totals[kind]._asdict() for kind in FILES},
                "sha256": part.sha256,
            }
            for part in node.parts
        ],
    }
    body = json.dumps(members, separators=(",", ":")).encode()[:-1]
    return body + _MEMBER + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def load_node(folder: Path, prefix: str = "", sha256: str | None = None) -> Node:
    """Return a record of a ledger. Raises UnusableLedger if it is not exactly what a run writes, or not that digest."""
    path = folder / node_name(prefix)
    data, size = _read(folder, path, _MOST_BYTES)
    node = _decode(data) if size == len(data) else None
    as_named = sha256 is None or hashlib.sha256(data).hexdigest() == sha256
    if node is None or node.prefix != prefix or not as_named or encode(node) != data:
        raise UnusableLedger(f"{path} was changed: {advice(folder)}")
    return node


def advice(folder: Path) -> str:
    """Return the end of a message about changed bytes."""
    return f"`normalizer audit {folder}` lists what else differs, `normalizer repair {folder} --out NEW` rebuilds it"


def read_verified(folder: Path, file: LineFile) -> bytes:
    """Return the bytes of a file of lines. Raises UnusableLedger, naming file and lines, unless it has its digest."""
    path = folder / file.place.name
    data, size = _read(folder, path, file.bytes, start=True)
    if len(data) != file.bytes or hashlib.sha256(data).hexdigest() != file.sha256:
        where = "line 1" if file.lines == 1 else f"lines 1 to {file.lines}"
        raise UnusableLedger(f"{path} was changed: {where} do not have the digest in {NAME}: {advice(folder)}")
    if size > file.bytes:
        raise UnusableLedger(f"{path} was changed: it goes on after line {file.lines}: {advice(folder)}")
    return data


def read_index(folder: Path, file: LineFile) -> bytes:
    """Return the index of a file of records. Raises UnusableLedger unless it has its digest."""
    path = folder / str(file.place.index_name)
    data, size = _read(folder, path, MOST_BYTES * file.lines)
    if size != len(data) or hashlib.sha256(data).hexdigest() != file.index_sha256:
        raise UnusableLedger(f"{path} was changed: it does not have the digest in {NAME}: {advice(folder)}")
    return data


def _read(folder: Path, path: Path, most: int, *, start: bool = False) -> tuple[bytes, int]:
    """Return the bytes of a file and how long it is; of one with more than `most` none, or those at its `start`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise UnusableLedger(f"{path} is missing: {advice(folder)}") from None
    except OSError as error:
        raise UnusableLedger(f"cannot read {path}: {_why(error)}") from None
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise UnusableLedger(f"cannot read {path}: it is not a file")
        wanted = most if start or about.st_size <= most else 0
        return stream.read(min(wanted, about.st_size)), about.st_size


def line_file(place: LinePlace, data: bytes, index: bytes | None = None) -> LineFile:
    """Return what a commit record has of a file with these bytes; `index`: that of the file, if it was made already."""
    indexed = ""
    if place.index_name is not None:
        indexed = hashlib.sha256(make_index(data) if index is None else index).hexdigest()
    return LineFile(place, len(data), data.count(b"\n"), hashlib.sha256(data).hexdigest(), indexed)


def _file_members(file: LineFile) -> dict[str, object]:
    return {
        "prefix": file.place.prefix,
        "first": file.place.first,
        "bytes": file.bytes,
        "lines": file.lines,
        "sha256": file.sha256,
        **({} if file.place.index_name is None else {"index": file.index_sha256}),
    }


def _decode(data: bytes) -> Node | None:
    try:
        value = spec.parse(data.removesuffix(b"\n"), max_depth=8)
    except spec.NotStrictJson:
        return None
    if spec.violations("eval/ledger_commit.json", value):
        return None
    files = {
        kind: [
            LineFile(place, file["bytes"], file["lines"], file["sha256"], file.get("index", ""))
            for file in value["files"][kind]
            for place in [LinePlace(kind, file["prefix"], file["first"])]
        ]
        for kind in FILES
    }
    parts = [
        Part(part["prefix"], {kind: Totals(**part["totals"][kind]) for kind in FILES}, part["sha256"])
        for part in value["parts"]
    ]
    node = Node(value["prefix"], files, parts)
    return node if _is_arranged(node) else None


def _is_arranged(node: Node) -> bool:
    """Whether everything is where it belongs: in order, below the record's prefix, and no bucket within another."""
    for files in node.files.values():
        places = [file.place for file in files]
        if not all(place.prefix.startswith(node.prefix) for place in places):
            return False
        if node.parts and any(place.prefix != node.prefix for place in places):
            return False
        if any(not (one < other and _apart(one, other)) for one, other in pairwise(places)):
            return False
    prefixes = [part.prefix for part in node.parts]
    return prefixes == sorted(set(prefixes)) and all(prefix and prefix[:-1] == node.prefix for prefix in prefixes)


def _apart(one: LinePlace, other: LinePlace) -> bool:
    return len(one.prefix) == WHOLE_HASH if one.prefix == other.prefix else not other.prefix.startswith(one.prefix)


def _why(error: OSError) -> str:
    return "it is a link" if error.errno == errno.ELOOP else str(error.strerror)
