"""find_references: exactly the lines of grep, each with one role."""

from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeno.interfaces.result_text import text_of
from zeno.results.callers import MAX_CALLERS, MAX_NAMES

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


NAMES = ["a", "b", "c", "d", "e"]
CALLS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3), min_size=1)


def _callers_of(ask, name):
    """The definitions around calls of a name, as single requests find them."""
    lines = ask("find_references", name=name, roles=["call"])["result"]["references"]
    return {(one["path"], one["scope"]["line"], one["scope"]["name"]) for one in lines if "scope" in one}


def _expected_callers(ask, name, levels):
    """By the plain definition: level after level, one request for each name; and the names with callers above."""
    found: dict[tuple[str, int, str], list[str]] = {}
    seen = {name}
    names = {chain.rpartition(".")[2] for _, _, chain in _callers_of(ask, name)} - seen
    for _ in range(levels):
        seen |= names
        above = {called: _callers_of(ask, called) for called in names}
        for called in above:
            for definition in above[called]:
                found[definition] = sorted([*found.get(definition, ()), called])
        names = {chain.rpartition(".")[2] for some in above.values() for _, _, chain in some} - seen
    beyond = {called: len(_callers_of(ask, called)) for called in sorted(names)}
    return found, [{"name": called, "reason": "depth", "callers": some} for called, some in beyond.items() if some]


@CHANGING
@given(CALLS, CALLS, st.integers(1, 4))
def test_callers_are_those_that_one_request_for_each_name_finds(root, ask, functions, methods, levels):
    text = "".join(
        f"def {name}():\n    {'; '.join(f'{to}()' for to in calls) or '...'}\n" for name, calls in functions.items()
    )
    (root / "a.py").write_text(text)
    text = "".join(
        f"func (s S) {name}() {{\n{''.join(f's.{to}();' for to in calls)}\n}}\n" for name, calls in methods.items()
    )
    (root / "b.go").write_text(f"package b\n{text}")
    for limits in ({}, {"max_hits": 1}, {"max_files": 1}):
        answer = ask("find_references", name="a", callers=levels, **limits)["result"]
        found = {(one["path"], one["scope"]["line"], one["scope"]["name"]): one["calls"] for one in answer["callers"]}
        assert (found, answer.get("not_followed", [])) == _expected_callers(ask, "a", levels)
        assert list(found) == sorted(found)
        assert answer["complete"] == (not answer["truncated"] and "not_followed" not in answer)
        assert "callers" not in ask("find_references", name="a", callers=0, **limits)["result"]


def test_common_names_are_told_and_not_followed(root, ask):
    common = "".join(f"def f{number}():\n    run()\n" for number in range(MAX_CALLERS + 1))
    (root / "a.py").write_text(f"def run():\n    a()\n{common}def top():\n    f1()\n")
    answer = ask("find_references", name="a", callers=3)["result"]
    assert answer["callers"] == []
    assert answer["not_followed"] == [{"name": "run", "reason": "common", "callers": MAX_CALLERS + 1}]
    args = {"name": "a", "callers": 3}
    assert text_of("find_references", answer, None, args).split("\n")[-2] == "not followed: run (17 callers)"


def test_only_so_many_names_are_followed_and_the_others_are_told(root, ask):
    names = [f"f{number:03}" for number in range(MAX_NAMES + 2)]
    (root / "a.py").write_text("".join(f"def {name}():\n    a()\ndef {name}_up():\n    {name}()\n" for name in names))
    answer = ask("find_references", name="a", callers=2)["result"]
    assert [one["calls"] for one in answer["callers"]] == [[name] for name in names[:MAX_NAMES]]
    told = sorted([*names[MAX_NAMES:], *(f"{name}_up" for name in names[:MAX_NAMES])])
    assert answer["not_followed"] == [{"name": name, "reason": "limit"} for name in told]


def test_a_function_that_is_passed_on_and_never_called_is_told_and_not_followed(root, ask):
    (root / "f.go").write_text(
        "package p\n\nfunc worker() { a() }\n\nfunc Run() {\n\tstart(worker)\n}\n\nfunc main() {\n\tRun()\n}\n"
    )
    args = {"name": "a", "callers": 3}
    answer = ask("find_references", **args)["result"]
    assert (answer["callers"], answer["complete"]) == ([], False)
    assert answer["not_followed"] == [{"name": "worker", "reason": "used", "callers": 1}]
    told = "not followed: worker (not called, used in 1 definition)"
    assert told in text_of("find_references", answer, None, args).split("\n")


def test_a_function_that_is_called_and_passed_on_is_followed_by_its_calls(root, ask):
    (root / "f.go").write_text(
        "package p\n\nfunc worker() { a() }\n\nfunc Run() {\n\tstart(worker)\n}\n\nfunc main() {\n\tworker()\n}\n"
    )
    answer = ask("find_references", name="a", callers=3)["result"]
    assert [one["calls"] for one in answer["callers"]] == [["worker"]]
    assert (answer["complete"], "not_followed" in answer) == (True, False)


