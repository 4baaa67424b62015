"""Find values in a JSON text: where they begin and end, and the lines that a pointer names."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from normalizer.documents.pointers import steps_of

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode


class Place(NamedTuple):
    """Lines of a text, counted from 1."""

    first: int
    last: int
    there: bool
    """False: nothing is there, and the lines are those of what would hold it."""


def place(text: str, pointer: str) -> Place:
    """The lines of the member or item that a pointer names, its key included."""
    start = value = skip_space(text, 0)
    there = True
    for step in steps_of(pointer):
        found = _find(text, value, step)
        if found is None:
            there = False
            break
        _, start, value = found
    end = find_end(text, value)
    return Place(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1, there)


def skip_space(text: str, at: int) -> int:
    """Return where the white space at a place of a JSON text ends."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def find_end(text: str, at: int) -> int:
    """Return where the value that begins at a place of a JSON text ends."""
    return int(_decode(text, at)[1])


class Inner(NamedTuple):
    """A member or item of a value."""

    key: str
    """Its name, or its number from 0."""
    start: int
    value: int
    """Where its value begins; of an item, where it begins itself."""


def list_inner(text: str, at: int) -> Iterator[Inner]:
    """Yield the members or items of the value that begins at a place of a JSON text; none unless it has some."""
    closing = {"{": "}", "[": "]"}.get(text[at])
    index, at = 0, skip_space(text, at + 1)
    while closing is not None and text[at] != closing:
        key, value = str(index), at
        if closing == "}":
            key, value = _decode(text, at)
            value = skip_space(text, skip_space(text, value) + 1)
        yield Inner(key, at, value)
        at = _skip_comma(text, find_end(text, value))
        index += 1


def _skip_comma(text: str, at: int) -> int:
    at = skip_space(text, at)
    return skip_space(text, at + 1) if text[at] == "," else at


def _find(text: str, at: int, step: str) -> Inner | None:
    return next((one for one in list_inner(text, at) if one.key == step), None)


class ItemSpan(NamedTuple):
    """An item of a list: its lines, counted from 1, and where in the text it begins and ends."""

    first: int
    last: int
    start: int
    end: int


def items(text: str, pointer: str) -> list[ItemSpan]:
    """Every item of the list that a pointer names, in one pass; no items where there is no list."""
    at = skip_space(text, 0)
    for step in steps_of(pointer):
        found = _find(text, at, step)
        if found is None:
            return []
        at = found.value
    spans = []
    line, counted = text.count("\n", 0, at) + 1, at
    at = skip_space(text, at + 1)
    while text[at] != "]":
        start, at = at, find_end(text, at)
        first = line + text.count("\n", counted, start)
        line, counted = first + text.count("\n", start, at), at
        spans.append(ItemSpan(first, line, start, at))
        at = _skip_comma(text, at)
    return spans
