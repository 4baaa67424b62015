"""A row of a container, and how its text becomes a value."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol

import contract_spec as spec

from normalizer.documents.lossless import Number, too_many_values
from normalizer.documents.pointers import steps_of
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


def parse_row(raw: bytes, *, nan: bool, is_row: bool = True) -> tuple[Any, str]:
    """The value of a row that is JSON, and an empty string; or None and why it cannot be read.

    A description of the run (`is_row` false) has nothing where NaN stands: a word would be the name of a judge.
    """
    if (why := too_many_values(raw, MAX_ROW_BYTES)) is not None:
        return None, why
    try:
        if nan:
            constant = str if is_row else _take_for_nothing
            return spec.parse(raw, max_depth=LIMITS["max_depth"], number=Number, constant=constant), ""
        return spec.parse(raw, max_depth=LIMITS["max_depth"], number=Number), ""
    except spec.NotStrictJson as error:
        hint = ""
        if str(error).endswith("is not JSON"):
            hint = f"{_column(raw)}; declare `nan` in the dialect to read it as that word"
        return None, f"{error}{hint}".replace(" at at ", " at ")


def _take_for_nothing(_word: str) -> None:
    return None


def _column(raw: bytes) -> str:
    """Where the first NaN or Infinity of a row stands, in words."""
    text = raw.decode()
    found = next((match for match in _CONSTANT.finditer(text) if match[1]), None)
    if found is None:
        return ""
    line = text.rfind("\n", 0, found.start()) + 1
    return f" at column {found.start() - line + 1}"


_MARK = b"\xef\xbb\xbf"


class JsonLinesReader:
    """Reads JSON lines from a stream, one line in memory at a time."""

    kind = "jsonl"

    def __init__(self, stream: BinaryIO, *, nan: bool = False, document_row: str | None = None) -> None:
        self._stream = stream
        self._nan = nan
        self._steps = steps_of(document_row) if document_row is not None else None
        self.document: Any = None
        self.tail = ""

    def rows(self) -> Iterator[Row]:
        """The lines that hold something. A line that describes a run goes into the gap and becomes `document`.

        Of several such lines each is about the rows after it, for files that were put together from several logs.
        """
        gap, index, number = "", 0, 0
        while line := self._stream.readline(MAX_ROW_BYTES + 1):
            number += 1
            if len(line) > MAX_ROW_BYTES:
                raise UnreadableContainer(f"line {number} is longer than {MAX_ROW_BYTES} bytes")
            if number == 1 and line.startswith(_MARK):
                gap, line = "\ufeff", line[3:]
            body = line.rstrip(b"\r\n") if line.endswith(b"\n") else line
            end = line[len(body) :].decode("ascii")
            if not body.strip(b" \t\r"):
                gap += body.decode("ascii") + end
                if len(gap) > MAX_ROW_BYTES:
                    raise UnreadableContainer(f"line {number} comes after more than {MAX_ROW_BYTES} empty lines")
                continue
            value, problem = parse_row(body, nan=self._nan)
            if problem == "" and self._describes_run(value):
                self.document, _ = parse_row(body, nan=self._nan, is_row=False)
                gap += body.decode() + end
                continue
            yield Row(f"/{index}", number, gap, body, value, problem.replace(" at line 1 ", " at "))
            gap, index = end, index + 1
        self.tail = gap

    def _describes_run(self, value: Any) -> bool:
        if self._steps is None:
            return False
        inner = value
        for step in self._steps:
            if type(inner) is not dict or step not in inner:
                return False
            inner = inner[step]
        return True
