"""Rows of Python as JSON lines: nothing is lost, and what JSON does not have is refused by name."""

import json
from datetime import date
from decimal import Decimal

import numpy
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.api.reading import json_lines
from normalizer.errors import CannotRun

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)


@given(rows=st.lists(st.dictionaries(st.text(), VALUES, max_size=4), max_size=4))
def test_a_line_has_what_its_row_has(rows):
    assert [json.loads(line) for line in json_lines(rows)] == rows


ROWS = [{"id": "a", "score": 1.5, "n": 3}, {"id": "b", "score": None, "n": 4}]


TABLES = [
    pyarrow.Table.from_pylist,
    pyarrow.RecordBatch.from_pylist,
    polars.DataFrame,
    polars.LazyFrame,
    pandas.DataFrame,
]


@pytest.mark.parametrize("make", TABLES)
def test_tables_and_frames_have_the_rows_that_they_were_made_of(make):
    assert [json.loads(line) for line in json_lines(make(ROWS))] == ROWS


def test_numbers_of_other_kinds_are_numbers():
    row = {"a": Decimal("1.50"), "b": numpy.int64(3), "c": numpy.float64(0.25)}
    assert list(json_lines([row])) == [b'{"a":1.50,"b":3,"c":0.25}']


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"day": date(2020, 1, 1)}], "day of row 0 is date, which JSON does not have"),
        ([{}, {"x": [{1, 2}]}], "x of row 1 is set"),
        ([{1: "a"}], "the key 1"),
        ([[1]], "row 0 is list"),
        ({"a": 1}, "dict has no rows"),
        (3, "int has no rows"),
    ],
)
def test_what_json_does_not_have_is_refused_by_name(rows, why):
    with pytest.raises(CannotRun, match=why):
        list(json_lines(rows))
