"""JSON documents: rows are found by a pointer with stars, and blame stops at the row."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import normalizer
from normalizer.containers.readers.documents import JsonReader
from normalizer.containers.readers.rows import UnreadableContainer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def read(data: bytes, rows: str = "/*"):
    reader = JsonReader(io.BytesIO(data), places=[rows])
    return list(reader.rows()), reader


@given(items=st.lists(VALUES, min_size=1, max_size=4), indent=st.sampled_from([None, 2]), deep=st.booleans())
def test_rows_and_gaps_are_the_whole_file(items, indent, deep):
    document = {"x": [{"rows": items}, {"rows": []}], "y": 1} if deep else items
    data = json.dumps(document, indent=indent).encode()
    rows, reader = read(data, "/x/*/rows/*" if deep else "/*")
    assert [json.loads(row.raw) for row in rows] == items
    assert b"".join(row.gap.encode() + row.raw for row in rows) + reader.tail.encode() == data


def test_pointers_and_lines_are_those_of_the_document():
    rows, _ = read(b'{"r": {\n "a/b": {"n": 1},\n "c": {"n": 2}}}', "/r/*")
    assert [(row.pointer, row.line) for row in rows] == [("/r/a~1b", 2), ("/r/c", 3)]


@pytest.mark.parametrize("bad", ['{"n": NaN}', '{"n": 1, "n": 2}', '"\\ud800"'])
def test_one_bad_row_blames_only_itself(bad):
    rows, _ = read(f'[{{"n": 1}}, {bad}, {{"n": 3}}]'.encode())
    assert [bool(row.problem) for row in rows] == [False, True, False]


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"[1,", "line 1 column 4"), (b"\xff", "not UTF-8"), (b"{}", "no row stands at /\\*"), (b"3", "no row")],
)
def test_a_document_without_rows_says_why(data, said):
    with pytest.raises(UnreadableContainer, match=said):
        read(data)


def test_nan_around_rows_is_nothing_and_no_name(tmp_path):
    (tmp_path / "log.json").write_text('{"judge_model": NaN, "rows": [{"id": "x", "score": 1, "why": NaN}]}')
    fields = {
        "file": {"at": "/id"},
        "scores": {"score": {"at": "/score"}},
        "notes": {"at": "/why"},
        "judge_model": {"of": "document", "at": "/judge_model"},
        "generator_model": {"text": "g"},
    }
    dialect = {"name": "d", "container": [{"kind": "json", "rows": "/rows/*"}], "nan": True, "fields": fields}
    rubric = {"name": "r", "dimensions": {"score": {"scale": {"kind": "integers", "minimum": 0, "maximum": 1}}}}
    made = normalizer.read(tmp_path / "log.json", dialect=dialect, rubric=rubric)
    [line] = made.lines()
    record = json.loads(line)
    assert ("judge_model" in record, record["notes"]) == (False, "NaN")
