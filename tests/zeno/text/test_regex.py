"""The wrapper of RE2: tests, scans within lines and over lines, sizes of patterns, and refusals that name the field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.errors import InvalidArgs, InvalidPattern
from zeno.text.regex import finder, full_matcher, literal_scan, program_size, scanner, searcher, states, text_scanner


def test_a_searcher_says_whether_a_text_contains_a_match():
    assert searcher("a+b", "args.pattern")(b"xxaab")
    assert not searcher("a+b", "args.pattern", literal=True)(b"xxaab")
    assert searcher("A+B", "args.pattern", case_sensitive=False)(b"xxaab")
    assert searcher("straße", "args.pattern", case_sensitive=False, literal=True)("STRAßE".encode())


def test_a_finder_gives_start_and_end_of_the_first_match():
    find = finder("b+", "args.pattern")
    assert find(b"abbcb") == (1, 3)
    assert find(b"ac") is None


def test_a_scan_within_lines_never_crosses_a_line_end():
    scan = scanner(r"a\s+b")
    assert scan is not None
    assert scan(b"a\nb a b\n", 0, 8) == (4, 7)
    assert scan(b"a\nb\n", 0, 4)[0] < 0


def test_a_scan_of_a_text_may_cross_line_ends_and_takes_them_for_ends_of_lines():
    assert text_scanner(r"a\s+b", "args.pattern")(b"a\nb\n", 0, 4) == (0, 3)
    assert text_scanner("^b$", "args.pattern")(b"a\nb\nc\n", 0, 6) == (2, 3)


def test_a_whole_matcher_matches_nothing_less_than_the_whole_text():
    match = full_matcher("a.c", "args.glob", case_sensitive=True)
    assert match(b"abc")
    assert not match(b"abcd")


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)", "a{1001}"])
def test_a_pattern_that_re2_does_not_have_is_refused_with_the_field(pattern):
    with pytest.raises(InvalidPattern, match=r"args\.pattern is not an RE2 regular expression"):
        searcher(pattern, "args.pattern")
    assert program_size(pattern) == 0
    assert states(pattern) == 0


def test_a_glob_that_is_too_large_is_an_invalid_argument():
    with pytest.raises(InvalidArgs, match=r"args\.glob is too large a glob"):
        full_matcher("(x{1000}){1000}", "args.glob", case_sensitive=True)


def test_states_grow_with_the_counts_and_a_plain_literal_has_one():
    assert states("a{10}") < states("a{100}") < states("a{1000}")
    assert states("a" * 500, literal=True) == 1
    assert states("a" * 500, literal=True, case_sensitive=False) >= 500


SHORT = st.lists(st.sampled_from([b"a", b"b", b"\n", b"\xc3", b"\0"]), max_size=40).map(b"".join)


@given(text=SHORT, needle=SHORT.filter(bool), start=st.integers(0, 45), length=st.integers(0, 45))
def test_a_literal_scan_finds_the_first_place_of_the_needle_in_the_range(text, needle, start, length):
    start = min(start, len(text))
    end = min(start + length, len(text))
    found, behind = literal_scan(needle)(text, start, end)
    assert found == text.find(needle, start, end)
    if found >= 0:
        assert text[found:behind] == needle
