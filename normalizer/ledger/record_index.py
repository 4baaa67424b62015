"""The index of a bucket of records: which ids and names its lines have, in 6 or 9 bytes a line.

A ledger of several buckets has for each of its files of records, `KIND-PREFIX.jsonl`, a file `KIND-PREFIX.index`: the
first three bytes of the id of every line, then three bytes of the SHA-256 of every file's name (for a comparison, of
its item), all in the order of the lines; and then of every artifact's, unless all have the names of their files. So a
record is found by reading these and one bucket. Different names may have the same bytes: the lines decide.
"""

import hashlib
import json
import re
from io import BytesIO
from typing import Any

from normalizer.documents.lossless import dumps, loads_plain
from normalizer.ledger.line_format import id_of

_WIDTH = 3
"""Bytes of a name. Of a bucket with 8,000 lines, one name in 2,000 that it has not seems to be there."""
MOST_BYTES = 3 * _WIDTH
"""Most bytes of an index for each line."""
_ID = re.compile("[0-9a-f]{1,32}")


def make_index(data: bytes) -> bytes:
    """Return the index of a file of records."""
    ids, files, artifacts = list[bytes](), list[bytes](), list[bytes]()
    for line in BytesIO(data):
        file, artifact = names_in(loads_plain(line))
        ids.append(bytes.fromhex(id_of(line)[: 2 * _WIDTH]))
        files.append(_hash(file))
        artifacts.append(files[-1] if artifact == file else _hash(artifact))
    return b"".join(ids + files + (artifacts if artifacts != files else []))


def names_in(record: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the file or item of a record, and its artifact, as text; an INVALID record may have any value there."""
    return as_text(record.get("file", record.get("item"))), as_text(record.get("artifact"))


def may_hold(index: bytes, lines: int, name: str) -> bool:
    """Whether one of the lines of the indexed file may have an id that begins so, or this file, item or artifact."""
    ids = _WIDTH * lines
    if _ID.fullmatch(name):
        # Whole bytes are looked for: of an odd number of digits the last one is left to the lines.
        begin = bytes.fromhex(name[: min(len(name), 2 * _WIDTH) // 2 * 2])
        if _has_entry(index, begin, 0, ids):
            return True
    return _has_entry(index, _hash(name), ids, len(index))


def quick_test(name: str) -> bytes:
    """Return bytes that every line with this name has, to rule most lines out without parsing them.

    A name that is JSON may be that of a value which is no string, and which a line may spell in another way.
    """
    try:
        json.loads(name)
    except ValueError:
        return dumps(name)[1:-1].encode()
    return b""


def _has_entry(index: bytes, wanted: bytes, start: int, end: int) -> bool:
    """Whether an entry between these places begins so. Entries are `_WIDTH` bytes long."""
    at = index.find(wanted, start, end)
    while at >= 0 and (at - start) % _WIDTH:
        at = index.find(wanted, at + 1, end)
    return at >= 0


def _hash(name: str | None) -> bytes:
    return b"\0" * _WIDTH if name is None else hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:_WIDTH]


def as_text(value: Any) -> str | None:
    """Return a value of a record as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else None if value is None else json.dumps(value)
