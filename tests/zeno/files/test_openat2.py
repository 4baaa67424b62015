"""The shortcut for single paths changes nothing: neither what is answered nor what can be reached."""

import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.zeno.cache.test_warm_corpus import EDIT, PATHS, edit
from zeno.errors import ZenoError
from zeno.files.tree import Tree

ASKED = st.one_of(PATHS, PATHS.map(lambda path: f"./{path}"), PATHS.map(lambda path: f"{path}/../a"), st.just("../x"))


def looked_at(tree: Tree, path: str) -> Any:
    """What place and open say of a path."""
    printed = path.replace("\udcff", "\0ff")
    said: list[Any] = []
    try:
        place = tree.place(printed)
        said.append((place.path, place.entry))
    except ZenoError as error:
        said.append((type(error), str(error)))
    try:
        with tree.open(printed) as file:
            said.append((file.path, b"".join(file.chunks())))
    except ZenoError as error:
        said.append((type(error), str(error)))
    return said


@given(edits=st.lists(EDIT, max_size=15), asked=st.lists(ASKED, min_size=1, max_size=8))
@settings(max_examples=100)
def test_the_shortcut_says_what_the_long_way_says(edits, asked):
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for change in edits:
            edit(root, *change)
        with Tree(folder) as slow, Tree(folder) as quick:
            quick.speed_up_lookups()
            for path in asked:
                assert looked_at(quick, path) == looked_at(slow, path)


def test_the_shortcut_is_taken(root):
    (root / "a").write_text("a\n")
    with Tree(str(root)) as tree:
        tree.speed_up_lookups()
        if tree._open_for_status is None or tree._open_for_status(tree._root, b"a") < 0:
            pytest.skip("this system has no openat2")
        assert tree._status_by_openat2("a", "path", check=True) is not None
        assert tree._open_by_openat2("a", "path") is not None
        assert tree._status_by_openat2("./a", "path", check=True) is None
        assert tree._status_by_openat2("../root/a", "path", check=True) is None


def test_a_directory_swapped_for_a_link_leaks_nothing(root):
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("secret\n")
    (root / "d").mkdir()
    (root / "d" / "f").write_text("public\n")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "d").rename(root / "e")
            (root / "d").symlink_to(outside)
            (root / "d").unlink()
            (root / "e").rename(root / "d")

    thread = threading.Thread(target=swap)
    thread.start()
    read = set()
    try:
        with Tree(str(root)) as tree:
            tree.speed_up_lookups()
            # At least so often, and as long as it takes for the race to be on.
            for count in range(1_000_000):
                if count >= 3000 and b"public\n" in read and b"" in read:
                    break
                try:
                    with tree.open("d/f") as file:
                        read.add(b"".join(file.chunks()))
                except ZenoError:
                    read.add(b"")
    finally:
        stop.set()
        thread.join()
    assert read <= {b"public\n", b""}
    assert b"public\n" in read
