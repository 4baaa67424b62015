"""Round exact values: all arithmetic is on Fractions, and each result is rounded once."""

from decimal import Decimal
from fractions import Fraction
from math import isqrt

PLACES = 6
ROUNDING = {"places": PLACES, "mode": "half_even"}
"""The rounding rule, which every output states."""
_FINE = 10**40
"""`root` computes in units of one over the square root of this."""


def round_exact(value: Fraction, places: int = PLACES) -> Decimal:
    """Return the value rounded to `places` decimal places, ties to even, without trailing zeros."""
    return _decimal(round(value * 10**places), places)


def round_root(square: Fraction, places: int = PLACES) -> Decimal:
    """Return the square root of a non-negative value, rounded correctly, by integer arithmetic."""
    scaled = square * 10 ** (2 * places)
    root = isqrt(scaled.numerator // scaled.denominator)
    middle = Fraction(2 * root + 1, 2) ** 2
    if scaled > middle or (scaled == middle and root % 2):
        root += 1
    return _decimal(root, places)


def root(square: Fraction) -> Fraction:
    """Return the square root to 20 places, for further computation."""
    return Fraction(isqrt(square.numerator * _FINE // square.denominator), isqrt(_FINE))


def _decimal(scaled: int, places: int) -> Decimal:
    digits = Decimal(scaled).scaleb(-places) if abs(scaled) < 10**27 else Decimal(f"{scaled}E-{places}")
    text = f"{digits:f}"
    return Decimal(text.rstrip("0").rstrip(".") if "." in text else text)
