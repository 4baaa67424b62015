"""The one rounding is correct: against decimals of high precision."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from normalizer.documents.exact import root, round_exact, round_root

FINE = Context(prec=120, rounding=ROUND_HALF_EVEN)
FRACTIONS = st.fractions(min_value=-(10**12), max_value=10**12, max_denominator=10**9)


def decimal(value: Fraction) -> Decimal:
    return FINE.divide(Decimal(value.numerator), Decimal(value.denominator))


@given(FRACTIONS)
def test_rounding_is_half_even_of_the_exact_value(value):
    assert round_exact(value) == decimal(value).quantize(Decimal("1E-6"), context=FINE)


@given(st.integers(-(10**9), 10**9))
def test_ties_go_to_the_even_digit(odd):
    assert int(round_exact(Fraction(2 * odd + 1, 2 * 10**6)) * 10**6) % 2 == 0


@given(FRACTIONS.map(abs))
def test_roots_are_rounded_correctly(square):
    assert round_root(square) == FINE.sqrt(decimal(square)).quantize(Decimal("1E-6"), context=FINE)
    assert abs(decimal(root(square)) - FINE.sqrt(decimal(square))) < Decimal("1E-19")


@given(st.integers(0, 10**12))
def test_a_root_that_ends_is_exact(whole):
    assert round_root(Fraction(whole, 10**6) ** 2) == Decimal(whole).scaleb(-6)


def test_no_zero_trails_and_none_is_negative():
    assert [f"{round_exact(Fraction(value)):f}" for value in ("1/2", "2", "-1/10000000", "100", "0")] == [
        "0.5", "2", "0", "100", "0",
    ]  # fmt: skip
