"""Results as text for models: numbered, marked, honest about what was cut, and not to be forged by a file."""

import json
import re

import contract_spec as spec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.interfaces.mcp.tool_list import list_tools
from zeno.interfaces.result_text import text_of
from zeno.interfaces.rows import name_paths, one_line, visible
from zeno.session.dispatch import OPS

NASTY = st.text(
    alphabet=st.sampled_from("ab:1\t\r\x0b\x85\x9b\u2028\u2029\u202e\u2066\ufeff\U000e0041\xad\u200b\ufff9[>-"),
    max_size=12,
)
METRICS = {"time_ms": 0, "bytes_read": 0, "files_scanned": 0}
SKIPPED = {"binary": 0, "too_large": 0, "unreadable": 0, "not_regular": 0}


def grep(hits: list[dict[str, object]], **more: object) -> dict[str, object]:
    return {"hits": hits, "truncated": False, "complete": True, "skipped": SKIPPED, "metrics": METRICS, **more}


@pytest.mark.parametrize(
    "row",
    [
        "=== 2 grep",
        "[no hits; complete: 9 files]",
        "hint: ask for more",
        "in class A 1-2",
        "totals: 1 use",
        "--",
        "…",
        "depth reached, ",
    ],
)
def test_no_name_of_a_file_is_taken_for_another_row(row):
    hit = {"path": row, "line": 1, "text": "x"}
    place = {"path": row, "start_line": 1, "end_line": 1, "lines": []}
    symbol = {"path": row, "line": 1, "kind": "class", "name": "A"}
    list_of = {"truncated": False, "complete": True, "left_out": {}, "files_selected": 1, "metrics": METRICS}
    texts = [
        text_of("grep", grep([hit])),
        text_of("list_files", {"files": [row, "a/b", f"{row}/a", f"{row}/b"], **list_of}),
        text_of("find_symbols", {"symbols": [symbol], **list_of}),
        text_of("find_references", {"totals": {}, "references": [{**hit, "role": "use"}], **list_of}),
        text_of("search", {"results": [place], "terms": [], **list_of}),
    ]
    for text in texts:
        named = [one for one in text.splitlines() if row in one]
        assert named
        assert all(one.startswith(f"./{row}") for one in named)
    assert text_of("list_files", {"files": ["index.py"], **list_of}).startswith("index.py\n")


@pytest.mark.parametrize("op", sorted(OPS))
def test_every_example_of_the_spec_has_a_text(op):
    for example in spec.schema(f"zeno/ops/{op}.json")["examples"]:
        assert text_of(op, example["result"])


def test_lines_have_numbers_and_the_last_line_says_where_to_go_on():
    result = {"path": "a.py", "start_line": 9, "end_line": 10, "total_lines": 30, "text": "x\n\ty", "metrics": METRICS}
    cut = {"truncated": True, "truncated_by": ["max_lines"]}
    assert text_of("read_file", {**result, "truncated": False}) == "9\tx\n10\t\ty\n[a.py: lines 9-10 of 30]"
    assert text_of("read_file", {**result, **cut}).splitlines()[-1] == (
        "[a.py: lines 9-10 of 30; cut by max_lines, continue with start_line=11]"
    )
    assert text_of("read_file", {**result, **cut}, args={"path": "a.py", "symbol": "f"}).endswith(
        "continue with start_line=11 and without symbol]"
    )


def test_hits_stand_under_their_path_and_are_marked_among_their_neighbours():
    around = [{"line": n, "text": f"line {n}"} for n in range(1, 12)]
    hits = [
        {"path": "a", "line": 2, "text": "line 2", "context": around[0:3]},
        {"path": "a", "line": 3, "text": "line 3", "context": around[1:4]},
        {"path": "a", "line": 10, "text": "line 10", "context": around[8:11]},
    ]
    assert text_of("grep", grep(hits)).splitlines() == [
        "a",
        "  1\tline 1",
        "> 2\tline 2",
        "> 3\tline 3",
        "  4\tline 4",
        "--",
        "  9\tline 9",
        "> 10\tline 10",
        "  11\tline 11",
        "[3 hits in 1 file; complete]",
    ]


