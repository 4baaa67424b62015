"""find_references: exactly the lines of grep, each with one role."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

WORDS = ["foo", "foo()", "def foo(): ...", "foobar", "# foo", '"foo"', "import foo", "bar", "x_foo", "foo.bar", "é foo"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map("\n".join)
CHANGING = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@CHANGING
@given(st.dictionaries(st.sampled_from(["a.py", "b.go", "c.lua", "d.txt", "e/f.js"]), TEXT))
def test_the_lines_are_those_of_grep_and_the_totals_count_them(root, ask, texts):
    (root / "e").mkdir(exist_ok=True)
    for path in ("a.py", "b.go", "c.lua", "d.txt", "e/f.js"):
        (root / path).unlink(missing_ok=True)
    for path, text in texts.items():
        (root / path).write_text(text)
    found = ask("find_references", name="foo")["result"]
    hits = ask("grep", pattern=r"\bfoo\b", regex=True)["result"]["hits"]
    lines = [(one["path"], one["line"], one["text"]) for one in found["references"]]
    assert lines == [(hit["path"], hit["line"], hit["text"]) for hit in hits]
    roles = Counter(one["role"] for one in found["references"])
    assert {role: count for role, count in found["totals"].items() if count} == roles


@pytest.fixture
def tree(root):
    for name in ("a.py", "b.py", "c.py"):
        (root / name).write_text("def foo():\n    return foo()\n# foo\n" * 2)
    return root


def test_pages_are_the_whole_in_pieces_and_totals_stay(tree, ask):
    whole = ask("find_references", name="foo")["result"]
    pages, answer = [], ask("find_references", name="foo", max_hits=4)["result"]
    while "cursor" in answer:
        pages += answer["references"]
        assert answer["totals"] == whole["totals"]
        answer = ask("find_references", name="foo", max_hits=4, cursor=answer["cursor"])["result"]
    assert pages + answer["references"] == whole["references"]
    assert answer["totals"] == whole["totals"]


def test_pages_of_some_roles_are_the_whole_in_pieces(tree, ask):
    whole = ask("find_references", name="foo", roles=["call"])["result"]["references"]
    first = ask("find_references", name="foo", roles=["call"], max_hits=2)["result"]
    rest = ask("find_references", name="foo", roles=["call"], max_hits=2, cursor=first["cursor"])["result"]
    assert len(whole) == 6
    assert first["references"] + rest["references"] == whole[:4]


def test_totals_count_files_beyond_max_files_on_every_page(tree, ask):
    whole = ask("find_references", name="foo")["result"]
    pages, answer = [], ask("find_references", name="foo", max_files=2)["result"]
    assert answer["truncated_by"] == ["max_files"]
    while "cursor" in answer:
        pages += answer["references"]
        assert answer["totals"] == whole["totals"]
        answer = ask("find_references", name="foo", max_files=2, cursor=answer["cursor"])["result"]
    assert pages + answer["references"] == whole["references"]
    assert answer["totals"] == whole["totals"]


def test_a_name_that_is_no_identifier_is_refused_in_words(tree, ask):
    error = ask("find_references", name="a-b")["error"]
    assert error["code"] == "invalid_args"
    assert error["message"] == "args.name must be one identifier, of A-Z, a-z, 0-9 and _; grep finds other texts"
