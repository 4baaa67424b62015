"""Lines are found by number as in a list of all lines."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.text import line_index
from zeno.text.line_index import LineIndex

LINES = st.lists(st.sampled_from([b"", b"a", b"bb", b"x" * 40]), max_size=30)


@given(lines=LINES, block=st.sampled_from([1, 3, 16, 4096]))
def test_a_line_begins_where_all_before_it_end(lines, block):
    before, line_index._BLOCK = line_index._BLOCK, block
    try:
        index = LineIndex(b"".join(line + b"\n" for line in lines))
        assert len(index) == len(lines)
        starts = [index.start(number) for number in range(len(lines) + 1)]
    finally:
        line_index._BLOCK = before
    assert starts == [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines) + 1)]


@given(lines=LINES, centre=st.integers(0, 35), count=st.integers(1, 5))
def test_ranges_come_nearest_first(lines, centre, count):
    index = LineIndex(b"".join(line + b"\n" for line in lines))
    found = list(index.ranges_from(centre, count))
    places = [first for first in range(len(lines) - count + 1) if first != centre]
    assert [first for first, _, _ in found] == sorted(places, key=lambda first: (abs(first - centre), first))
    for first, start, end in found:
        assert index.text[start:end] == b"\n".join(lines[first : first + count])
