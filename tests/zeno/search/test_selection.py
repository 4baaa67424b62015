"""Nothing partial passes for complete: what was left out is counted, and what was looked at has a digest."""

import hashlib
import os
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.files.tree import Tree
from zeno.search.selection import under
from zeno.text.path_names import Paths

EASY = settings(max_examples=100, suppress_health_check=list(HealthCheck))
KINDS = ["text", "match", "binary", "large", "fifo", "to file", "to directory", "to nowhere", "to outside", "to fifo"]
NAMES = ["a", "b/c", "b/d", "e.py", "z/y/x", ".h"]


def plant(root, tree):
    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    (root / "q").mkdir()
    (root / "q" / "target").write_text("hay\n")
    (root / "q" / "directory").mkdir()
    os.mkfifo(root / "q" / "pipe")
    for path, kind in tree.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "fifo":
            os.mkfifo(place)
        elif kind.startswith("to "):
            there = {
                "file": "target",
                "directory": "directory",
                "nowhere": "gone",
                "fifo": "pipe",
                "outside": "../../x",
            }
            place.symlink_to(os.path.relpath(root / "q" / there[kind.removeprefix("to ")], place.parent))
        else:
            place.write_bytes({"text": b"hay\n", "match": b"needle\n" * 3, "binary": b"\0", "large": b"x" * 500}[kind])


@EASY
@given(
    tree=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(KINDS)),
    cap=st.integers(1, 4),
    paths=st.sampled_from([["."], ["b"], ["*.py", "z"], ["q", "a"]]),
    hidden=st.booleans(),
)
def test_grep_counts_all_that_was_selected_and_not_searched_wherever_it_stops(root, ask, tree, cap, paths, hidden):
    plant(root, tree)
    result = ask("grep", pattern="needle", max_hits=cap, max_bytes=400, paths=paths, include_hidden=hidden)["result"]
    tree = {**tree, "q/pipe": "fifo"}
    selected = [
        kind
        for path, kind in tree.items()
        if (hidden or not path.startswith("."))
        and (
            paths == ["."]
            or any(path == one or path.startswith(f"{one}/") for one in paths)
            or (path == "e.py" and "*.py" in paths)
        )
    ]
    odd = ["fifo", "to nowhere", "to outside", "to fifo"]
    named = sum(tree.get(path) == "to directory" for path in paths)
    assert result["skipped"] == {
        "binary": selected.count("binary"),
        "too_large": selected.count("large"),
        "unreadable": 0,
        "not_regular": sum(kind in odd for kind in selected) + named,
    }
    linked = selected.count("to directory") - named
    assert result["left_out"].get("linked_dirs", 0) >= linked
    regular = [kind for kind in selected if kind not in (*odd, "to directory")]
    targets = 1 if paths == ["."] or "q" in paths else 0
    assert result["files_selected"] == len(regular) + targets
    gaps = sum(number for reason, number in result["skipped"].items() if reason != "binary")
    whole = not result["truncated"] and not gaps
    assert len(result.get("skipped_files", [])) == min(5, gaps)
    assert result["complete"] == (whole and result["files_selected"] > 0)


@EASY
@given(tree=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(KINDS)), glob=st.sampled_from(["*", "b/*", "e*"]))
def test_list_files_counts_names_that_are_no_files(root, ask, tree, glob):
    plant(root, tree)
    result = ask("list_files", glob=glob)["result"]
    odd = ["fifo", "to nowhere", "to outside", "to fifo"]
    tree = {**tree, "q/pipe": "fifo"}
    met = [path for path, kind in tree.items() if kind in odd and path.startswith(glob[:-1]) and path != ".h"]
    assert result["skipped"] == {"unreadable": 0, "not_regular": len(met)}
    assert result["complete"] == (not met and bool(result["files"]))


def test_the_digest_is_that_of_the_names_and_anybody_can_make_it(root, ask):
    for path in ["b/x", "a", "b-", ".h", "skip.md"]:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).touch()
    listed = ask("list_files", exclude_globs=["*.md"])["result"]
    expected = hashlib.sha256("".join(f"{path}\0" for path in listed["files"]).encode()).hexdigest()
    assert listed["files_digest"] == expected
    searched = ask("grep", pattern="x", exclude_globs=["*.md"], paths=["b"])["result"]
    assert searched["files_digest"] == expected
    found = "find . -type f -not -path '*/.*' -not -name '*.md' -printf '%P\\0' | LC_ALL=C sort -z | sha256sum"
    by_shell = subprocess.run(found, shell=True, cwd=root, capture_output=True, text=True, check=True).stdout
    assert by_shell.split()[0] == expected


