"""list_files: order, caps and the rules of what is listed."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def make(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def files(answer):
    assert answer["ok"], answer
    return answer["result"]["files"]


def test_paths_sort_by_the_code_points_of_the_whole_path(root, ask):
    make(root, "a/x", "a-b/x", "a.txt", "B", "é", "a/b/c")
    assert files(ask("list_files")) == ["B", "a-b/x", "a.txt", "a/b/c", "a/x", "é"]


NAMES = st.text("aB-./é~", min_size=1, max_size=9).map(
    lambda text: "/".join(part for part in text.split("/") if part.strip("."))
)


@settings(max_examples=40)
@given(
    names=st.sets(NAMES.filter(bool), max_size=8), cap=st.integers(1, 9), scan=st.integers(1, 9), hidden=st.booleans()
)
def test_the_walk_is_sorted_and_caps_bite_where_they_say(tmp_path_factory, names, cap, scan, hidden):
    from zeno.files.tree import Tree
    from zeno.search.corpus import ColdCorpus
    from zeno.session.server import Server

    root = tmp_path_factory.mktemp("tree")
    made = set()
    for name in sorted(names):
        try:
            make(root, name)
            made.add(name)
        except OSError:
            pass  # a file stands where this name needs a directory, or the other way round
    wanted = sorted(name for name in made if hidden or not any(part.startswith(".") for part in name.split("/")))
    with Tree(str(root)) as tree:
        import json

        request = {"id": "1", "op": "list_files", "args": {"max": cap, "max_files": scan, "include_hidden": hidden}}
        result = json.loads(Server(ColdCorpus(tree)).answer(json.dumps(request).encode()))["result"]
    looked_at = wanted[:scan]
    limits = (["max"] if len(looked_at) > cap else []) + (["max_files"] if len(wanted) > scan else [])
    assert result["files"] == looked_at[:cap]
    assert result["truncated"] is bool(limits)
    assert result.get("truncated_by", []) == limits


def test_a_glob_wins_over_a_regex_and_the_regex_searches_the_path(root, ask):
    make(root, "src/a.py", "src/b.go", "docs/a.md")
    assert files(ask("list_files", glob="*.go", regex="a")) == ["src/b.go"]
    assert files(ask("list_files", regex="a\\.(py|md)$")) == ["docs/a.md", "src/a.py"]


def test_hidden_and_excluded_files_are_left_out(root, ask):
    make(root, ".git/config", "a/.env", "node_modules/x/i.js", "src/node_modules/j.js", "src/a.min.js", "src/a.js")
    assert files(ask("list_files", exclude_dirs=["node_modules"], exclude_globs=["*.min.js"])) == ["src/a.js"]
    assert ".git/config" in files(ask("list_files", include_hidden=True))


def test_links_to_files_inside_are_listed_and_nothing_else_that_is_no_file(root, ask):
    make(root, "d/a.txt")
    (root.parent / "secret").write_text("s")
    (root / "file").symlink_to("d/a.txt")
    (root / "dir").symlink_to("d")
    (root / "out").symlink_to("../secret")
    (root / "gone").symlink_to("nothing")
    os.mkfifo(root / "fifo")
    assert files(ask("list_files")) == ["d/a.txt", "file"]


def test_a_name_that_is_not_utf8_is_printed_so_that_it_opens_again(root, ask):
    with open(os.fsencode(root) + b"/caf\xe9.txt", "wb") as file:
        file.write(b"found\n")
    make(root, "plain")
    listed = files(ask("list_files"))
    assert listed == ["caf\0e9.txt", "plain"]
    assert ask("read_file", path=listed[0])["result"]["text"] == "found"


@pytest.mark.parametrize("depth", [600])
def test_a_very_deep_tree_is_listed_and_read(root, ask, depth):
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    path = "d/" * depth + "f"
    assert files(ask("list_files")) == [path]
    assert ask("stat", path=path)["result"]["items"][0]["exists"]


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(order=st.permutations(["b/x", "a", "c/d/e", "b-", "b/a"]))
def test_the_order_in_which_files_were_made_does_not_show(tmp_path_factory, order):
    from zeno.files.rules import NameRules
    from zeno.files.tree import Tree
    from zeno.files.walk import walk

    root = tmp_path_factory.mktemp("tree")
    make(root, *order)
    with Tree(str(root)) as tree:
        walked = walk(tree, NameRules())
        assert list(walked) == [(path, None) for path in ["a", "b-", "b/a", "b/x", "c/d/e"]]


def test_files_by_time_come_newest_first_and_links_have_the_time_of_their_target(root, ask):
    make(root, "old", "b", "a", "d/new")
    (root / "link").symlink_to("d/new")
    for path, moment in {"old": 1, "b": 5, "a": 5, "d/new": 9}.items():
        os.utime(root / path, ns=(moment, moment))
    assert files(ask("list_files", sort="mtime")) == ["d/new", "link", "a", "b", "old"]
    cut = ask("list_files", sort="mtime", max=3)["result"]
    assert (cut["files"], cut["truncated_by"]) == (["d/new", "link", "a"], ["max"])
    assert "cursor" not in cut


@pytest.mark.parametrize("args", [{"sort": "mtime"}, {"tree": True}])
def test_a_cursor_of_a_plain_list_is_refused_by_other_lists_with_what_to_do(root, ask, args):
    make(root, "a", "b")
    cursor = ask("list_files", max=1)["result"]["cursor"]
    error = ask("list_files", max=1, cursor=cursor, **args)["error"]
    assert error["code"] == "invalid_args"
    assert "args.cursor" in error["message"]
    assert "args.max" in error["message"]


def tree(answer):
    assert answer["ok"], answer
    return [tuple(one.values()) for one in answer["result"]["tree"]]


def test_an_overview_tells_whose_lines_were_not_counted(root, ask):
    make(root, "a-b/x", "a/x")
    (root / "a/binary").write_bytes(b"1\n\0\n")
    (root / "a/b/c").mkdir(parents=True)
    (root / "a/b/c/two").write_bytes(b"\xef\xbb\xbf1\r\n2")
    (root / "a/b/large").write_bytes(b"\n" * 2_000_001)
    (root / "a/b/largest").write_bytes(b"\n" * 2_000_000)
    assert tree(ask("list_files", tree=True, depth=2)) == [
        (".", 6, 2_000_004, 2),
        ("a", 5, 2_000_003, 2),
        ("a-b", 1, 1, 0),
        ("a/b", 3, 2_000_002, 1),
    ]
    assert tree(ask("list_files", tree=True, glob="**/two", depth=9))[-1] == ("a/b/c", 1, 2, 0)
    assert tree(ask("list_files", tree=True, glob="nope")) == []
