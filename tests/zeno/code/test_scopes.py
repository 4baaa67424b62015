"""Scopes: the innermost definition around a line, against its plain definition."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.code.facts import Symbol
from zeno.code.scopes import Scopes

EXTENT = st.tuples(st.integers(1, 20), st.integers(0, 8))
SYMBOLS = st.lists(EXTENT, max_size=12).map(
    lambda extents: [
        Symbol("class", f"s{index}", start, start, start + length, "") for index, (start, length) in enumerate(extents)
    ]
)


@given(SYMBOLS, st.integers(1, 30))
def test_the_scope_of_a_line_begins_last_and_of_these_ends_first(symbols, line):
    around = [symbol for symbol in symbols if symbol.start_line <= line <= symbol.end_line]
    expected = max(
        around, key=lambda symbol: (symbol.start_line, -symbol.end_line, symbols.index(symbol)), default=None
    )
    assert Scopes(symbols).at(line) == expected


def test_a_definition_without_known_end_is_no_scope():
    assert Scopes([Symbol("class", "A", 1, 1, 0, "")]).at(1) is None