def test_no_two_lists_of_names_have_the_same_digest(root, ask):
    digests = set()
    lists: list[list[str | bytes]] = [["a\nb"], ["a", "b"], ["ab"], [b"a\xff"], ["affb"], ["a", "ff"], []]
    for names in lists:
        for path in root.iterdir():
            path.unlink()
        for name in names:
            (root / os.fsdecode(name)).touch()
        digests.add(ask("list_files")["result"]["files_digest"])
    assert len(digests) == 7


def test_no_hits_in_a_complete_answer_means_that_there_is_none(root, ask):
    (root / "a").write_text("hay\n")
    assert ask("grep", pattern="needle")["result"]["complete"] is True
    (root / "b").write_bytes(b"needle\0")
    binary = ask("grep", pattern="needle")["result"]
    assert (binary["hits"], binary["complete"], binary["skipped"]["binary"]) == ([], True, 1)
    (root / "c").write_bytes("\ufeffneedle".encode("utf-16-le"))
    partial = ask("grep", pattern="needle")["result"]
    assert (partial["hits"], partial["complete"], partial["skipped"]["unreadable"]) == ([], False, 1)
    assert partial["skipped_files"] == [{"path": "c", "reason": "unreadable"}]
    assert ask("grep", pattern="needle", exclude_globs=["c"])["result"]["complete"] is True


@pytest.mark.parametrize(("limit", "complete"), [(1, False), (2, True)])
def test_a_cut_scan_is_not_complete_and_counts_only_what_it_came_by(root, ask, limit, complete):
    os.mkfifo(root / "0")
    (root / "a").touch()
    (root / "b").touch()
    os.mkfifo(root / "c")
    result = ask("list_files", max_files=limit, exclude_globs=["[0c]"] if complete else [])["result"]
    assert (result["complete"], result["skipped"]["not_regular"]) == (complete, 0 if complete else 1)


def test_the_log_is_not_even_counted(root, pipe):
    server = pipe("--log", str(root / "log"))
    server.ask("list_files")
    (root / "hard").hardlink_to(root / "log")
    (root / ".hidden").hardlink_to(root / "log")
    (root / "seen").touch()
    result = server.ask("list_files")["result"]
    assert (result["files"], result["complete"]) == (["seen"], True)
    assert set(result["left_out"].values()) == {0}


STEPS = st.sampled_from(["a", "a.", "a-", "a0", "a*", "b", "*", "é", ".", "a[b]"])
ENTRIES = st.lists(STEPS, min_size=1, max_size=3).map("/".join)


@EASY
@given(
    paths=st.sets(st.lists(STEPS, min_size=1, max_size=3).map("/".join)),
    entries=st.lists(ENTRIES, min_size=1, max_size=3),
)
def test_picking_in_one_go_is_asking_about_each(root, paths, entries):
    with Tree(str(root)) as tree:
        selection = under(tree, entries, "paths")
    assert selection.pick(Paths(sorted(paths))) == [path for path in sorted(paths) if selection.wanted(path)]


@pytest.mark.parametrize("others", [0, 100])
def test_many_paths_take_what_each_takes(root, ask, others):
    """Few are compared with each file, of many the file's own directories are looked up."""
    for path in ("a/b/c", "a/bb", "a.txt", "d/e/f/g", "x"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("hay\n")
    paths = ["a/b/", "././/d/e", "x/", *(f"other{number}" for number in range(others))]
    hits = ask("grep", pattern="hay", paths=paths)["result"]["hits"]
    assert [hit["path"] for hit in hits] == ["a/b/c", "d/e/f/g"]
    hits = ask("grep", pattern="hay", paths=[*paths, "./" * 300_000 + "x"])["result"]["hits"]
    assert [hit["path"] for hit in hits] == ["a/b/c", "d/e/f/g", "x"]
