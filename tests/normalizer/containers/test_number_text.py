"""Numbers written as text: a pattern matches the whole text, and the number is spelled as JSON spells it."""

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.conversions import number, patterns, readable_by


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
        ("100", "plain", "100"),
        ("105", "plain", "105"),
        ("0.05", "plain", "0.05"),
        ("7.05", "plain", "7.05"),
        ("1e05", "plain", "1e05"),
        ("70/100", "of_100", "70"),
        ("12.5 %", "percent", "12.5"),
        ("10,05", "decimal_comma", "10.05"),
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


NUMERALS = st.from_regex(r"[+-]?[0-9]{1,8}(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@given(text=NUMERALS)
def test_a_number_in_text_has_the_value_of_its_text(text):
    found = number(text, "plain")
    assert found is not None
    assert Decimal(found) == Decimal(text)
    assert Decimal(found).as_tuple().exponent == Decimal(text).as_tuple().exponent, "no decimal place is lost"


@given(text=st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,6})?", fullmatch=True), name=st.sampled_from(sorted(patterns())))
def test_every_pattern_gives_the_value_of_the_digits_in_its_text(text, name):
    wrapped = {
        "plain": text,
        "decimal_comma": text.replace(".", ",") if "." in text else f"{text},0",
        "of_5": f"{text}/5",
        "of_10": f"{text} / 10",
        "of_100": f"{text}/100",
        "percent": f"{text} %",
        "double_brackets": f"[[{text}]]",
        "rating_at_end": f"10 points. Rating: [[{text}]].",
        "result_at_end": f"Feedback [RESULT] {re.sub('[.].*', '', text)}",
    }
    digits = re.sub("[.].*", "", text) if name == "result_at_end" else text
    found = number(wrapped[name], name)
    assert found is not None
    assert Decimal(found) == Decimal(digits)
