"""The root holds: against hostile paths, links that lead out, things that are no files, and a racing neighbour."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.patience import PATIENCE
from zeno.errors import NotAFile, NotFound, OutsideRoot
from zeno.files.batch_open import UNREADABLE
from zeno.files.file_tree import Entry
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import walk

SECRET = b"the secret\n"


@pytest.fixture
def tree(root):
    (root.parent / "secret.txt").write_bytes(SECRET)
    (root / "d").mkdir()
    (root / "d" / "a.txt").write_text("inside\n")
    with Tree(str(root)) as tree:
        yield tree


def read(tree: Tree, path: str) -> bytes:
    with tree.open(path) as file:
        return b"".join(file.chunks())


def test_a_relative_and_an_absolute_path_lead_to_the_same_file(tree, root):
    assert read(tree, "d/a.txt") == read(tree, f"{root}/d/a.txt") == b"inside\n"


def test_another_way_to_the_root_counts_as_inside(tree, root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    assert read(tree, f"{tmp_path}/alias/d/a.txt") == b"inside\n"


def test_a_root_given_as_the_parent_of_a_link_is_where_the_system_says(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to(tmp_path / "b" / "c")
    (tmp_path / "b" / "x").write_text("in b")
    with Tree(f"{tmp_path}/a/link/..") as tree:
        assert read(tree, "x") == read(tree, f"{tmp_path}/b/x") == b"in b"
        with pytest.raises(OutsideRoot):
            tree.place(f"{tmp_path}/a/x")


def test_a_way_in_never_tells_what_exists_beside_it(tree, root, tmp_path):
    for beside in ("root", "nothing"):
        with pytest.raises(OutsideRoot):
            tree.place(f"{tmp_path}/{beside}/../../{tmp_path.name}/root/d")


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "d/../../secret.txt",
        "../root/d/a.txt",
        "..",
        "/etc/passwd",
        "/",
        "nowhere/../../secret.txt",
        "d/a.txt/../../../x",
    ],
)
def test_a_step_that_leaves_the_root_is_outside(tree, path):
    with pytest.raises(OutsideRoot):
        tree.place(path)


def test_a_link_that_leads_out_is_outside_whether_or_not_its_target_exists(tree, root):
    messages = set()
    for name, target in {"there": root.parent / "secret.txt", "gone_": root.parent / "nothing"}.items():
        (root / name).symlink_to(target)
        with pytest.raises(OutsideRoot) as refusal:
            read(tree, name)
        messages.add(str(refusal.value).replace(name, "NAME"))
    assert len(messages) == 1


def test_links_inside_work_relative_and_absolute_and_the_path_is_resolved(tree, root):
    (root / "near").symlink_to("d/a.txt")
    (root / "far").symlink_to(root / "d")
    assert tree.place("near").path == "d/a.txt"
    assert tree.place("far/a.txt").path == "d/a.txt"
    assert tree.place("far/..").path == "."


def test_only_what_an_absolute_link_by_another_name_leads_to_can_change_from_outside(tree, root, tmp_path):
    (root / "f").write_text("")
    (tmp_path / "way").symlink_to(root)
    (root / "relative").symlink_to("f")
    (root / "own").symlink_to(root / "f")
    (root / "own-way").symlink_to(root / "own")
    (root / "other").symlink_to(tmp_path / "way" / "f")
    (root / "other-way").symlink_to(root / "other")
    (root / "out").symlink_to(tmp_path / "nothing")
    (root / "folder").symlink_to(root)
    assert [tree.link_target(name)[:4] for name in ("relative", "own", "own-way")] == [("f", False, False, False)] * 3
    assert [tree.link_target(name)[:4] for name in ("other", "other-way", "out", "folder")] == [
        ("f", False, False, True),
        ("f", False, False, True),
        (None, False, False, True),
        (None, True, False, False),
    ]


def test_a_way_down_that_ends_early_leads_no_other_file_astray(tree, root):
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "f").write_text("near")
    (root / "a" / "b" / "f").write_text("deep")
    with tree.batch_opener() as opener:
        # The buffer is too small, so that the bytes themselves are returned.
        found = [
            opener.fill(path, 9, bytearray(1))
            for path in (b"a/f", b"a/b/gone/f", b"a/f", b"a/b/f", b"a/b/gone/f", b"f")
        ]
    assert found == [b"near", UNREADABLE, b"near", b"deep", UNREADABLE, UNREADABLE]


def test_links_add_only_so_many_components_to_a_path(tree, root):
    """A few links with long targets that lead to each other would otherwise take a third of a second for each path."""
    for steps, leads in ((120, True), (130, False)):
        (root / "first").symlink_to("d/../" * (steps // 2) + "d/a.txt")
        (root / "second").symlink_to("d/../" * (steps // 2) + "first")
        assert (tree.place("second").entry is not None) == leads
        assert (tree.link_target("second").path == "d/a.txt") == leads
        (root / "first").unlink()
        (root / "second").unlink()


def test_loops_files_used_as_directories_and_long_names_lead_nowhere(tree, root):
    (root / "loop").symlink_to("loop")
    for path in ["loop", "d/a.txt/x", "d/a.txt/", "x" * 300, "d/" * 3000 + "a"]:
        with pytest.raises(NotFound):
            read(tree, path)


def test_the_opened_root_goes_on_being_served_when_its_name_is_given_away(tree, root, tmp_path):
    root.rename(tmp_path / "moved")
    root.mkdir()
    (root / "d").mkdir()
    (root / "d" / "a.txt").write_text("another\n")
    assert read(tree, "d/a.txt") == b"inside\n"
    assert read(tree, f"{root}/d/a.txt") == b"inside\n"


def test_what_is_no_regular_file_is_never_opened(tree, root, monkeypatch):
    os.mkfifo(root / "fifo")
    monkeypatch.chdir(root)  # a socket's path has room for about a hundred characters
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for name in ["fifo", "socket", "d"]:
            with pytest.raises(NotAFile):
                read(tree, name)
    walked = walk(tree, NameRules(include_hidden=True))
    assert [path for path, problem in walked if problem is None] == ["d/a.txt"]


STEPS = st.lists(
    st.sampled_from(["..", ".", "", "d", "e", "a.txt", "in", "out", "up", "abs", "loop", "gone", "nowhere"]),
    min_size=1,
    max_size=7,
)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, absolute=st.booleans())
def test_no_path_leads_out_and_every_path_that_stays_in_leads_where_the_system_says(tree, root, steps, absolute):
    if not (root / "in").is_symlink():
        (root / "d" / "e").mkdir()
        (root / "in").symlink_to("d/e")
        (root / "out").symlink_to("..")
        (root / "d" / "up").symlink_to("../d/a.txt")
        (root / "abs").symlink_to(root / "d")
        (root / "loop").symlink_to("loop")
        (root / "gone").symlink_to("d/nowhere")
    path = "/".join(steps)
    path = f"{root}/{path}" if absolute else path
    if not path:
        return
    real = Path(os.path.realpath(root / path))
    try:
        place = tree.place(path)
    except OutsideRoot:
        return  # that a step leaves the root is proved above; here it matters that nothing else happens
    if place.entry is None:
        assert not os.path.exists(os.path.join(root, path))
    else:
        assert real.is_relative_to(root)
        assert place.entry == Entry.of(os.stat(os.path.join(root, path)))
        assert place.path == os.path.relpath(real, root)


SWAP = """
import os, sys
os.chdir(sys.argv[1])
print("ready", flush=True)
while True:
    os.rename("good", "turning")
    os.rename("evil", "good")
    os.rename("turning", "evil")
"""


def test_not_a_byte_leaks_while_a_directory_and_a_link_that_leads_out_change_places(tree, root):
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_bytes(SECRET)
    (outside / "secret-name").write_bytes(SECRET)
    (root / "good").mkdir()
    (root / "good" / "a.txt").write_text("inside\n")
    (root / "evil").symlink_to(outside)
    seen = {"read": 0, "refused": 0}
    with subprocess.Popen([sys.executable, "-c", SWAP, str(root)], stdout=subprocess.PIPE) as neighbour:
        assert neighbour.stdout is not None
        neighbour.stdout.readline()
        try:
            deadline = time.monotonic() + PATIENCE
            rounds = 0
            # So often at least, and as long as it takes for the race to be on.
            while rounds < 4000 or (min(seen.values()) <= 100 and time.monotonic() < deadline):
                rounds += 1
                for name in ("good/a.txt", "evil/a.txt"):
                    try:
                        assert read(tree, name) == b"inside\n"
                        seen["read"] += 1
                    except (OutsideRoot, NotFound):
                        seen["refused"] += 1
                for path, _ in walk(tree, NameRules()):
                    assert "secret" not in path
        finally:
            neighbour.kill()
    assert min(seen.values()) > 100, f"the race did not happen: {seen}"
