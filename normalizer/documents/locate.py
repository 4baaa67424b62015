"""Find the lines of a JSON text that a pointer names, to show them to people."""

import json
import re
from typing import NamedTuple

from normalizer.documents.pointers import steps_of

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode


class Place(NamedTuple):
    """Lines of a text, counted from 1."""

    first: int
    last: int
    there: bool
    """False: nothing is there, and the lines are those of what would hold it."""


def place(text: str, pointer: str) -> Place:
    """The lines of the member or item that a pointer names, its key included."""
    start = value_start = _skip(text, 0)
    there = True
    for step in steps_of(pointer):
        found = _member(text, value_start, step) if text[value_start] == "{" else _item(text, value_start, step)
        if found is None:
            there = False
            break
        start, value_start = found
    end = _end(text, value_start)
    return Place(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1, there)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _end(text: str, at: int) -> int:
    return int(_decode(text, at)[1])


def _member(text: str, at: int, key: str) -> tuple[int, int] | None:
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, after = _decode(text, at)
        value = _skip(text, _skip(text, after) + 1)
        if name == key:
            return at, value
        at = _skip(text, _end(text, value))
        at = _skip(text, at + 1) if text[at] == "," else at
    return None


def _item(text: str, at: int, step: str) -> tuple[int, int] | None:
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    index = 0
    while text[at] != "]":
        if str(index) == step:
            return at, at
        at = _skip(text, _end(text, at))
        at = _skip(text, at + 1) if text[at] == "," else at
        index += 1
    return None


class ItemSpan(NamedTuple):
    """An item of a list: its lines, counted from 1, and where in the text it begins and ends."""

    first: int
    last: int
    start: int
    end: int


def items(text: str, pointer: str) -> list[ItemSpan]:
    """Every item of the list that a pointer names, in one pass; no items where there is no list."""
    at = _skip(text, 0)
    for step in steps_of(pointer):
        found = _member(text, at, step) if text[at] == "{" else _item(text, at, step)
        if found is None:
            return []
        at = found[1]
    spans = []
    line, counted = text.count("\n", 0, at) + 1, at
    at = _skip(text, at + 1)
    while text[at] != "]":
        start, at = at, _end(text, at)
        first = line + text.count("\n", counted, start)
        line, counted = first + text.count("\n", start, at), at
        spans.append(ItemSpan(first, line, start, at))
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at] == "," else at
    return spans
