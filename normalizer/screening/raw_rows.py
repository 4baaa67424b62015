"""The way back from records: to the raw text that one comes from, and to the whole bundle, as a proof of what is kept.

A judge bundle becomes the same JSON document, with every order, spelling and value. A container of text becomes the
same bytes. The rows of an archive are compared with those in its members.
"""

import base64
import hashlib
import io
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from normalizer.containers.readers.archives import ArchiveReader
from normalizer.containers.readers.opening import open_container, unpack, unpack_bytes
from normalizer.containers.readers.rows import UnreadableContainer
from normalizer.documents import lossless
from normalizer.documents.lossless import loads_plain
from normalizer.documents.pointers import AppliedStep, copy_along, undo
from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import Ledger
from normalizer.regular_files import open_regular
from normalizer.screening.comparison_rules import FIELDS as COMPARISON_FIELDS
from normalizer.screening.entry_rules import FIELDS


class RawRow(NamedTuple):
    """A text in which the pointers of a record can be looked up."""

    text: str
    line: int
    """The line of the file at which the text begins, counted from 1."""
    base: str
    """The pointer of the text in its file."""
    is_json: bool
    member: str = ""

    def inner(self, pointer: str) -> str | None:
        """A pointer into the file as a pointer into the text; None where the text has no pointers."""
        return pointer.removeprefix(self.base) if self.is_json else None


def unpack_bundle(ledger: Ledger, sha256: str) -> bytes:
    """The raw bytes of a bundle, unpacked if they are packed and not damaged."""
    data = ledger.bundle(sha256)
    try:
        return unpack_bytes(data)
    except UnreadableContainer:
        return data


def raw_row(ledger: Ledger, source: dict[str, Any]) -> RawRow:
    """The text that the record with this source comes from."""
    sha256 = source["bundle_sha256"]
    header = next((loads_plain(line) for line in ledger.lines_of("headers", sha256)), None)
    kind = header["header"].get("container") if header is not None and header["entries_at"] == "" else None
    if header is None or kind in (None, "json"):
        return RawRow(unpack_bundle(ledger, sha256).decode().removeprefix("\ufeff"), 1, "", is_json=True)
    # A row that could not be read has no steps.
    is_json = kind != "csv" and "dialect" in source
    line = int(source["line"])
    if kind == "zip":
        return _of_archive(ledger, header["settings"]["dialect"], source, is_json=is_json)
    if kind == "jsonl":
        with open_regular(ledger.find_bundle(sha256)) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise UnusableLedger(f"the bytes of {file.name} are not those of its hash: the file was changed")
            raw = next(islice(unpack(file), line - 1, line), b"")
    else:
        raw = _line(unpack_bundle(ledger, sha256).decode(), line).encode()
    base = "/" + source["pointer"].split("/")[1]
    return RawRow(raw.decode("utf-8", "replace").rstrip("\r\n").removeprefix("\ufeff"), line, base, is_json)


def _line(text: str, number: int, newline: str = "") -> str:
    """Return a line of a text, counted from 1 as its reader counts: JSON lines end at \\n, those of CSV at \\r too.

    No other character ends a line, whatever `str.splitlines` says.
    """
    return next(islice(io.StringIO(text, newline=newline), number - 1, number), "")


def _of_archive(ledger: Ledger, digest: str, source: dict[str, Any], *, is_json: bool) -> RawRow:
    reader = open_container(io.BytesIO(ledger.bundle(source["bundle_sha256"])), ledger.document(digest))
    if not isinstance(reader, ArchiveReader):
        raise UnusableLedger(f"bundle {source['bundle_sha256']} is not the archive that its header describes")
    try:
        text = reader.member(source["member"]).decode("utf-8", "replace")
    except (UnreadableContainer, KeyError):
        return RawRow("", 1, "", is_json=False, member=source["member"])
    if reader.each == "document":
        return RawRow(text, 1, "", is_json, source["member"])
    line = int(source["line"])
    row = _line(text, line, "\n" if reader.each == "jsonl" else "").rstrip("\r\n")
    base = "/" + source["pointer"].split("/")[1]
    return RawRow(row, line, base, is_json and reader.each == "jsonl", source["member"])