def test_a_cut_list_names_its_cursor_and_an_incomplete_one_its_reasons():
    cut = text_of("grep", grep([], truncated=True, truncated_by=["max_hits"], cursor="abc", complete=False))
    assert cut == '[no hits; cut by max_hits, continue with cursor="abc"]'
    skipped = text_of("grep", grep([], complete=False, skipped={**SKIPPED, "binary": 3}), "mcp-1-1")
    assert skipped == "[no hits; not complete; skipped 3 binary; request mcp-1-1]"
    several = {"binary": 1375, "too_large": 1, "unreadable": 0, "not_regular": 2}
    told = text_of("grep", grep([], complete=False, skipped=several, files_selected=6745))
    assert told == "[no hits; not complete: 6,745 files, 1,375 binary; skipped 1 over max_bytes, 2 not regular]"


def test_the_number_of_files_follows_whether_they_were_searched_to_the_end():
    cut = {"truncated": True, "truncated_by": ["max_hits"], "cursor": "abc", "complete": False}
    told = text_of("grep", grep([], **cut, files_selected=9))
    assert told == '[no hits; cut by max_hits, continue with cursor="abc"; 9 files]'
    assert text_of("grep", grep([], files_selected=9)) == "[no hits; complete: 9 files]"


def test_the_last_page_says_so_although_it_is_not_complete_by_itself():
    told = text_of("grep", grep([], complete=False, files_selected=3), args={"cursor": "abc"})
    assert told == "[no hits; last page: 3 files]"


def test_an_empty_selection_says_that_nothing_was_looked_at():
    assert text_of("grep", grep([], complete=False, files_selected=0, hints=["look elsewhere"])).splitlines() == [
        "hint: look elsewhere",
        "[no hits; not complete, no file was selected]",
    ]


def test_a_cut_without_a_cursor_names_the_limits_to_raise():
    cut = {"files": ["a"], "truncated": True, "truncated_by": ["max", "max_files"], "metrics": METRICS}
    told = text_of("list_files", cut).splitlines()[-1]
    assert told == "[1 file; cut by max, max_files, raise max and max_files or narrow glob]"


def test_a_hit_of_several_lines_has_each_of_them_numbered():
    hit = {"path": "a", "line": 9, "end_line": 10, "text": "f(\n)"}
    other = {"path": "a", "line": 12, "end_line": 12, "text": "g()"}
    assert text_of("grep", grep([hit, other])).splitlines() == [
        "a",
        "9\tf(",
        "10\t)",
        "12\tg()",
        "[2 hits in 1 file; complete]",
    ]
    around = [{"line": n, "text": text} for n, text in enumerate(["x", "f(", ")", "y"], 8)]
    assert text_of("grep", grep([{**hit, "context": around}])).splitlines() == [
        "a",
        "  8\tx",
        "> 9\tf(",
        "> 10\t)",
        "  11\ty",
        "[1 hit in 1 file; complete]",
    ]


def test_a_clipped_hit_of_several_lines_says_which_lines_were_clipped_and_how_far_it_goes():
    hit = {"path": "a", "line": 1, "end_line": 3, "text": "long\nb\nline", "clipped": True}
    assert text_of("grep", grep([hit])).splitlines()[1:4] == [
        "1\t…long…",
        "2\tb",
        "3\t…line…",
    ]
    cut = {**hit, "end_line": 300, "text": "long\nb"}
    assert text_of("grep", grep([cut])).splitlines()[1:3] == [
        "1\t…long…",
        "2\tb… [goes on to line 300]",
    ]


def test_a_hit_may_be_clipped_on_both_sides_and_its_neighbours_at_their_end(root, ask):
    (root / "min.js").write_text(f"{'a' * 50}needle{'b' * 50}\n{'c' * 50}\n")
    args = {"pattern": "needle", "context": 1, "max_line_chars": 10}
    assert text_of("grep", ask("grep", **args)["result"], None, args).splitlines()[1:3] == [
        "> 1\t…aaneedlebb…",
        f"  2\t{'c' * 10}…",
    ]


