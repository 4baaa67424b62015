"""Cursors: all pages together are the uncut result, and a cursor serves no other request."""

import shutil
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.results.cursors import issue

LINES = st.lists(st.sampled_from(["needle", "needle and more", "hay", ""]), max_size=6)
TREES = st.dictionaries(st.sampled_from(["a-b/x", "a/x", "a/y.py", "b/c/d", "b-", "é/f", "z", ".h"]), LINES, max_size=8)
EASY = settings(max_examples=120, suppress_health_check=list(HealthCheck))


def plant(root, tree):
    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path, lines in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("".join(line + "\n" for line in lines))


def pages(ask, op, key, between=lambda: None, **args):
    """All items of all pages, one after the other."""
    found = []
    cursor: dict[str, str] = {}
    for _ in range(200):
        answer = ask(op, **args, **cursor)
        assert answer["ok"], answer
        result = answer["result"]
        assert result["truncated"] == ("cursor" in result)
        assert not (result.get("complete") and cursor), "a later page passes for the whole"
        found += result[key]
        if not result["truncated"]:
            return found
        cursor = {"cursor": result["cursor"]}
        between()
    raise AssertionError("the pages have no end")


LIMITS = st.fixed_dictionaries(
    {}, optional={"max": st.integers(1, 3), "max_files": st.integers(1, 3), "max_chars": st.integers(1, 12)}
)


@EASY
@given(tree=TREES, limits=LIMITS, glob=st.sampled_from(["*", "a*", "*x", "nothing"]), hidden=st.booleans())
def test_all_pages_of_list_files_are_the_uncut_list(root, ask, tree, limits, glob, hidden):
    plant(root, tree)
    args = {"glob": glob, "include_hidden": hidden}
    assert pages(ask, "list_files", "files", **args, **limits) == ask("list_files", **args)["result"]["files"]


GREP_LIMITS = st.fixed_dictionaries({}, optional={"max_hits": st.integers(1, 4), "max_files": st.integers(1, 3)})


@EASY
@given(tree=TREES, limits=GREP_LIMITS, context=st.integers(0, 2), paths=st.sampled_from([["."], ["a"], ["*x", "z"]]))
def test_all_pages_of_grep_are_the_uncut_hits(root, ask, tree, limits, context, paths):
    plant(root, tree)
    args = {"pattern": "needle", "context": context, "paths": paths}
    assert pages(ask, "grep", "hits", **args, **limits) == ask("grep", **args)["result"]["hits"]


@EASY
@given(tree=TREES, limits=GREP_LIMITS, room=st.integers(1, 12))
def test_all_pages_of_counts_are_the_uncut_counts(root, ask, tree, limits, room):
    plant(root, tree)
    args = {"pattern": "needle", "output": "files"}
    assert pages(ask, "grep", "counts", **args, **limits, max_chars=room) == ask("grep", **args)["result"]["counts"]


@EASY
@given(tree=TREES, room=st.integers(1, 60), context=st.integers(0, 1))
def test_all_pages_under_a_limit_of_text_have_all_hits(root, ask, tree, room, context):
    plant(root, tree)
    args = {"pattern": "needle", "context": context}
    hits = pages(ask, "grep", "hits", **args, max_chars=room)
    uncut = ask("grep", **args)["result"]["hits"]
    assert [(hit["path"], hit["line"]) for hit in hits] == [(hit["path"], hit["line"]) for hit in uncut]
    for hit, whole in zip(hits, uncut, strict=True):
        assert hit["text"] in whole["text"]
        assert ("clipped" in hit) == (hit["text"] != whole["text"])


@EASY
@given(tree=TREES, limits=GREP_LIMITS, others=st.lists(st.sampled_from(["A", "a.txt", "b/c/e", "zz", "a-b/y"])))
def test_pages_do_not_mind_what_happens_to_other_files(root, ask, tree, limits, others):
    """Files that do not match come and go; whatever comes before or after, nothing is lost and nothing comes twice."""
    plant(root, tree)
    expected = ask("grep", pattern="needle")["result"]["hits"]
    turn = iter(others)

    def meddle():
        path = root / next(turn, "A")
        if path.exists():
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("hay\n")

    assert pages(ask, "grep", "hits", meddle, pattern="needle", **limits) == expected