def rebuild(header: dict[str, Any], records: list[dict[str, Any]]) -> dict[str, Any]:
    """A judge bundle's document from its header line and its record lines, parsed losslessly, in any order."""
    document, parent, key = copy_along(header["header"], header["entries_at"])
    parent[key] = [_entry(record) for record in _sort_by_index(records)]
    return document


def rebuild_text(header: dict[str, Any], records: list[dict[str, Any]]) -> bytes:
    """A container's bytes from its header line and its record lines, in any order. Not for archives."""
    parts = [gap.encode() + raw for gap, raw, _ in _rows(records)]
    return b"".join(parts) + str(header["header"]["tail"]).encode()


def rebuild_bundle(ledger: Ledger, sha256: str) -> bytes:
    """A bundle of a ledger, made anew from its records, and compared with the raw bytes where they are a container.

    A judge bundle comes as compact JSON, a container of text as it was, one that was packed as it was before that, an
    archive as its rows, one a line.
    """
    sha256 = ledger.find_bundle(sha256).stem
    headers = [ledger.exact("headers", line) for line in ledger.lines_of("headers", sha256)]
    if not headers:
        raise UnusableLedger(f"no record was made from a bundle {sha256}: see `normalizer audit`")
    records = [ledger.exact(kind, line) for kind in ("records", "invalid") for line in ledger.lines_of(kind, sha256)]
    kind = headers[0]["header"].get("container") if headers[0]["entries_at"] == "" else None
    if kind is None:
        return lossless.dumps(rebuild(headers[0], records)).encode() + b"\n"
    if kind != "zip":
        data = rebuild_text(headers[0], records)
        packed = "packed" in headers[0]["header"]
        if (data != unpack_bytes(ledger.bundle(sha256))) if packed else hashlib.sha256(data).hexdigest() != sha256:
            raise UnusableLedger(f"the records of {sha256} do not give back its bytes: see `normalizer audit`")
        return data
    dialect = ledger.document(headers[0]["settings"]["dialect"])
    return _rebuild_archive(ledger.bundle(sha256), dialect, records, sha256)


def _rebuild_archive(data: bytes, dialect: dict[str, Any], records: list[dict[str, Any]], sha256: str) -> bytes:
    """The rows of an archive as the records have them, which must all be in its members, in their order."""
    there = ((row.member, row.raw) for row in open_container(io.BytesIO(data), dialect).rows())
    for _, raw, member in _rows(records):
        if not any(found == (member, raw) for found in there):
            raise UnusableLedger(f"a row of {member} in the records of {sha256} is not in the archive")
    return b"".join(raw + b"\n" for _, raw, _ in _rows(records))


def _sort_by_index(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(records, key=lambda record: int(record["source"]["index"]))


def _rows(records: list[dict[str, Any]]) -> Iterator[tuple[str, bytes, str]]:
    """Gap, bytes and member of each row, from the first record of each."""
    for record in _sort_by_index(records):
        source = record["source"]
        if "text" not in source and "bytes" not in source:
            continue
        raw = base64.b64decode(source["bytes"]) if "bytes" in source else source["text"].encode()
        yield source.get("gap", "\n" if int(source["index"]) else ""), raw, source.get("member", "")


def _entry(record: dict[str, Any]) -> Any:
    source = record["source"]
    if "value" in source:
        return source["value"]
    fields = COMPARISON_FIELDS if "kind" in record else FIELDS
    members = {field: record[field] for field in fields if field in record} | source.get("rest", {})
    entry = {key: members[key] for key in source.get("order", members)}
    translation = source.get("dialect", {})
    done = [AppliedStep(step["take"], step.get("put"), int(step["at"])) for step in translation.get("steps", [])]
    return undo(entry, done, translation.get("aside", {}))