LEFT_OUT = {"hidden": 12, "ignored": 3, "excluded": 0, "directories": 1}


def test_the_last_line_says_what_was_covered():
    told = text_of("grep", grep([], files_selected=5648, left_out=LEFT_OUT))
    left_out = "left out: 12 hidden, 3 ignored (1 directory)"
    assert told == f"[no hits; complete: 5,648 files; {left_out}]"
    nothing = dict.fromkeys(LEFT_OUT, 0)
    listed = {"files": ["a"], "truncated": False, "complete": True, "files_selected": 1, "metrics": METRICS}
    assert text_of("list_files", {**listed, "left_out": nothing}) == "a\n[1 file; complete: 1 file]"


def test_counts_stand_before_their_paths_and_totals_in_the_last_line():
    counts = [{"path": "a", "lines": 3}, {"path": "b\nc", "lines": 12}]
    assert text_of("grep", grep([], counts=counts)).splitlines() == [
        "3\ta",
        "12\t" + one_line("b\nc"),
        "[15 matching lines in 2 files; complete]",
    ]
    assert text_of("grep", grep([], counts=[])) == "[no hits; complete]"
    assert text_of("grep", grep([], total={"files": 1, "lines": 1})) == "[1 matching line in 1 file; complete]"
    assert text_of("grep", grep([], total={"files": 0, "lines": 0})) == "[no hits; complete]"


def test_an_overview_has_a_row_for_each_directory_and_tells_what_it_did_not_count():
    rows = [
        {"path": ".", "files": 3, "lines": 1, "files_not_counted": 1},
        {"path": "a\nb", "files": 1, "lines": 1, "files_not_counted": 0},
        {"path": "c", "files": 1, "lines": 0, "files_not_counted": 1},
    ]
    result = {"files": [], "tree": rows, "truncated": False, "complete": True, "files_selected": 3, "metrics": METRICS}
    assert text_of("list_files", result).splitlines() == [
        "3 files, 1 line+\t.",
        "1 file, 1 line\t" + one_line("a\nb"),
        "1 file, ? lines\tc",
        "[3 directories; complete: 3 files; lines of 1 file not counted (+, ?)]",
    ]


def test_every_range_is_numbered_below_its_path():
    first = {"path": "a.py", "start_line": 9, "end_line": 10, "total_lines": 30, "text": "x\n\ty"}
    second = {"path": "b", "start_line": 1, "end_line": 1, "total_lines": 1, "text": "z", "clipped": True}
    empty = {"path": "b", "start_line": 4, "end_line": 3, "total_lines": 1, "text": ""}
    no_room = {"path": "c", "start_line": 4, "end_line": 3, "total_lines": 8, "text": ""}
    cut = {"truncated": True, "truncated_by": ["max_lines"], "metrics": METRICS}
    asked = {"path": "a.py", "start_line": 9, "end_line": 10, "ranges": [{"end_line": 1}, {"end_line": 9}, {}]}
    assert text_of("read_file", {**first, **cut, "ranges": [second, empty, no_room]}, None, asked).splitlines() == [
        "a.py: lines 9-10 of 30",
        "9\tx",
        "10\t\ty",
        "b: lines 1-1 of 1; … clipped, raise max_line_chars",
        "1\tz…",
        "b: no lines here, it has 1",
        "c: no room left for line 4 of 8",
        '[4 ranges; cut by max_lines, continue with {"path": "c", "start_line": 4}]',
    ]


def test_the_lines_that_were_clipped_are_marked():
    result = {"path": "a", "start_line": 1, "end_line": 2, "total_lines": 2, "text": "abcd\nxy", "truncated": False}
    assert text_of("read_file", {**result, "clipped": True, "metrics": METRICS}).splitlines() == [
        "1\tabcd…",
        "2\txy",
        "[a: lines 1-2 of 2; … clipped, raise max_line_chars]",
    ]


