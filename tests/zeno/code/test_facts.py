"""Facts as bytes: the same after reading, and nothing else is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.code.facts import Facts, Symbol, decode, encode, numbers

WORD = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8)
NUMBER = st.integers(0, 2**32 - 1)
SYMBOL = st.builds(Symbol, WORD, WORD, NUMBER, NUMBER, NUMBER, WORD)
FACTS = st.builds(
    Facts,
    WORD,
    st.lists(SYMBOL, max_size=5),
    st.lists(st.tuples(NUMBER, NUMBER), max_size=3),
    st.lists(st.tuples(NUMBER, NUMBER, st.integers(0, 3)), max_size=3).map(
        lambda stretches: numbers([number for stretch in stretches for number in stretch])
    ),
    st.lists(NUMBER, max_size=5).map(numbers),
)


@given(FACTS)
def test_decoding_undoes_encoding(facts):
    assert decode(encode(facts)) == facts


@given(FACTS, st.data())
def test_cut_bytes_are_refused(facts, data):
    encoded = encode(facts)
    with pytest.raises(ValueError):
        decode(encoded[: data.draw(st.integers(0, len(encoded) - 1))])


@given(st.binary(max_size=200))
def test_any_bytes_are_facts_or_refused(data):
    try:
        facts = decode(data)
    except ValueError:
        return
    assert isinstance(facts, Facts)
