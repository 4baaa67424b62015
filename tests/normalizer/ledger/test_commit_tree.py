"""The tree of commit records: a function of the files, and a bucket is found by the records on the way to it."""

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.errors import UnusableLedger
from normalizer.ledger import commit_tree
from normalizer.ledger.buckets import LinePlace
from normalizer.ledger.commit_record import LineFile, encode, node_name
from normalizer.ledger.commit_tree import CommitTree, arrange_tree
from normalizer.ledger.line_format import FILES


@pytest.fixture(autouse=True)
def _small_records(monkeypatch):
    monkeypatch.setattr(commit_tree, "MOST_FILES", 3)


def leaves(draw: st.DrawFn, prefix: str = "") -> list[str]:
    """Prefixes of which none begins with another, some of them whole hashes."""
    if len(prefix) > 3 or draw(st.booleans()):
        return [prefix.ljust(64, "0") if prefix and draw(st.integers(0, 5)) == 0 else prefix]
    return [leaf for digit in draw(st.sets(st.sampled_from("03f"))) for leaf in leaves(draw, prefix + digit)]


@st.composite
def states(draw: st.DrawFn) -> list[LineFile]:
    """The files of a ledger."""
    found = []
    for kind in FILES:
        for prefix in leaves(draw):
            firsts = [0, *draw(st.sets(st.integers(1, 9)))] if len(prefix) == 64 else [0]
            for first in firsts:
                place = LinePlace(kind, prefix, first)
                size = draw(st.integers(0, 3))
                digest = hashlib.sha256(place.name.encode() * size).hexdigest()
                found.append(LineFile(place, size, size, digest, digest if place.index_name else ""))
    return sorted(found)


def written(files: list[LineFile], folder: Path) -> dict[str, bytes]:
    records = {node_name(node.prefix): encode(node) for node in arrange_tree(files)}
    for name, data in records.items():
        (folder / name).write_bytes(data)
    return records


@given(states(), states())
@settings(max_examples=150)
def test_a_changed_tree_is_the_one_that_is_made_from_its_files(before, after):
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        records = written(before, folder)
        gone = [file.place for file in before if file not in after]
        change = CommitTree(folder).change(gone, [file for file in after if file not in before])
        records |= {node_name(prefix): encode(node) for prefix, node in change.nodes.items()}
        for name in change.removed:
            records.pop(name, None)
        assert records == {node_name(node.prefix): encode(node) for node in arrange_tree(after)}
        for kind in FILES:
            mine = [file for file in after if file.place.kind == kind]
            total = change.totals[kind]
            assert total == (len(mine), sum(file.bytes for file in mine), sum(file.lines for file in mine))


@given(states(), st.text("03f", min_size=4, max_size=4))
@settings(max_examples=150)
def test_files_are_found_below_a_prefix_and_by_the_hash_of_a_bundle(files, digits):
    sha256 = digits.ljust(64, "0")
    with TemporaryDirectory() as scratch:
        written(files, Path(scratch))
        for kind in FILES:
            mine = [file for file in files if file.place.kind == kind]
            tree = CommitTree(Path(scratch))
            assert list(tree.files(kind)) == mine
            assert tree.files_of(kind, sha256) == [file for file in mine if sha256.startswith(file.place.prefix)]
            for prefix in ("", digits[:1], digits[:2], digits):
                below = [file for file in mine if file.place.prefix.startswith(prefix)]
                assert list(tree.files(kind, prefix)) == below
                assert tree.bytes_below(kind, prefix) == sum(file.bytes for file in below)


@given(states())
@settings(max_examples=50)
def test_every_record_is_named_by_its_digest_in_the_one_above(files):
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, data in written(files, folder).items():
            (folder / name).write_bytes(data.replace(b'"format":2', b'"format": 2'))
            with pytest.raises(UnusableLedger, match=f"{name} was changed"):
                list(CommitTree(folder).names())
            (folder / name).write_bytes(data)
        assert set(CommitTree(folder).names()) == {path.name for path in folder.iterdir()} | {
            name for file in files for name in (file.place.name, file.place.index_name) if name
        }