def test_the_limit_that_clipped_a_line_is_named(root, ask):
    (root / "min.js").write_text("x" * 900)
    for limits, named in (
        ({"max_line_chars": 40, "max_chars": 200}, "raise max_line_chars"),
        ({"max_line_chars": 5000, "max_chars": 200}, "the answer is full"),
    ):
        for op in ("read_file", "peek"):
            args = {"path": "min.js", **limits}
            told = text_of(op, ask(op, **args)["result"], None, {"head_lines": 40, "tail_lines": 20, **args})
            assert told.endswith(f"; … clipped, {named}]"), (op, told)


@pytest.mark.parametrize("limits", [{"max_line_chars": 40}, {"max_line_chars": 5000, "max_chars": 30}])
def test_texts_about_clipped_lines_name_only_arguments_that_the_tool_lists(root, ask, limits):
    (root / "a.py").write_text(f"x = '{'y ' * 300}'\n")
    tools = {
        tool.name: tool.input_schema["properties"] for tool in list_tools(all_tools=True, claims=False, revs=False)
    }
    requests: dict[str, dict[str, object]] = {
        "grep": {"pattern": "x"},
        "find_references": {"name": "x"},
        "read_file": {"path": "a.py"},
        "peek": {"path": "a.py", "head_lines": 1, "tail_lines": 0},
    }
    for op, args in requests.items():
        told = text_of(op, ask(op, **args, **limits)["result"], None, args | limits)
        assert "; … clipped, " in told
        assert set(re.findall(r"(?:raise|lower) (\w+)", told)) <= tools[op].keys(), (op, told)


def test_a_file_of_one_line_has_one_line(root, ask):
    (root / "a").write_text("x\n")
    args = {"path": "a", "head_lines": 1, "tail_lines": 1}
    assert text_of("peek", ask("peek", **args)["result"], None, args) == "1\tx\n[a: 1 line]"


def test_an_end_that_is_not_known_is_a_question_mark():
    symbols = [
        {"kind": "class", "name": "A", "line": 1, "end_line": 9},
        {"kind": "method", "name": "f", "line": 4, "container": "A"},
        {"kind": "method", "name": "g", "line": 8, "end_line": 8, "container": "A"},
    ]
    result = {"symbols": symbols, "truncated": False, "metrics": METRICS, "path": "a.py"}
    rows = text_of("extract_symbols", result).split("\n")
    assert rows[:3] == ["1-9\tclass A", "4-?\tmethod A.f", "8\t.g"]


def test_a_dot_stands_for_kind_and_containers_of_the_row_above():
    symbols = [
        {"kind": kind, "name": name, "line": 1, "end_line": 1, **({"container": container} if container else {})}
        for kind, container, name in (
            ("class", "", "B"),
            ("class", "", "C"),
            ("method", "C", "f"),
            ("method", "C", "g"),
            ("class", "C", "D"),
            ("class", "C", "E"),
            ("class", "", "F"),
            ("method", "C.D", "f"),
            ("method", "C", "h"),
        )
    ]
    result = {"symbols": symbols, "truncated": False, "metrics": METRICS, "path": "a.py"}
    *rows, _ = text_of("extract_symbols", result).split("\n")
    told = ["class B", ".C", "method C.f", ".g", "class C.D", ".E", "class F", "method C.D.f", "method C.h"]
    assert rows == [f"1\t{row}" for row in told]


def test_a_definition_alone_is_one_row_with_its_lines_and_containers(root, ask):
    (root / "a.py").write_text("class A:\n    def f(self):\n        pass\n\n\ndef f():\n    pass\n")
    for args, role in (({"name": "f"}, ""), ({"name": "f", "roles": ["definition", "call"]}, "")):
        told = text_of("find_references", ask("find_references", **args)["result"], None, args).split("\n")
        assert told[1:4] == ["a.py", f"{role}2-3 in A\tdef f(self):", f"{role}6-7\tdef f():"]
    around = {"name": "f", "context": 1}
    told = text_of("find_references", ask("find_references", **around)["result"], None, around).split("\n")
    assert told[2] == "in A.f 2-3"


