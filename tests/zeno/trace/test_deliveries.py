"""Sets of lines against plain Python sets, and what results deliver against the text in them."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.trace.deliveries import LineSet

RANGES = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 8)).map(lambda pair: (pair[0], pair[0] + pair[1])), max_size=20
)


@given(ranges=RANGES, asked=st.tuples(st.integers(1, 50), st.integers(0, 10)), up_to=st.integers(0, 60))
def test_a_set_of_ranges_is_a_set_of_lines(ranges, asked, up_to):
    lines, model = LineSet(), set()
    for first, last in ranges:
        lines.add(first, last)
        model |= set(range(first, last + 1))
    assert {line for first, last in lines.ranges() for line in range(first, last + 1)} == model
    assert all(before[1] + 1 < after[0] for before, after in zip(lines.ranges(), lines.ranges()[1:], strict=False))
    first, last = asked[0], asked[0] + asked[1]
    assert lines.covers(first, last) == (set(range(first, last + 1)) <= model)
    assert lines.count() == len(model)
    assert lines.count(up_to) == len([line for line in model if line <= up_to])
