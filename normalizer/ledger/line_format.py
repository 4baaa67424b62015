"""Layout of the JSON lines in a ledger's files: where ids, hashes and counts stand in the bytes of a line.

`screening` writes the members of a line in a fixed order, so the first ones stand at fixed offsets. Everything that
looks at a line without parsing it as JSON uses this module.

    records, invalid   {"record_id":"ID","source":{"bundle_sha256":"HASH","index":N,...},...}
    headers            {"bundle_sha256":"HASH","entries":N,"valid":N,"invalid":N,"entries_at":...,"settings":{...},...}
    audit              {"bundle_sha256":"HASH","bytes":N,"settings":{...},"reasons":[...]}

Lines are sorted by bundle hash, records of one bundle by index.
"""

import hashlib
import re
from typing import NamedTuple

from normalizer.documents.settings import LIMITS

FILES = ("records", "invalid", "headers", "audit")
"""The files of lines, each `NAME.jsonl`."""
RECORD_FILES = ("records", "invalid")
VERDICTS = {"records": "valid", "invalid": "invalid"}
"""The verdict that the records of a file have."""
SCHEMAS = {
    "records": ("eval/eval_record.json", "eval/comparison_record.json"),
    "invalid": ("eval/invalid_record.json", "eval/invalid_comparison.json"),
    "headers": ("eval/bundle_header.json",),
    "audit": ("eval/audit_item.json",),
}
"""The schemas of each file's lines; a line fits one of them."""
COMPARISON_MARK = ',"kind":"comparison"'
"""How the header line of a bundle of comparisons ends, but for its brace. A ledger holds one kind of bundle."""
MAX_DEPTH = LIMITS["max_depth"] + 8
"""How deep a line may nest: a record wraps a strange entry in `source`."""
SHA256 = re.compile("[0-9a-f]{64}")
"""The hash of a bundle or of a settings document."""
DOCUMENT_NAME = re.compile(r"[0-9a-f]{64}\.json")
"""The name of a raw bundle or of a settings document."""

_ID = slice(len('{"record_id":"'), len('{"record_id":"') + 32)
_BODY = _ID.stop + len('",')
_IN_RECORD = slice(
    _ID.stop + len('","source":{"bundle_sha256":"'), _ID.stop + len('","source":{"bundle_sha256":"') + 64
)
_IN_HEADER = slice(len('{"bundle_sha256":"'), len('{"bundle_sha256":"') + 64)
_INDEX = _IN_RECORD.stop + len('","index":')
_RECORD_START = re.compile(rb'{"record_id":"[0-9a-f]{32}","source":{"bundle_sha256":"[0-9a-f]{64}","index":[0-9]+,')
_STARTS = {
    "records": _RECORD_START,
    "invalid": _RECORD_START,
    "headers": re.compile(
        rb'{"bundle_sha256":"[0-9a-f]{64}","entries":([0-9]+),"valid":([0-9]+),"invalid":([0-9]+),'
        rb'"entries_at":"(?:[^"\\]|\\.)*","settings":(?P<settings>{[^{}]*}),"header":{'
    ),
    "audit": re.compile(
        rb'{"bundle_sha256":"[0-9a-f]{64}","bytes":[0-9]+,"settings":(?P<settings>{[^{}]*}),"reasons":\['
    ),
}


class Promised(NamedTuple):
    """How many entries and records a header says its bundle has."""

    entries: int
    valid: int
    invalid: int


def sha_slice(kind: str) -> slice:
    """Where in a line of that file the bundle's hash stands."""
    return _IN_RECORD if kind in RECORD_FILES else _IN_HEADER


def starts_well(kind: str, line: bytes) -> bool:
    """Whether a line begins as a run writes lines of that file."""
    return _STARTS[kind].match(line) is not None


def in_order(kind: str, before: bytes, after: bytes) -> bool:
    """Whether two bundle hashes may follow each other: a bundle has many records, but one header or audit item."""
    return before <= after if kind in RECORD_FILES else before < after


def settings_in(kind: str, line: bytes) -> bytes:
    """The JSON text of `settings` in a line of headers or audit; `{}` if the line is not as a run writes it."""
    found = _STARTS[kind].match(line)
    return found["settings"] if found else b"{}"


def read_promise(line: bytes) -> Promised | None:
    """The counts in a line of headers; None if the line is not as a run writes it."""
    found = _STARTS["headers"].match(line)
    return None if found is None else Promised(int(found[1]), int(found[2]), int(found[3]))


def holds_comparisons(header: bytes) -> bool:
    """Whether a header line is that of a bundle of comparisons."""
    return header.endswith(f"{COMPARISON_MARK}}}\n".encode())


def index_of(line: bytes) -> int:
    """The place of a record's entry in its bundle. The line must start well."""
    return int(line[_INDEX : line.index(b",", _INDEX)])


def id_of(line: bytes) -> str:
    """The id of a record. The line must start well."""
    return line[_ID].decode("ascii")


def id_starts(record_id: str) -> bytes:
    """Return the beginning of the line of a record, given the beginning of its id."""
    return f'{{"record_id":"{record_id}'.encode()


def has_own_id(kind: str, line: bytes) -> bool:
    """Whether the id of a record is derived from its content, reasons aside."""
    end = -2 if kind == "records" else line.rfind(b',"reasons":[')
    return hashlib.sha256(line[_BODY:end]).hexdigest()[:32].encode() == line[_ID]
