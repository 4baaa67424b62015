"""Convert values read from a row, as a dialect declares it: numbers in text, labels, words, booleans, lengths."""

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, NamedTuple

from normalizer.containers.number_text import number
from normalizer.documents.lossless import Number, exact_value
from normalizer.errors import UnusableDocument

_FINE, _LARGE = Decimal("1e-300"), Decimal("1e12")
"""Numbers beyond these are left as they are, for the rubric to refuse."""


class Read(NamedTuple):
    """A value that was read."""

    value: Any
    """The value, or `values.MISSING`."""
    take: str
    """Where it stood."""
    how: str = ""
    """How it was read, where it is not copied as it stands."""
    failed: str = ""
    """Why the judge gave no verdict, where the dialect declares that this means it."""


def conversion(declared: dict[str, Any], at: str) -> Callable[[Read], Read] | None:
    """Return the function that converts values as declared; None if nothing is declared. Raises UnusableDocument."""
    names, labels, words = declared.get("number", []), declared.get("labels", {}), declared.get("words", {})
    booleans, places, counts = declared.get("booleans", False), declared.get("places"), "count" in declared
    try:
        for name in names:
            number("", name)
    except KeyError as error:
        raise UnusableDocument(f"the dialect's {at}: no number pattern is called {error}") from None
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
        if words and isinstance(value, str) and value in words:
            return Read(words[value], read.take, "word")
        if type(value) is str:
            for name in names:
                found = number(value, name)
                if found is not None:
                    read = Read(found, read.take, f"number {name}")
                    break
        return _rounded(read, least) if least is not None and type(read.value) is Number else read

    return convert


def _rounded(read: Read, least: Decimal) -> Read:
    """Return the number rounded to multiples of `least`."""
    exact = exact_value(read.value)
    if exact is None or not _FINE < abs(exact) < _LARGE or Decimal(int(exact.as_tuple().exponent)) >= least.adjusted():
        return read
    places = -least.adjusted()
    text = f"{exact.quantize(least, rounding=ROUND_HALF_EVEN):f}"
    return Read(Number(text), read.take, f"{read.how} round {places}".strip())
