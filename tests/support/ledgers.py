"""Ledgers for tests: with a commit record that covers whatever is there now, or without one."""

from pathlib import Path

from normalizer.ledger.buckets import places_in
from normalizer.ledger.commit_record import NAME, encode, line_file, node_name
from normalizer.ledger.commit_tree import arrange_tree
from normalizer.ledger.record_index import make_index


def recommit(ledger: Path) -> None:
    """Write the commit record that a forger would write: it covers the files as they are now."""
    files = []
    for place in places_in(ledger):
        data = (ledger / place.name).read_bytes()
        files.append(line_file(place, data))
        if place.index_name is not None:
            (ledger / place.index_name).write_bytes(make_index(data))
    for node in arrange_tree(files):
        (ledger / node_name(node.prefix)).write_bytes(encode(node))


def without_record(ledger: Path) -> Path:
    """Take its commit record away."""
    (ledger / NAME).unlink()
    return ledger
