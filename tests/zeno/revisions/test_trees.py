"""Directories and commits are parsed strictly: what no checkout can have is refused."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.repositories import COMMITTED_AT, commit, git, init
from zeno.files.sealed_folder import SealedFolder
from zeno.revisions.objects import Objects, Unavailable
from zeno.revisions.trees import TreeEntry, Trees, parse_tree

NAMES = st.binary(min_size=1, max_size=6).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..") and name.lower() != b".git"
)


@given(
    entries=st.dictionaries(
        NAMES,
        st.tuples(
            st.sampled_from([b"100644", b"100755", b"40000", b"120000", b"160000"]), st.binary(min_size=20, max_size=20)
        ),
    )
)
@settings(deadline=None)
def test_a_directory_is_parsed_as_it_was_written(entries: dict[bytes, tuple[bytes, bytes]]) -> None:
    data = b"".join(b"%b %b\0%b" % (mode, name, one) for name, (mode, one) in entries.items())
    assert parse_tree(data, 20) == {name: TreeEntry(*entry) for name, entry in entries.items()}


@given(data=st.binary(max_size=80))
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    try:
        found = parse_tree(data, 20)
    except Unavailable:
        return
    assert b"".join(b"%b %b\0%b" % (entry.mode, name, entry.id) for name, entry in found.items()) == data


@pytest.mark.parametrize(
    "data",
    [b"100644 a", b"100644 a\0" + bytes(19), b"x" * 21 + b"100644 a", b"40000 " * 50_000],
    ids=["no end", "short", "as long as one with an id", "many"],
)
def test_an_entry_without_an_id_is_refused_at_once(data: bytes) -> None:
    before = time.process_time()
    for around in (b"", b"100644 b\0" + bytes(20)):
        with pytest.raises(Unavailable, match="damaged"):
            parse_tree(around + data, 20)
    assert time.process_time() - before < 2


@pytest.mark.parametrize("name", [b"", b".", b"..", b".git", b".GIT", b"a/b"])
def test_names_that_no_checkout_can_have_are_refused(name: bytes) -> None:
    with pytest.raises(Unavailable, match="no checkout"):
        parse_tree(b"100644 %b\0%b" % (name, bytes(20)), 20)


def test_a_name_that_is_there_twice_is_refused() -> None:
    with pytest.raises(Unavailable, match="no checkout"):
        parse_tree(b"100644 a\0" + bytes(20) + b"40000 a\0" + bytes(20), 20)


def test_the_time_of_a_commit_is_that_of_its_committer(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    (folder / "a.txt").write_text("one\n")
    one = commit(folder, "tree 0\ncommitter x <y> 7 +0000\n")
    trees = Trees(Objects(SealedFolder.at(os.fsencode(folder / ".git")), "sha1"))
    found = trees.read_commit(bytes.fromhex(one))
    assert found.time == COMMITTED_AT
    assert found.tree.hex() == git(folder, "rev-parse", "HEAD^{tree}").decode().strip()
    with pytest.raises(Unavailable, match="no commit"):
        trees.read_commit(found.tree)
    with pytest.raises(Unavailable, match="no directory"):
        trees.read(found.id)


def test_a_directory_that_is_too_large_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = init(tmp_path / "r")
    (folder / "a.txt").write_text("one\n")
    commit(folder)
    tree = bytes.fromhex(git(folder, "rev-parse", "HEAD^{tree}").decode().strip())
    trees = Trees(Objects(SealedFolder.at(os.fsencode(folder / ".git")), "sha1"))
    monkeypatch.setattr("zeno.revisions.trees.MAX_TREE", 32)
    with pytest.raises(Unavailable, match="more than the 32"):
        trees.read(tree)
    trees.objects.close()
