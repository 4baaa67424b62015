"""Strict JSON: what the standard parser forgives and this one does not."""

import json

import pytest
from contract_spec.strict import NotStrictJson, parse
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import JSON


@given(value=JSON, indent=st.sampled_from([None, 1]), ascii=st.booleans())
def test_every_json_document_is_read_as_it_was_written(value, indent, ascii):
    assert parse(json.dumps(value, indent=indent, ensure_ascii=ascii).encode(), max_depth=64) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "{", "[1,]", '{"a":1,}', "01", "+1", "1.", ".5", "'a'", "NaN", "-Infinity", "1e999", "-1e999",
     "9" * 400, "{} {}", '{"a":1,"a":2}', '{"a":{"b":1,"b":1}}', '"\\ud800"', '{"\\udc00":1}', '"\t"', "// c\n1",
     "\u00a01", "nul"],
)  # fmt: skip
def test_what_is_not_strict_json_is_refused_with_a_reason(text):
    with pytest.raises(NotStrictJson, match=r"."):
        parse(text.encode(), max_depth=64)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "expected a value at line 1 column 1"),
        ("[1, ]", "expected a value at line 1 column 5"),
        ('{"a": 1,\n }', "expected a key in double quotes at line 2 column 2"),
        ("[,1]", "expected a value at line 1 column 2"),
        ("{'a': 1}", "expected a key in double quotes at line 1 column 2"),
        ('{"a" 1}', "expected a colon at line 1 column 6"),
        ('{"a": 1 "b": 2}', "expected a comma or a closing bracket at line 1 column 9"),
        ("[1 2]", "expected a comma or a closing bracket at line 1 column 4"),
        ('["a', "an unclosed string begins at line 1 column 2"),
        ('["a\tb"]', "a control character stands in a string at line 1 column 4"),
        ('["\\x"]', "an unknown escape stands in a string at line 1 column 3"),
        ('["\\u12g4"]', "an unknown escape stands in a string at line 1 column 4"),
        ("{}\n {}", "text follows the end of the document at line 2 column 2"),
    ],
)
def test_the_sentence_about_a_mistake_is_ours_and_the_same_on_every_python(text, sentence):
    with pytest.raises(NotStrictJson) as raised:
        parse(text.encode(), max_depth=64)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf1", b'"\xff"', b'"\xed\xa0\x80"', b"\xff\xfe1\x00"])
def test_bytes_that_are_not_plain_utf8_are_refused(data):
    with pytest.raises(NotStrictJson):
        parse(data, max_depth=64)


def test_a_pair_of_surrogate_escapes_is_one_character():
    assert parse(b'"\\ud83d\\ude00"', max_depth=1) == "\U0001f600"


@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_counted_in_brackets_and_not_in_strings(open_, close):
    assert parse((open_ * 8 + '"[[{"' + close * 8).encode(), max_depth=8) is not None
    with pytest.raises(NotStrictJson, match="deeper than 8"):
        parse((open_ * 9 + "1" + close * 9).encode(), max_depth=8)
