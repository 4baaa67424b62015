"""A literal scan finds what `bytes.find` finds, within the range that it is given."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.text.literal_scan import literal_scan

SHORT = st.lists(st.sampled_from([b"a", b"b", b"\n", b"\xc3", b"\0"]), max_size=40).map(b"".join)


@given(text=SHORT, needle=SHORT.filter(bool), start=st.integers(0, 45), length=st.integers(0, 45))
def test_it_finds_the_first_place_of_the_needle_in_the_range(text, needle, start, length):
    start = min(start, len(text))
    end = min(start + length, len(text))
    found, behind = literal_scan(needle)(text, start, end)
    assert found == text.find(needle, start, end)
    if found >= 0:
        assert text[found:behind] == needle
