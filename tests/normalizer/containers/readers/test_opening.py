"""Which of several declared containers a file is, by its beginning."""

import io
import json

import pytest

from normalizer.batch.intake import file_globs
from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import UnreadableContainer

LINES = {"kind": "jsonl"}
LIST = {"kind": "json", "rows": "/*"}
PAGE = {"kind": "json", "rows": "/data/*"}
CELLS = {"kind": "csv"}
ALL = [PAGE, LINES, LIST, CELLS]
ROWS = [{"n": 1}, {"n": 2}]


def opened(data: str | bytes, containers=ALL):
    given = data if isinstance(data, bytes) else data.encode()
    return open_container(io.BytesIO(given), {"container": containers})


def told(data: str | bytes, containers=ALL):
    """The kind of container, and the values of its rows; None for a row that cannot be read."""
    reader = opened(data, containers)
    return reader.kind, [row.value for row in reader.rows()]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        '[{"n": 1},\n{"n": 2}]',
        json.dumps({"data": ROWS}),
        json.dumps({"data": ROWS}) + "\n\n",
        json.dumps({"meta": {}, "data": ROWS}, indent=1),
        '{ "data": [\n{"n": 1},\n{"n": 2}]}',
        "\ufeff" + json.dumps({"data": ROWS}, indent=1),
    ],
)
def test_a_file_that_is_one_value_with_rows_is_a_document(data):
    assert told(data) == ("json", [{"n": "1"}, {"n": "2"}])


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ('{"n": 1}\n{"n": 2}\n', [{"n": "1"}, {"n": "2"}]),
        ('\ufeff\n\n{"n": 1}\r\n{"n": 2}', [{"n": "1"}, {"n": "2"}]),
        ('{"n": 1}', [{"n": "1"}]),
        ('{"n": 1, "cut\n{"n": 2}\n', [None, {"n": "2"}]),
        ('{"n": 1, "cut', [None]),
        ('[1]\n{"n": 2}\n', [["1"], {"n": "2"}]),
    ],
)
def test_a_first_line_that_is_an_object_begins_lines_and_a_damaged_one_costs_only_itself(data, rows):
    assert told(data) == ("jsonl", rows)


def test_what_does_not_begin_like_json_is_a_table_where_one_is_declared():
    assert told("n,m\n1,2\n") == ("csv", [{"n": "1", "m": "2"}])


def test_words_before_lines_cost_only_themselves():
    assert told('Loading\nStill loading\n{"n": 1}\n', [LIST, LINES]) == ("jsonl", [None, None, {"n": "1"}])


@pytest.mark.parametrize(
    ("data", "containers", "said"),
    [
        ("n,m\n1,2\n", [PAGE, LINES], "does not begin like JSON, and the dialect declares json or jsonl"),
        ("", ALL[:3], "it is empty"),
        ('{\n "data": [\n', ALL, "it is not JSON: .* at line 3 column 1"),
        ("[1,\n2", ALL, "it is not JSON: .* at line 2 column 2"),
        ('{"rows": [1]}', [PAGE, {"kind": "json", "rows": "/items/*"}], "no row stands at /data/\\* or /items/\\*"),
        (b"\x1f\x8b\x08\x00", ALL, "packed by gzip, and damaged or cut off"),
        (b"\x28\xb5\x2f\xfd", [LINES], "packed by zstd, and damaged or cut off"),
        (b"BZh91AY", [LINES], "compressed by bzip2: unpack it first"),
        (b"PK\x03\x04", ALL, "it is a zip archive, and the dialect declares"),
    ],
)
def test_what_fits_no_container_says_why(data, containers, said):
    with pytest.raises(UnreadableContainer, match=said):
        told(data, containers)


def test_a_single_container_is_taken_whatever_the_file_begins_with():
    assert told('[{"n": 1}]', [LINES]) == ("jsonl", [[{"n": "1"}]])


def test_rows_at_several_places_of_one_document_are_read_in_the_order_of_the_text():
    both = {"kind": "json", "rows": "/a/*", "more_rows": ["/b/*", "/c/*/rows/*"]}
    data = json.dumps({"b": [1, 2], "x": [9], "c": [{"rows": [3]}], "a": [4]})
    reader = opened(data, [both])
    rows = list(reader.rows())
    assert [(row.pointer, row.value) for row in rows] == [
        ("/b/0", "1"),
        ("/b/1", "2"),
        ("/c/0/rows/0", "3"),
        ("/a/0", "4"),
    ]
    assert "".join(row.gap + row.raw.decode() for row in rows) + reader.tail == data


def test_files_of_a_folder_are_named_once_for_each_kind_of_container():
    assert file_globs({"container": ALL}) == [
        f"*.{kind}{packed}" for kind in ("json", "jsonl", "csv") for packed in ("", ".gz", ".zst")
    ]
