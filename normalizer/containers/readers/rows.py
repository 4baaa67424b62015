"""A row of a container, and how its text becomes a value."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import contract_spec as spec

from normalizer.documents.lossless import Number, too_many_values
from normalizer.documents.settings import LIMITS

MAX_ROW_BYTES = LIMITS["max_bundle_bytes"]

_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')
"""Texts, which are passed over, and the words that Python writes and JSON does not have."""


class Row(NamedTuple):
    """One row: its exact text, where it stands, and its value or why it has none."""

    pointer: str
    """Where the row stands, as a JSON pointer; lines and records count from 0."""
    line: int
    """The line at which it begins, counted from 1."""
    gap: str
    """The text between the row before and this one."""
    raw: bytes
    value: Any = None
    problem: str = ""
    """Why the row cannot be read; empty where it can."""
    member: str = ""
    """The member of an archive."""


class UnreadableContainer(Exception):
    """The file is not the container that its dialect declares. The message says why, with line and column."""


class ContainerReader(Protocol):
    """An open container."""

    kind: str
    document: Any
    """The document around the rows, which may describe the run; None if there is none."""
    tail: str
    """The text after the last row; known when all rows have been read."""

    def rows(self) -> Iterator[Row]:
        """The rows in their order. Raises `UnreadableContainer` where the next row cannot be found."""


def parse_row(raw: bytes, *, nan: bool) -> tuple[Any, str]:
    """The value of a row that is JSON, and an empty string; or None and why it cannot be read."""
    if (why := too_many_values(raw, MAX_ROW_BYTES)) is not None:
        return None, why
    try:
        if nan:
            return spec.parse(raw, max_depth=LIMITS["max_depth"], number=Number, constant=str), ""
        return spec.parse(raw, max_depth=LIMITS["max_depth"], number=Number), ""
    except spec.NotStrictJson as error:
        hint = ""
        if str(error).endswith("is not JSON"):
            hint = f"{_column(raw)}; declare `nan` in the dialect to read it as that word"
        return None, f"{error}{hint}".replace(" at at ", " at ")


def _column(raw: bytes) -> str:
    """Where the first NaN or Infinity of a row stands, in words."""
    text = raw.decode()
    found = next((match for match in _CONSTANT.finditer(text) if match[1]), None)
    if found is None:
        return ""
    line = text.rfind("\n", 0, found.start()) + 1
    return f" at column {found.start() - line + 1}"
