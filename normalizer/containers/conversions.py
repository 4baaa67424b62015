"""Convert values read from a row, as a dialect declares it: numbers in text, labels, words, booleans, lengths, and
what a regular expression finds in a text."""

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from typing import Any, NamedTuple

import contract_spec as spec
import re2

from normalizer.documents.lossless import Number, exact_value
from normalizer.errors import UnusableDocument, did_you_mean

MISSING: Any = object()
"""The absent value."""


class Star(NamedTuple):
    """A match of one `*` of `split`."""

    key: str | None
    """The key or index; None where a value is its own only item."""
    value: Any
    pointer: str
    """From the row."""


class Scope(NamedTuple):
    """Sources that the values of one entry are read from."""

    row: Any
    part: Any
    document: Any
    reply: Any
    key: str
    joined: Any = None
    stars: tuple[Star, ...] = ()
    place: str = ""
    """The key or index of the row in its container."""


class Read(NamedTuple):
    """A value that was read."""

    value: Any
    """The value, or `MISSING`."""
    take: str
    """Where it stood."""
    how: str = ""
    """How it was read, where it is not copied as it stands."""
    failed: str = ""
    """Why the judge gave no verdict, where the dialect declares that this means it."""


ValueReader = Callable[[Scope], Read]


_ZEROS = re.compile(r"^(-?)0+(?=[0-9])")


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """The patterns of `rules/number_patterns.json` by name."""
    rules = spec.resource("rules/number_patterns.json")
    return {name: re.compile(rule["pattern"], re.ASCII) for name, rule in rules.items()}


def number(text: str, name: str) -> Number | None:
    """The number that a text is by the pattern of that name, spelled as JSON spells it; None where it is not one."""
    match = patterns()[name].fullmatch(text)
    if match is None:
        return None
    digits = match[1].replace(",", ".").removeprefix("+")
    return Number(_ZEROS.sub(r"\1", digits, count=1))


def readable_by(text: str) -> list[str]:
    """The names of the patterns by which a text is a number."""
    return [name for name in patterns() if number(text, name) is not None]


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
    if (
        exact is None
        or not _FINE < exact.copy_abs() < _LARGE
        or Decimal(int(exact.as_tuple().exponent)) >= least.adjusted()
    ):
        return read
    places = -least.adjusted()
    text = f"{exact.quantize(least, rounding=ROUND_HALF_EVEN):f}"
    return Read(Number(text), read.take, f"{read.how} round {places}".strip())


_MEMORY = 1 << 23
"""Bytes that a compiled pattern may take: a dialect may come from anybody."""


@cache
def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(pattern, options)


def _require_pattern(pattern: str, at: str) -> Any:
    try:
        return _compile(pattern)
    except re2.error:
        raise UnusableDocument(f"the dialect's {at}: {pattern!r} is no regular expression of RE2") from None


def extractor(pattern: str, at: str) -> Callable[[Read], Read]:
    """Return a function that takes the value of the pattern's group out of a text. `at` names it in errors."""
    compiled = _require_pattern(pattern, at)
    if compiled.groups != 1:
        raise UnusableDocument(f"the dialect's {at}: {pattern!r} must have one group, which is the value")

    def extract(read: Read) -> Read:
        if type(read.value) is not str:
            return read
        found: str | None = None
        for match in compiled.finditer(read.value):
            group = match.group(1)
            if group is None or group == found:
                continue
            if found is not None:
                return Read(MISSING, read.take, failed=f"its pattern is found with {found!r} and with {group!r}")
            found = group
        return read._replace(value=MISSING) if found is None else Read(found, read.take, "pattern")

    return extract


def failure_finder(patterns: Sequence[str], at: str) -> Callable[[Any], str]:
    """Return a function that says by which pattern a value is a failure; it returns "" if it is none."""
    compiled = [(pattern, _require_pattern(pattern, at)) for pattern in patterns]

    def find(value: Any) -> str:
        if type(value) is not str:
            return ""
        return next((f"it is like {pattern}" for pattern, each in compiled if each.search(value)), "")

    return find
