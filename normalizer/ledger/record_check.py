"""The check that every command makes before it computes: cheap, and independent of the raw bundles.

Each record must have the id of its own content, and each entry that a header promises exactly one record. That notices
edited, lost, doubled and misplaced lines. It does not notice lines that were forged with their ids and counts: only
`reverify` does, which normalizes the raw bundles again.
"""

import hashlib
import re
from collections.abc import Callable, Iterator

from normalizer.errors import UnusableLedger
from normalizer.ledger.reader import Ledger, sha_slice

_ID_AT = slice(len('{"record_id":"'), len('{"record_id":"') + 32)
_BODY_AT = _ID_AT.stop + len('",')
_INDEX_AT = sha_slice("records").stop + len('","index":')
_COUNTS = re.compile(rb'{"bundle_sha256":"([0-9a-f]{64})","entries":([0-9]+),"valid":([0-9]+),"invalid":([0-9]+),')
_VERDICT = {"records": "valid", "invalid": "invalid"}

Check = Callable[[Ledger], None]
"""A check of an open ledger's records; it raises UnusableLedger."""


def has_own_id(kind: str, line: bytes) -> bool:
    """Whether a line of records or invalid has the id that is derived from its content, reasons aside."""
    end = -2 if kind == "records" else line.rfind(b',"reasons":[')
    return hashlib.sha256(line[_BODY_AT:end]).hexdigest()[:32].encode() == line[_ID_AT]


def refuse_changed_id(kind: str, line: bytes, number: int | None = None) -> None:
    """Raise UnusableLedger, naming bundle and line, unless a record has the id of its content."""
    if not has_own_id(kind, line):
        sha256 = line[sha_slice(kind)].decode("ascii", "replace")
        which = f"line {number}" if number is not None else "a line"
        raise UnusableLedger(
            f"bundle {sha256}: {which} of {kind}.jsonl does not have the id of its content: it was changed; "
            "see `normalizer audit`"
        )


def check_records(ledger: Ledger) -> None:
    """Raise UnusableLedger unless every record has its own id and every entry exactly one record."""
    files = {kind: _Records(ledger, kind) for kind in ("records", "invalid")}
    for header in ledger.sound("headers"):
        counts = _COUNTS.match(header)
        if counts is None:
            raise UnusableLedger(f"{ledger.path('headers')} has a line that no run writes: see `normalizer audit`")
        indexes = []
        for (kind, records), promised in zip(files.items(), counts.groups()[2:], strict=True):
            found = records.of(counts[1])
            if len(found) != int(promised):
                raise UnusableLedger(
                    f"bundle {counts[1].decode()}: {len(found)} {_VERDICT[kind]} records are there, but the headers "
                    f"promise {int(promised)}: was a ledger edited? See `normalizer audit`"
                )
            indexes += found
        indexes.sort()
        if len(indexes) != int(counts[2]) or indexes != list(range(len(indexes))):
            raise UnusableLedger(
                f"bundle {counts[1].decode()}: not every entry has exactly one record: see `normalizer audit`"
            )
    for records in files.values():
        records.end()


class _Records:
    """The records of one file, taken bundle by bundle."""

    def __init__(self, ledger: Ledger, kind: str) -> None:
        self._kind = kind
        self._where = sha_slice(kind)
        self._lines = self._checked(ledger)
        self._next = next(self._lines, None)

    def of(self, sha256: bytes) -> list[int]:
        """The indexes of the bundle's records here."""
        found = []
        while self._next is not None and self._next[self._where] <= sha256:
            if self._next[self._where] != sha256:
                self._without_header(self._next)
            found.append(int(self._next[_INDEX_AT : self._next.index(b",", _INDEX_AT)]))
            self._next = next(self._lines, None)
        return found

    def end(self) -> None:
        """Raise UnusableLedger if records are left."""
        if self._next is not None:
            self._without_header(self._next)

    def _without_header(self, line: bytes) -> None:
        sha256 = line[self._where].decode()
        raise UnusableLedger(f"bundle {sha256}: {self._kind}.jsonl has records of it, but it has no header")

    def _checked(self, ledger: Ledger) -> Iterator[bytes]:
        for number, line in enumerate(ledger.sound(self._kind), start=1):
            if not has_own_id(self._kind, line):
                refuse_changed_id(self._kind, line, number)
            yield line
