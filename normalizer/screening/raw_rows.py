"""The raw text that a record comes from: its bundle, or its row of a container."""

import hashlib
import io
from itertools import islice
from typing import Any, NamedTuple

from normalizer.containers.readers.archives import ArchiveReader
from normalizer.containers.readers.opening import open_container, unpack, unpack_bytes
from normalizer.containers.readers.rows import UnreadableContainer
from normalizer.documents.lossless import loads_plain
from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import Ledger
from normalizer.regular_files import open_regular


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
