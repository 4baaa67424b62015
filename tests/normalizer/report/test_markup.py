"""Values become HTML in which no text is markup, and nothing invisible stays so."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.report.markup import Html, brief, el, text, visible
from normalizer.tables.formats import PValue


@given(st.text(max_size=12))
def test_text_is_never_markup_and_has_no_invisible_character(value):
    shown = text(value)
    assert not set("<>\"'") & set(shown)
    assert visible(shown) == shown


def test_markup_that_is_ready_is_not_escaped_again():
    assert el("p", Html("<b>x</b>"), "<i>", class_="n", data_x='"', title=None) == (
        '<p class="n" data-x="&quot;"><b>x</b>&lt;i&gt;</p>'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [("1.2345", "1.2345"), ("1.23449", "1.234"), ("-0.5", "\u22120.500"), ("-0.0001", "0.000"), ("2", "2.000")],
)
def test_a_number_with_fewer_places_is_what_the_exact_value_rounds_to(value, shown):
    assert brief(Decimal(value)) == shown


@pytest.mark.parametrize(
    ("p", "shown"), [("0", "< 0.001"), ("0.000499", "< 0.001"), ("0.0005", "0.0005"), ("0.02", "0.020")]
)
def test_a_page_never_says_that_p_is_0(p, shown):
    assert brief(PValue(p)) == shown
