"""Every name has one cell and every cell one name, whatever bundles call their levels."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from normalizer.aggregate.keys import NONE, as_text, dimension, level, parse_level

NAMES = st.text(max_size=8) | st.sampled_from(["NA", "(none)", "(all)", "total", "=1+1", '"', "-3", "-x", "a;=b"])


@given(NAMES)
@example("")
@example('"(none)"')
def test_a_level_is_read_back_from_its_cell(name):
    assert parse_level(level(name)) == name


@given(NAMES, NAMES)
def test_different_levels_have_different_cells(one, other):
    assert (level(one) == level(other)) == (one == other)


def test_no_level_is_written_as_such_and_never_taken_for_a_name():
    assert level(None) == NONE
    assert parse_level(NONE) is None
    assert level(NONE) == '"(none)"'


def test_a_dimension_that_is_called_like_a_column_is_quoted():
    assert dimension("A_structure") == "A_structure"
    for name in ("total", "n", "total.mean", " padded", "factors.x", ""):
        assert dimension(name).startswith('"')


def test_signed_numbers_are_no_formulas():
    assert as_text("-3.5") == "-3.5"
    assert as_text("-3+x").startswith('"')


@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\0", "\x85", "\u200b", "\ufeff", "a;", "a; ", "a|\0", "a\t", "a \t ", "a\n", "a\r "]
)
@pytest.mark.parametrize("formula", ["=1", "+x", "-1+1", "@f", "\uff1d1"])
def test_a_formula_is_quoted_whatever_unseen_characters_or_separators_are_before_it(before, formula):
    assert as_text(before + formula).startswith('"')
    assert as_text(f"a{before.strip('a;|')}b{formula}") == f"a{before.strip('a;|')}b{formula}"


@pytest.mark.parametrize("separator", [";", "|", "\t", "\n"])
def test_no_formula_is_in_a_cell_of_its_own_for_a_spreadsheet_that_splits_at_other_characters(separator):
    """In the middle of a row such a spreadsheet does not see the quotation marks of a cell."""
    name = f"x{separator}=1+1{separator}y"
    assert separator not in as_text(name)
    assert parse_level(as_text(name)) == name


@pytest.mark.parametrize("unit", ["\t", " ", ";", "; ", "\t ", "\0", "+", ",+1"])
def test_a_long_text_takes_time_by_its_length(unit):
    """40 KB of tabs took 14 seconds when every tab was tried with all that follow, and a megabyte hours."""
    text = "x" + unit * (1_000_000 // len(unit))
    assert parse_level(as_text(text)) == text
