"""Numbers written as text: a pattern matches the whole text, and the number is spelled as JSON spells it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.number_text import number, patterns, readable_by


@pytest.mark.parametrize(
    ("text", "name", "spelled"),
    [
        ("7", "plain", "7"),
        ("+007.50", "plain", "7.50"),
        ("-0", "plain", "-0"),
        ("7/10", "of_10", "7"),
        ("3,5", "decimal_comma", "3.5"),
        ("[[8]]", "double_brackets", "8"),
        (" 7\n", "plain", "7"),
    ],
)
def test_a_text_is_the_number_that_its_pattern_says(text, name, spelled):
    found = number(text, name)
    assert found is not None
    assert str(found) == spelled


@pytest.mark.parametrize("text", ["7 of 10", "about 7", "", "[[8]] and [[9]]", "\u0667"])
def test_a_text_with_anything_else_in_it_is_no_number(text):
    assert readable_by(text) == []


@given(text=st.text(alphabet="0123456789+-.,/[] e%", max_size=8))
def test_whatever_is_read_is_a_json_number(text):
    for name in readable_by(text):
        json.loads(str(number(text, name)))
        assert name in patterns()
