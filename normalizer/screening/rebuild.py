"""Rebuild a bundle from its records and header, to prove that nothing is lost.

A judge bundle becomes the same JSON document, with every order, spelling and value. A container of text becomes the
same bytes. The rows of an archive are compared with those in its members.
"""

import base64
import hashlib
import io
from collections.abc import Iterator
from typing import Any

from normalizer.containers.readers.opening import open_container, unpack_bytes
from normalizer.documents import lossless
from normalizer.documents.pointers import AppliedStep, copy_along, undo
from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import Ledger
from normalizer.screening.comparison_rules import FIELDS as COMPARISON_FIELDS
from normalizer.screening.entry_rules import FIELDS


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