def test_names_that_are_no_words_are_told_and_not_followed(root, ask):
    (root / "a.py").write_text("def é():\n    a()\ndef b():\n    é()\n")
    answer = ask("find_references", name="a", callers=2)["result"]
    assert (answer["callers"], answer["complete"]) == ([], False)
    assert answer["not_followed"] == [{"name": "é", "reason": "not_a_word"}]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("b.lua", "function up()\n  return b()\nend\n"),
        ("b.py", "def up(:\n    b(\n"),
        ("b.ex", "def up do\n  b()\nend\n"),
        ("b.js", "function up(){b()}function upper(){up()}\n"),
    ],
    ids=["no grammar", "not parsed", "no grammar either", "several functions on one line"],
)
def test_calls_in_code_that_no_grammar_reads_make_callers_incomplete(root, ask, path, text):
    """They were left out of an answer that called itself complete."""
    (root / "a.py").write_text("def b():\n    a()\ndef c():\n    b()\n")
    (root / path).write_text(text)
    args = {"name": "a", "callers": 2}
    answer = ask("find_references", **args)["result"]
    assert answer["callers"][0]["scope"]["name"] == "c"
    assert ({"name": "b", "reason": "unparsed"} in answer["not_followed"], answer["complete"]) == (True, False)
    assert "not followed: b (unparsed)" in text_of("find_references", answer, None, args)
    again = ask("find_references", name="b", callers=1)["result"]
    assert {"name": "b", "reason": "unparsed"} in again["not_followed"]
    assert ask("find_references", name="b")["result"]["complete"]


def test_a_name_in_a_text_or_a_schema_leaves_callers_complete(root, ask):
    (root / "a.py").write_text("def b():\n    a()\n")
    (root / "README.md").write_text("call b()\n")
    (root / "notes").write_text("call b()\n")
    (root / "b.proto").write_text("message b {}\n")
    answer = ask("find_references", name="a", callers=2)["result"]
    assert (answer["callers"], answer["complete"]) == ([], True)


def test_a_chain_that_is_longer_than_asked_for_is_not_complete(root, ask):
    (root / "a.py").write_text("def b():\n    a()\ndef c():\n    b()\ndef d():\n    c()\ndef D():\n    pass\n")
    args = {"name": "a", "roles": ["call"], "callers": 1}
    told = text_of("find_references", ask("find_references", **args)["result"], None, args).split("\n")
    assert told[-3:] == [
        "3-4\tc calls b",
        "depth reached, not followed: c (1 caller); raise callers, or ask for these",
        "[1 line; lines complete, callers not: 1 file]",
    ]
    whole = ask("find_references", **args | {"callers": 2})["result"]
    assert [one["scope"]["name"] for one in whole["callers"]] == ["c", "d"]
    assert whole["complete"]
    assert "not_followed" not in whole


def test_callers_stand_below_their_paths_with_what_they_call(root, ask):
    (root / "a.py").write_text("class A:\n    def f(self): x()\n    def g(self): self.f()\n    def h(self): g(), f()\n")
    args = {"name": "x", "roles": ["call"], "callers": 2}
    told = text_of("find_references", ask("find_references", **args)["result"], None, args).split("\n")
    head = "callers of callers, by name alone:"
    assert told[told.index(head) : -1] == [head, "a.py", "3\tA.g calls f", "4\t.h calls f, g"]


def test_callers_with_long_names_are_found_in_as_much_text_as_any(root, ask):
    # Names without a common beginning: RE2 needs a state for each of their characters.
    names = [f"f{sha256(b'%d' % number).hexdigest()}" for number in range(MAX_NAMES - 1)]
    (root / "a.py").write_text("".join(f"def {name}():\n    a()\ndef g_{name}():\n    {name}()\n" for name in names))
    (root / "b.py").write_text(f"def {'x' * 1500}():\n    a()\n")
    (root / "large.txt").write_text("\n" * 1_900_000)
    answer = ask("find_references", name="a", callers=1)["result"]
    assert [one["calls"] for one in answer["callers"]] == [[name] for name in names]


def test_a_field_is_defined_where_it_is_declared_and_its_row_does_not_claim_the_lines_of_its_type(root, ask):
    (root / "a.c").write_text("struct a { int b;\n  int c; };\nint d(struct a *e) { return e->b; }\n")
    args = {"name": "b"}
    answer = ask("find_references", **args)["result"]
    assert [one["role"] for one in answer["references"]] == ["definition", "use"]
    told = text_of("find_references", answer, None, args).split("\n")
    assert told[:4] == ["totals: 1 definition, 1 use", "a.c", "in struct a 1-2", "definition 1\tstruct a { int b;"]
    assert ask("find_symbols", name="b")["result"]["symbols"] == []
