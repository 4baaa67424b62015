"""Facts as bytes: the same after reading, and nothing else is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.facts import read_facts
from zeno.code.facts import ROLES, Facts, Symbol, numbers
from zeno.code.kept_facts import KeptFacts, encode, keep

WORD = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8)
NUMBER = st.integers(0, 2**32 - 2)
LINE = st.integers(1, 12)
SYMBOL = st.builds(Symbol, WORD, WORD, LINE, LINE, st.integers(0, 12), WORD)
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


def _use(kept: KeptFacts) -> None:
    """Ask for everything that answers ask for."""
    read_facts(kept)
    for line in (0, 1, 5, 2**32):
        kept.find_scope(line)
    assert all(ROLES[role] for role in kept.stretches[2::3])
    assert kept.has_grammar in (True, False)


@given(FACTS)
def test_facts_are_kept_whole(facts):
    kept = keep(facts)
    kept.check()
    assert read_facts(kept) == facts


@given(FACTS)
def test_definitions_are_listed_wherever_a_name_has_the_part(facts):
    kept = keep(facts)
    for symbol in facts.symbols:
        for part in (symbol.name, symbol.name[1:], symbol.name + "\n"):
            assert kept.list_symbols(part) == facts.symbols
    assert kept.list_symbols("no name is as long as this one") == []


@given(FACTS, st.integers(1, 14))
def test_the_scope_of_a_line_begins_last_and_of_these_ends_first(facts, line):
    around = [
        (one.start_line, -one.end_line, number)
        for number, one in enumerate(facts.symbols)
        if one.end_line and one.start_line <= line <= one.end_line
    ]
    expected = facts.symbols[max(around)[2]] if around else None
    assert keep(facts).find_scope(line) == expected


@given(FACTS, st.data())
def test_cut_bytes_are_refused(facts, data):
    encoded = encode(facts)
    with pytest.raises(ValueError):
        KeptFacts(encoded[: data.draw(st.integers(0, len(encoded) - 1))]).check()


@given(FACTS, st.data())
def test_changed_bytes_are_refused_or_answer_something(facts, data):
    encoded = bytearray(encode(facts))
    for _ in range(data.draw(st.integers(1, 3))):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.sampled_from([0, 1, 2, 10, 128, 255]))
    _use_if_facts(bytes(encoded))


@given(st.binary(max_size=200))
def test_any_bytes_are_facts_or_refused(data):
    _use_if_facts(data)


def _use_if_facts(data: bytes) -> None:
    try:
        kept = KeptFacts(data)
        kept.check()
    except ValueError:
        return
    _use(kept)
