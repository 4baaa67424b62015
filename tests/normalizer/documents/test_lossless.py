"""Numbers keep their spelling, objects their order, strings their meaning."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.documents import lossless
from normalizer.documents.lossless import Number, dumps, loads_plain, parse, to_builtin
from tests.support.bundles import NUMBERS, VALUES, spaced


@given(value=VALUES, gap=st.sampled_from(["", " ", "\n\t"]))
def test_what_is_written_is_read_back_with_every_spelling(value, gap):
    read = parse(spaced(value, gap).encode(), 64)
    assert read == value
    assert dumps(read) == dumps(value)
    assert type(read) is type(value)


@given(value=VALUES)
def test_the_writer_without_the_c_encoder_writes_the_same(value):
    assert "".join(lossless._chunks(value, 0)) == dumps(value)


@given(value=VALUES)
def test_output_is_json_for_everybody(value):
    text = dumps(value)
    assert text.isascii()
    json.loads(text, parse_int=float)


@given(number=NUMBERS)
def test_a_plain_number_is_whole_exactly_if_the_spelled_one_is(number):
    value = lossless.exact_value(number)
    seen = to_builtin(number)
    if value is not None and abs(value) < 2**50:
        assert (seen == int(seen)) is (value == int(value))
        assert (seen in (0, 1, 2)) is (value in (0, 1, 2))


@pytest.mark.parametrize("spelling", ["0", "-0", "1.0", "1e2", "1E+2", "9" * 5000, "1e999", "0.10"])
def test_a_spelling_survives(spelling):
    assert dumps(parse(f"[{spelling}]".encode(), 8)) == f"[{spelling}]"
    assert loads_plain(spelling.encode()) == float(spelling)


def test_a_number_is_not_the_string_of_its_digits():
    assert type(parse(b"5", 1)) is Number
    assert type(parse(b'"5"', 1)) is str
    assert dumps([Number("5"), "5"]) == '[5,"5"]'


def test_what_is_no_json_value_is_a_bug_and_says_so():
    for value in (object(), {1, 2}):
        with pytest.raises(TypeError, match="not a JSON value"):
            dumps(value)
        with pytest.raises(TypeError, match="not a JSON value"):
            lossless._chunks(value, 0)