def test_the_last_file_of_a_page_may_be_gone_when_the_next_is_asked_for(root, ask):
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("list_files", "files", {"max": 1}),
        ("grep", "hits", {"max_hits": 1, "pattern": "needle"}),
    ]
    for op, key, args in asked:
        plant(root, {name: ["needle"] * 2 for name in "abc"})
        cursor = ask(op, **args)["result"]["cursor"]
        (root / "a").unlink()
        items = ask(op, **args, cursor=cursor)["result"][key]
        assert items in (["b"], [{"path": "b", "line": 1, "text": "needle"}])


def test_all_pages_of_extract_symbols_are_all_symbols(root, ask):
    (root / "m.py").write_text("".join(f"def f{index}(): ...\n" for index in range(7)))
    uncut = ask("extract_symbols", path="m.py")["result"]["symbols"]
    assert len(uncut) == 7
    for cap in (1, 2, 3, 7):
        assert pages(ask, "extract_symbols", "symbols", path="m.py", max_symbols=cap) == uncut


@pytest.mark.parametrize("spelling", ["{}x", "x{}", "{}=", "{}\n", "", "é", "A", "AAAAAAAAAAAAAAAA", " {}"])
def test_a_garbled_cursor_is_refused(root, ask, spelling):
    plant(root, {"a": ["needle"] * 3})
    cursor = ask("grep", pattern="needle", max_hits=1)["result"]["cursor"]
    answer = ask("grep", pattern="needle", max_hits=1, cursor=spelling.format(cursor))
    assert answer["error"]["code"] == ("invalid_cursor" if spelling else "invalid_args")


def test_a_cursor_serves_only_the_request_it_came_from(root, ask):
    plant(root, {"a": ["needle"] * 3, "b": []})
    args: dict[str, Any] = {"pattern": "needle", "max_hits": 1}
    cursor = ask("grep", **args)["result"]["cursor"]
    others: list[dict[str, Any]] = [{"pattern": "needl"}, {"max_hits": 2}, {"context": 1}, {"paths": ["a"]}]
    for other in [*others, {"include_hidden": True}, {"receipts": True}]:
        assert ask("grep", **{**args, **other}, cursor=cursor)["error"]["code"] == "invalid_cursor"
    # Spelling out a default changes nothing.
    assert ask("grep", **args, context=0, cursor=cursor)["ok"]
    listed = ask("list_files", max=1)["result"]["cursor"]
    assert ask("list_files", max=1, cursor=cursor)["error"]["code"] == "invalid_cursor"
    assert ask("list_files", max=1, cursor=listed)["result"]["files"] == ["b"]


def test_a_cursor_that_somebody_made_up_does_no_harm(root, ask):
    from contract_models.zeno.ops.extract_symbols import ExtractSymbolsArgs
    from contract_models.zeno.ops.grep import GrepArgs

    plant(root, {"a": ["needle"]})
    for position in ["", "x", ":a", "-1:a", "9" * 5000 + ":a", "١:a"]:  # noqa: RUF001 - a digit, but not ours
        forged = issue("grep", GrepArgs(pattern="needle"), position)
        assert ask("grep", pattern="needle", cursor=forged)["error"]["code"] == "invalid_cursor", position
        forged = issue("extract_symbols", ExtractSymbolsArgs(path="a"), position)
        assert ask("extract_symbols", path="a", cursor=forged)["error"]["code"] == "invalid_cursor"
    for position in ["7:a", "7:../../x", "0:", "7:zz"]:
        forged = issue("grep", GrepArgs(pattern="needle"), position)
        assert ask("grep", pattern="needle", cursor=forged)["ok"]


def test_a_cursor_is_hardly_longer_than_the_path_it_holds(root, ask):
    plant(root, {"some/where/deep/in/the/tree.txt": ["needle"] * 2})
    cursor = ask("grep", pattern="needle", max_hits=1)["result"]["cursor"]
    assert len(cursor) < 16 + 4 / 3 * len("some/where/deep/in/the/tree.txt")
