"""Ledgers for tests: with a commit record that covers whatever is there now, or without one."""

from pathlib import Path

from normalizer.ledger.commit_record import NAME, SpanDigester, bucket_of, encode
from normalizer.ledger.line_format import FILES, sha_slice


def recommit(ledger: Path) -> None:
    """Write the commit record that a forger would write: it covers the files as they are now."""
    spans = {}
    for kind in FILES:
        digester = SpanDigester()
        for line in (ledger / f"{kind}.jsonl").read_bytes().splitlines(keepends=True):
            digester.add(bucket_of(line[sha_slice(kind)].decode()), line)
        spans[kind] = digester.spans()
    (ledger / NAME).write_bytes(encode(spans))


def without_record(ledger: Path) -> Path:
    """Make it a ledger of an earlier version."""
    (ledger / NAME).unlink()
    return ledger
