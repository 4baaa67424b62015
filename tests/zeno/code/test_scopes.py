"""Lines divided by the innermost definitions around them, against the plain definition."""

import gc
import time

from hypothesis import given
from hypothesis import strategies as st

from zeno.code.facts import Symbol
from zeno.code.scopes import divide

EXTENT = st.tuples(st.integers(1, 20), st.integers(0, 8))
SYMBOLS = st.lists(EXTENT, max_size=12).map(
    lambda extents: [
        Symbol("class", f"s{index}", start, start, start + length, "") for index, (start, length) in enumerate(extents)
    ]
)


def _owner(symbols: list[Symbol], line: int) -> int:
    """Return the number of the definition around a line, as `divide` tells it."""
    firsts, owners = divide(symbols)
    parts = [owner for first, owner in zip(firsts, owners, strict=True) if first <= line]
    return parts[-1] if parts else 0


@given(SYMBOLS, st.integers(1, 30))
def test_the_definition_of_a_line_begins_last_and_of_these_ends_first(symbols, line):
    around = [
        (one.start_line, -one.end_line, number)
        for number, one in enumerate(symbols, 1)
        if one.start_line <= line <= one.end_line
    ]
    assert _owner(symbols, line) == max(around, default=(0, 0, 0))[2]


@given(SYMBOLS)
def test_parts_are_sorted_and_few(symbols):
    firsts, _ = divide(symbols)
    assert list(firsts) == sorted(set(firsts))
    assert len(firsts) <= 2 * len(symbols)


def test_a_definition_without_known_end_is_no_scope():
    assert _owner([Symbol("class", "A", 1, 1, 0, "")], 1) == 0


def test_deep_nesting_takes_no_more_time_than_as_many_neighbours():
    def spend(symbols: list[Symbol]) -> float:
        gc.disable()  # the rubbish of other tests takes time, too
        try:
            start = time.process_time()
            divide(symbols)
            return time.process_time() - start
        finally:
            gc.enable()

    count = 50_000
    nested = [Symbol("class", "A", line, line, 2 * count - line, "") for line in range(1, count)]
    flat = [Symbol("class", "A", line, line, line, "") for line in range(1, count)]
    assert spend(nested) < 10 * spend(flat) + 0.1
