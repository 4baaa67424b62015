"""The check that every command makes before it computes: cheap, and independent of the raw bundles.

The files must have the digests of the commit record. In a ledger of an earlier version, which has no commit record,
each record must have the id of its own content, and each entry that a header promises exactly one record. Both notice
edited, lost, doubled and misplaced lines. Neither notices lines that were forged together with ids, counts and
digests: only `reverify` does, which normalizes the raw bundles again.
"""

from collections.abc import Callable, Iterator

from normalizer.errors import UnusableLedger
from normalizer.ledger.line_format import RECORD_FILES, VERDICTS, has_own_id, index_of, promised, sha_slice
from normalizer.ledger.reader import Ledger

Check = Callable[[Ledger], None]
"""A check of an open ledger's records; it raises UnusableLedger."""


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
    """Raise UnusableLedger if a file of the ledger was changed.

    With a commit record the digests are compared. Without one, every record must have its own id, and every entry
    exactly one record.
    """
    if ledger.spans is not None:
        ledger.check_digests()
        return
    files = {kind: _Records(ledger, kind) for kind in RECORD_FILES}
    where = sha_slice("headers")
    for header in ledger.checked_lines("headers"):
        counts, sha256 = promised(header), header[where]
        if counts is None:
            raise UnusableLedger(f"{ledger.path('headers')} has a line that no run writes: see `normalizer audit`")
        indexes = []
        for (kind, records), expected in zip(files.items(), counts[1:], strict=True):
            found = records.of(sha256)
            if len(found) != expected:
                raise UnusableLedger(
                    f"bundle {sha256.decode()}: {len(found)} {VERDICTS[kind]} records are there, but the headers "
                    f"promise {expected}: was a ledger edited? See `normalizer audit`"
                )
            indexes += found
        indexes.sort()
        if len(indexes) != counts.entries or indexes != list(range(len(indexes))):
            raise UnusableLedger(
                f"bundle {sha256.decode()}: not every entry has exactly one record: see `normalizer audit`"
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
            found.append(index_of(self._next))
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
        for number, line in enumerate(ledger.checked_lines(self._kind), start=1):
            if not has_own_id(self._kind, line):
                refuse_changed_id(self._kind, line, number)
            yield line
