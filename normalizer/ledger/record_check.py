"""The check that every command makes before it computes: cheap, and independent of the raw bundles.

The files must have the digests of the commit record, which notices edited, lost, doubled and misplaced lines. It does
not notice lines that were forged together with ids, counts and digests: only `reverify` does, which normalizes the raw
bundles again.
"""

from collections.abc import Callable

from normalizer.errors import UnusableLedger
from normalizer.ledger.line_format import has_own_id, sha_slice
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
    """Raise UnusableLedger if a file of the ledger was changed."""
    ledger.check_digests()
