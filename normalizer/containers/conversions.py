"""Convert values read from a row, as a dialect declares it: numbers in text, labels, words, booleans, lengths."""

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from normalizer.containers.number_text import number, patterns
from normalizer.containers.scope import Read
from normalizer.documents.lossless import Number, exact_value
from normalizer.errors import UnusableDocument, did_you_mean

_FINE, _LARGE = Decimal("1e-300"), Decimal("1e12")
"""Numbers beyond these are left as they are, for the rubric to refuse."""


def conversion(declared: dict[str, Any], at: str) -> Callable[[Read], Read] | None:
    """Return the function that converts values as declared; None if nothing is declared. Raises UnusableDocument."""
    names, labels, words = declared.get("number", []), declared.get("labels", {}), declared.get("words", {})
    booleans, places, counts = declared.get("booleans", False), declared.get("places"), "count" in declared
    for name in names:
        if name not in patterns():
            message = f"no number pattern is called {name}; {did_you_mean(name, patterns())}"
            raise UnusableDocument(f"the dialect's {at}: {message}")
    if not (names or labels or words or booleans or counts or places is not None):
        return None
    least = None if places is None else Decimal(1).scaleb(-int(places))

    def convert(read: Read) -> Read:
        value = read.value
        if counts and type(value) is str:
            return Read(Number(str(len(value))), read.take, "count characters")
        if type(value) is bool and booleans:
            return Read(Number("1" if value else "0"), read.take, "boolean")
        if type(value) is str and value in labels:
            return Read(Number(labels[value]), read.take, "label")
        spelled = ("true" if value else "false") if type(value) is bool else value
        if words and isinstance(spelled, str) and spelled in words:
            return Read(words[spelled], read.take, "word")
        if type(value) is str:
            for name in names:
                found = number(value, name)
                if found is not None:
                    read = Read(found, read.take, f"number {name}")
                    break
        if least is None or type(read.value) is not Number or _is_short(read.value, -least.adjusted()):
            return read
        return _round_to(read, least)

    return convert


def _is_short(number: str, places: int) -> bool:
    """Whether a number plainly has no more decimal places than that."""
    return len(number) - number.find(".") - 1 <= places and number.isascii() and "e" not in number and "E" not in number


def _round_to(read: Read, least: Decimal) -> Read:
    """Return the number rounded to multiples of `least`."""
    exact = exact_value(read.value)
    if exact is None or not _FINE < abs(exact) < _LARGE or Decimal(int(exact.as_tuple().exponent)) >= least.adjusted():
        return read
    places = -least.adjusted()
    text = f"{exact.quantize(least, rounding=ROUND_HALF_EVEN):f}"
    return Read(Number(text), read.take, f"{read.how} round {places}".strip())
