"""How a quotation matches the lines it cites, against the definition written out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.results.quotations import find_difference, match_quotation

LINES = st.lists(st.sampled_from(["", "  ", "a", " a", "a ", "\ta b", "b", "ab", "a b c"]), min_size=1, max_size=6)


def model(quoted, cited):
    stripped = [line.strip() for line in quoted], [line.strip() for line in cited]
    places = range(len(cited) - len(quoted) + 1)
    says_something = any(stripped[0])
    if quoted == cited:
        return "exact"
    if stripped[0] == stripped[1]:
        return "white_space"
    if says_something and len(cited) > 1 and any(stripped[1][at : at + len(quoted)] == stripped[0] for at in places):
        return "run"
    if says_something and len(quoted) == len(cited) == 1 and stripped[0][0] in stripped[1][0]:
        return "part"
    return None


@given(LINES, LINES)
def test_a_match_is_what_the_definition_says(quoted, cited):
    assert match_quotation(quoted, cited) == model(quoted, cited)


@given(LINES, LINES)
def test_a_difference_is_one_of_the_cited_lines(quoted, cited):
    if match_quotation(quoted, cited) is None:
        at = find_difference(quoted, cited)
        assert 0 <= at < len(cited)


@pytest.mark.parametrize(
    ("quoted", "cited", "at"),
    [
        (["a", "x"], ["a", "b", "c"], 1),
        (["b", "x"], ["a", "b", "c"], 2),
        (["x"], ["a", "b"], 0),
        (["a", "b"], ["a"], 0),
        (["  a", "b", "x"], ["a", "  b", "c"], 2),
    ],
)
def test_the_first_line_that_differs_is_found(quoted, cited, at):
    assert find_difference(quoted, cited) == at


def test_a_long_run_of_blank_lines_is_compared_in_time():
    assert match_quotation([""] * 200_000 + ["x"], [""] * 400_000 + ["y"]) is None
