"""Results as text for models: numbered, marked, honest about what was cut, and not to be forged by a file."""

import re

import contract_spec as spec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.doors.mcp.text import text_of
from zeno.doors.visible import one_line, visible
from zeno.session.dispatch import OPS

NASTY = st.text(
    alphabet=st.sampled_from("ab:1\t\r\x0b\x85\x9b\u2028\u2029\u202e\u2066\ufeff\U000e0041[>-"), max_size=12
)
METRICS = {"time_ms": 0, "bytes_read": 0, "files_scanned": 0}
SKIPPED = {"binary": 0, "too_large": 0, "unreadable": 0, "not_regular": 0}


def grep(hits: list[dict[str, object]], **more: object) -> dict[str, object]:
    return {"hits": hits, "truncated": False, "complete": True, "skipped": SKIPPED, "metrics": METRICS, **more}


@pytest.mark.parametrize("op", sorted(OPS))
def test_every_example_of_the_spec_has_a_text(op):
    for example in spec.schema(f"zeno/ops/{op}.json")["examples"]:
        assert text_of(op, example["result"])


def test_lines_have_numbers_and_the_last_line_says_where_to_go_on():
    result = {"path": "a.py", "start_line": 9, "end_line": 10, "total_lines": 30, "text": "x\n\ty", "metrics": METRICS}
    cut = {"truncated": True, "truncated_by": ["max_lines"]}
    assert text_of("read_file", {**result, "truncated": False}) == " 9\tx\n10\t\ty\n[a.py: lines 9-10 of 30]"
    assert text_of("read_file", {**result, **cut}).splitlines()[-1] == (
        "[a.py: lines 9-10 of 30; cut by max_lines, continue with start_line=11]"
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
        "   1\tline 1",
        ">  2\tline 2",
        ">  3\tline 3",
        "   4\tline 4",
        "--",
        "   9\tline 9",
        "> 10\tline 10",
        "  11\tline 11",
        "[3 hits in 1 file; complete]",
    ]


def test_a_cut_list_names_its_cursor_and_an_incomplete_one_its_reasons():
    cut = text_of("grep", grep([], truncated=True, truncated_by=["max_hits"], cursor="abc", complete=False))
    assert cut == '[no hits; there is more: cut by max_hits, continue with cursor="abc" or narrow]'
    skipped = text_of("grep", grep([], complete=False, skipped={**SKIPPED, "binary": 3}), "mcp-1-1")
    assert skipped == "[no hits; not complete; skipped: 3 binary; request mcp-1-1]"


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


@given(st.text())
def test_visible_text_has_nothing_to_obey_and_ordinary_text_stays(text):
    shown = visible(text)
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e0fff]", shown)
    assert visible(shown) == shown
    if text.isprintable():
        assert one_line(text) == text
    assert one_line(text).isprintable()
