"""Ledgers for tests: with a commit record that covers whatever is there now, or without one."""

from pathlib import Path

from normalizer.ledger.buckets import places_in
from normalizer.ledger.commit_record import NAME, encode, line_file, node_name
from normalizer.ledger.commit_tree import arranged_tree


def recommit(ledger: Path) -> None:
    """Write the commit record that a forger would write: it covers the files as they are now."""
    files = [line_file(place, (ledger / place.name).read_bytes()) for place in places_in(ledger)]
    for node in arranged_tree(files):
        (ledger / node_name(node.prefix)).write_bytes(encode(node))


def without_record(ledger: Path) -> Path:
    """Take its commit record away."""
    (ledger / NAME).unlink()
    return ledger