def test_a_file_without_symbols_is_told_from_one_whose_language_is_not_known():
    result = {"symbols": [], "truncated": False, "metrics": METRICS}
    assert text_of("extract_symbols", {**result, "path": "a.py"}) == "[a.py: 0 symbols]"
    told = text_of("extract_symbols", {**result, "path": "a.rst"})
    assert told == "[a.rst: 0 symbols (its language is not known); use peek or grep]"


def test_describe_has_a_row_for_each_operation_and_no_schemas_unless_those_of_one_are_asked_for():
    result = {
        "ops": [{"name": "grep", "description": "Search\u202e."}],
        "schemas": {"a": {}, "b": {}},
        "protocol": "1.0",
    }
    shown = 'grep: Search\\u202e.\nprotocol: "1.0"\n[2 schemas; op=NAME shows those of one operation]'
    assert text_of("describe", result) == shown
    assert json.loads(text_of("describe", result, args={"op": "grep"})) == result


def test_describe_is_without_measurements():
    told = text_of("describe", {"protocol": "1.0", "policy": {"deny": ["a\u202eb"]}, "metrics": METRICS})
    assert told == 'protocol: "1.0"\npolicy: {"deny":["a\\u202eb"]}'


@given(path=NASTY.filter(bool), text=NASTY)
def test_no_file_can_forge_a_row(path, text):
    told = text_of("grep", grep([{"path": path, "line": 7, "text": text}]))
    # As a careless reader splits lines: every control and separator counts.
    rows = told.splitlines()
    assert len(rows) == 3
    assert re.fullmatch(r"7\t.*", rows[1])
    assert rows[2] == "[1 hit in 1 file; complete]"
    listed = {"files": [path], "truncated": False, "complete": True, "skipped": SKIPPED, "metrics": METRICS}
    assert len(text_of("list_files", listed).splitlines()) == 2


# Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 16.0.
IGNORABLE = (
    "\xad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
OBEYED = re.compile(f"[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb{IGNORABLE}]")


@given(st.one_of(st.text(), st.from_regex(f"[a{IGNORABLE}]+", fullmatch=True)))
def test_visible_text_has_nothing_to_obey_and_ordinary_text_stays(text):
    shown = visible(text)
    assert not OBEYED.search(shown)
    assert visible(shown) == shown
    if not OBEYED.search(text):
        assert shown == text
    if text.isprintable() and not OBEYED.search(text):
        assert one_line(text) == text
    assert one_line(text).isprintable()
    assert not OBEYED.search(one_line(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\ufe0fb", "a\\ufe0fb"),
        ("a\u115f\u3164\uffa0b", "a\\u115f\\u3164\\uffa0b"),
        ("a\u200d\u034fb", "a\\u200d\\u034fb"),
        ("a\U000e0041b", "a\\U000e0041b"),
    ],
)
def test_characters_that_show_nothing_are_shown_as_escapes(text, shown):
    assert visible(text) == shown


def test_files_that_were_skipped_are_named():
    named = [{"path": "data/dump.sql", "reason": "too_large"}, {"path": "odd\nname", "reason": "unreadable"}]
    skipped = {"binary": 0, "too_large": 1, "unreadable": 1, "not_regular": 0}
    result = {"hits": [], "truncated": False, "complete": False, "skipped": skipped, "skipped_files": named}
    last = text_of("grep", {**result, "files_selected": 9, "metrics": METRICS}).splitlines()[-1]
    assert 'skipped 1 over max_bytes ("data/dump.sql"), 1 unreadable ("odd\\nname")' in last


def test_a_hit_says_which_of_several_patterns_match():
    hits = [
        {"path": "a", "line": 9, "text": "x", "patterns": [0, 2]},
        {"path": "a", "line": 10, "text": "y", "patterns": [1]},
    ]
    result = {"hits": hits, "truncated": False, "complete": True, "skipped": SKIPPED, "metrics": METRICS}
    assert text_of("grep", result).splitlines()[1:3] == ["9 [0,2]\tx", "10 [1]\ty"]


@given(st.lists(st.text(alphabet="ab/.\t ", min_size=1).filter(lambda path: path.strip("/") == path), max_size=9))
def test_names_stand_below_their_directory_and_give_the_paths_again(paths):
    listed = {"files": paths, "truncated": False, "complete": True, "metrics": METRICS}
    *rows, _ = text_of("list_files", listed).split("\n")
    found, folder = [], ""
    for row in rows:
        name = row.removeprefix("\t")
        name = json.loads(name) if name.startswith('"') else name
        if row.startswith("\t"):
            found.append(folder + name)
        elif name.endswith("/"):
            folder = name
        else:
            found.append(name)
    assert found == paths
    assert sum(row.startswith("\t") for row in rows) != 1


def paths_of(rows):
    """Put the rows that name files together again."""
    found, folder = [], ""
    for row in rows:
        if row.startswith("\t"):
            found.append(folder + row[1:])
        elif row.endswith("/"):
            folder = row
        else:
            found.append(row)
    return found


@given(st.lists(st.text(alphabet="ab/", min_size=1).filter(lambda path: path.strip("/") == path), max_size=12))
def test_rows_that_name_files_are_never_longer_than_their_paths(paths):
    rows = [row for named in name_paths(paths) for row in named]
    assert paths_of(rows) == paths
    assert len("\n".join(rows)) <= len("\n".join(paths))


def test_files_with_a_long_way_to_them_in_common_stand_below_it():
    long = "a_very_long_way"
    tests = [f"{long}/a/test/x.py", f"{long}/a/test/y.py"]
    whole = [[f"{long}/a/", "\tb.py"], ["\ttest/x.py"], ["\ttest/y.py"], ["z"]]
    assert [*name_paths([f"{long}/a/b.py", *tests, "z"])] == whole
    assert [*name_paths(tests)] == [[f"{long}/a/test/", "\tx.py"], ["\ty.py"]]
    deep = ["/".join("d" * depth) for depth in range(1, 3000)]
    assert paths_of(row for named in name_paths(deep) for row in named) == deep


def test_a_name_that_was_asked_for_is_not_repeated():
    symbols = [
        {"path": "a.py", "kind": "method", "name": "f", "line": 1, "end_line": 2, "container": "A.B"},
        {"path": "a.py", "kind": "class", "name": "f", "line": 4, "end_line": 5, "container": "A"},
        {"path": "a.py", "kind": "function", "name": "f", "line": 7, "end_line": 9},
    ]
    result = {"symbols": symbols, "truncated": False, "complete": True, "left_out": {}, "metrics": METRICS}
    for name, match in (("f", "exact"), ("A.f", "exact")):
        told = text_of("find_symbols", result, args={"name": name, "match": match}).split("\n")
        assert told[1:4] == ["1-2\tin A.B", "4-5\tclass in A", "7-9\tfunction"]
    told = text_of("find_symbols", result, args={"name": "f", "match": "prefix"}).split("\n")
    assert told[1:4] == ["1-2\tmethod A.B.f", "4-5\tclass A.f", "7-9\tfunction f"]
    assert "function f" in text_of("find_symbols", {**result, "symbols": symbols[2:]}, args={"name": "f"})
    # Members of `f`, and the other case.
    for args in ({"name": "f."}, {"name": "F", "case_sensitive": False}):
        assert text_of("find_symbols", result, args=args).split("\n")[3] == "7-9\tfunction f"


def test_files_without_lines_or_symbols_are_counted_where_nothing_was_found():
    skipped = {"binary": 2, "too_large": 0, "unreadable": 0, "not_regular": 0, "unsupported": 3, "unparsed": 1}
    result = {"truncated": False, "complete": True, "skipped": skipped, "files_selected": 9, "metrics": METRICS}
    told = text_of("find_symbols", {**result, "symbols": []})
    assert told == "[no symbols; complete: 9 files, 2 binary, 3 unsupported, 1 unparsed]"
    symbol = {"path": "a.py", "kind": "class", "name": "A", "line": 1}
    last = text_of("find_symbols", {**result, "symbols": [symbol]}).rpartition("\n")[2]
    assert last == "[1 symbol in 1 file; complete: 9 files, 1 unparsed]"


def test_with_context_the_definition_around_a_hit_stands_above_its_line(root, ask):
    (root / "a.py").write_text("pass  # X\ndef f():\n    X\n    X\n\n\ndef g():\n    X\n")
    args = {"pattern": "X", "scope": True, "context": 1}
    assert text_of("grep", ask("grep", **args)["result"], None, args).split("\n")[1:-1] == [
        "> 1\tpass  # X",
        "  2\tdef f():",
        "in f 2-4",
        "> 3\t    X",
        "> 4\t    X",
        "  5\t",
        "--",
        "  7\tdef g():",
        "in g 7-8",
        "> 8\t    X",
    ]


def test_a_line_that_stands_alone_has_no_indentation_and_its_text_still_checks_out(root, ask):
    (root / "a.py").write_text("class A:\n    def f(self):\n        return g()\n")
    for op, args in (("grep", {"pattern": "g()"}), ("find_references", {"name": "g"})):
        *_, row, _ = text_of(op, ask(op, **args)["result"], None, args).split("\n")
        number, _, text = row.partition("\t")
        assert (number, text) == ("3", "return g()")
        cited = {"path": "a.py", "start_line": 3, "end_line": 3, "text": text}
        assert ask("verify", citations=[cited])["result"]["items"][0]["verdict"] == "ok"
    both = text_of("grep", ask("grep", pattern=r"def.*\n.*g", regex=True, multiline=True)["result"])
    assert both.split("\n")[1:3] == ["2\t    def f(self):", "3\t        return g()"]
    around = text_of("grep", ask("grep", pattern="g()", context=1)["result"])
    assert around.split("\n")[1:3] == ["  2\t    def f(self):", "> 3\t        return g()"]


def test_roles_stand_before_lines_unless_all_have_the_same(root, ask):
    (root / "a.py").write_text(f"def f():\n    f()  # {'x' * 300}\n")
    args = {"name": "f", "max_line_chars": 40}
    told = text_of("find_references", ask("find_references", **args)["result"], None, args).split("\n")
    assert told[:4] == ["totals: 1 definition, 1 call", "a.py", "in f 1-2", "definition 1\tdef f():"]
    assert re.fullmatch(r"call 2\t….*f\(\)  # x+…", told[4])
    assert told[5] == "[2 lines; complete: 1 file; … clipped, read_file has more]"
    args["roles"] = ["call"]
    told = text_of("find_references", ask("find_references", **args)["result"], None, args).split("\n")
    assert told[3].startswith("2\t")
    args |= {"context": 1, "max_line_chars": 4000}
    told = text_of("find_references", ask("find_references", **args)["result"], None, args).split("\n")
    assert [row[:14] for row in told[3:5]] == ["  1\tdef f():", "> 2\t    f()  # x"[:14]]


def test_of_many_names_that_were_not_followed_the_first_are_named_and_the_others_counted():
    names = [{"name": f"name{at}", "reason": "limit"} for at in range(10_000)]
    totals = dict.fromkeys(("definition", "import", "call", "use", "comment", "string", "text"), 0)
    result = {**grep([]), "references": [], "totals": totals, "callers": [], "not_followed": names, "complete": False}
    del result["hits"]
    rows = text_of("find_references", result, args={"name": "a", "callers": 1}).splitlines()
    [row] = [row for row in rows if row.startswith("not followed: ")]
    assert row.startswith("not followed: name0, name1, ")
    assert row.endswith(", name19 and 9980 more")
