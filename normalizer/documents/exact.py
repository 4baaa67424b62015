"""Exact values and the one rounding: everything is a Fraction until the very end."""

from decimal import Decimal
from fractions import Fraction
from math import isqrt

PLACES = 6
ROUNDING = {"places": PLACES, "mode": "half_even"}
"""Declared in every output."""
_FINE = 10**40
"""How finely a root is known where it is not the last step."""


def rounded(value: Fraction, places: int = PLACES) -> Decimal:
    """The value to that many places, ties to the even digit; without trailing zeros."""
    return _decimal(round(value * 10**places), places)


def rounded_root(square: Fraction, places: int = PLACES) -> Decimal:
    """The root of a value that is not negative, rounded correctly: no double is asked."""
    scaled = square * 10 ** (2 * places)
    root = isqrt(scaled.numerator // scaled.denominator)
    middle = Fraction(2 * root + 1, 2) ** 2
    if scaled > middle or (scaled == middle and root % 2):
        root += 1
    return _decimal(root, places)


def root(square: Fraction) -> Fraction:
    """The root to 20 places, for what is computed further."""
    return Fraction(isqrt(square.numerator * _FINE // square.denominator), isqrt(_FINE))


def _decimal(scaled: int, places: int) -> Decimal:
    digits = Decimal(scaled).scaleb(-places) if abs(scaled) < 10**27 else Decimal(f"{scaled}E-{places}")
    text = f"{digits:f}"
    return Decimal(text.rstrip("0").rstrip(".") if "." in text else text)
