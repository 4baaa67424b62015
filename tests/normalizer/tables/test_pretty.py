"""Indented JSON says what the value says, with decimals written out."""

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from normalizer.tables.formats import dumps

PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))


@given(VALUES)
def test_the_text_is_ascii_json_of_the_value(value):
    text = dumps(value)
    assert text.isascii()
    assert json.loads(text) == value


def test_a_decimal_keeps_its_digits_and_gets_no_exponent():
    assert dumps([Decimal("1E-7"), Decimal("0.10")]) == "[0.0000001, 0.10]"
