"""Every name has one cell and every cell one name, whatever bundles call their levels."""

from hypothesis import example, given
from hypothesis import strategies as st

from normalizer.aggregate.cell_names import NONE, as_text, dimension, level, parse_level

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
