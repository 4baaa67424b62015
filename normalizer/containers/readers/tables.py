"""CSV as RFC 4180 has it: a line of column names, unless the dialect has them, then records. Every cell is text."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

from normalizer.containers.readers.rows import MAX_ROW_BYTES, Row, UnreadableContainer

_MANY = 1 << 12
"""Lines of one record that are held apart: a line in quotes may be empty, and a text of its own takes 50 bytes."""

_QUOTES = "its quotation marks are not those of RFC 4180: quote whole cells, and double the marks in them"
_MOST_CELLS = MAX_ROW_BYTES // 8


class CsvReader:
    """Reads CSV from a stream, one record in memory at a time."""

    kind = "csv"
    document = None

    def __init__(
        self, stream: BinaryIO, *, delimiter: str = ",", columns: list[str] | None = None, short: bool = False
    ) -> None:
        self._text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        self._delimiter = delimiter
        self._columns = columns
        """The names of columns, where the file has no line of them."""
        self._short = short
        """Whether rows may end before the last columns."""
        self._joined: list[str] = []
        """Lines of the present record, many in one text."""
        self._taken: list[str] = []
        """Its lines after those."""
        self._length = 0
        """Its characters."""
        self._marks = 0
        """Its delimiters, those in quotes too: a cell takes some sixty bytes of memory, however short it is."""
        self._first = 1
        self._lines = 0
        self.tail = ""

    def rows(self) -> Iterator[Row]:
        """The records after the line of names, each an object of column names and cells."""
        csv.field_size_limit(MAX_ROW_BYTES)
        try:
            yield from self._rows()
        except UnicodeDecodeError:
            raise UnreadableContainer(f"it is not UTF-8 after line {self._lines}") from None
        finally:
            self._text.detach()

    def _rows(self) -> Iterator[Row]:
        columns = self._columns
        if columns is not None:
            _check(columns)
        gap, index = "", 0
        for first, cells, problem in self._records():
            body, end = self._record_text()
            if columns is None and problem:
                raise UnreadableContainer(f"the line of column names cannot be read: {problem}")
            if not problem and (not cells or (columns is None and is_before_names(cells))):
                gap += body + end
                if len(gap) > MAX_ROW_BYTES:
                    raise UnreadableContainer(f"line {first} comes after more than {MAX_ROW_BYTES} empty lines")
                continue
            if columns is None:
                columns = [cells[0].removeprefix("\ufeff"), *cells[1:]]
                gap += body + end
                _check(columns)
                continue
            if index == 0 and cells and self._columns is not None:
                cells = [cells[0].removeprefix("\ufeff"), *cells[1:]]
            if not problem and len(cells) != len(columns) and not (self._short and 0 < len(cells) < len(columns)):
                names = "the line of column names" if self._columns is None else "the dialect"
                problem = f"it has {len(cells)} cells, and {names} has {len(columns)}"
            value = None if problem else dict(zip(columns, cells, strict=False))
            if value is not None and len(value) < len(cells):
                value = {name: cell for name, cell in value.items() if name.strip()}
            yield Row(f"/{index}", first, gap, body.encode(), value, problem)
            gap, index = end, index + 1
        if columns is None:
            raise UnreadableContainer("it has no line of column names")
        self.tail = gap

    def _records(self) -> Iterator[tuple[int, list[str], str]]:
        """First line, cells and problem of each record; its lines are in `_joined` and `_taken` meanwhile."""
        reader = self._reader()
        while True:
            self._taken, self._joined, self._length, self._marks = [], [], 0, 0
            first = self._first = self._lines + 1
            try:
                cells = next(reader, None)
            except csv.Error:
                yield first, [], _QUOTES
                reader = self._reader()  # the broken record ends with the line at which it broke
                continue
            if cells is None:
                return
            yield first, cells, ""

    def _reader(self) -> Iterator[list[str]]:
        return csv.reader(self._count_lines(), delimiter=self._delimiter, strict=True)

    def _count_lines(self) -> Iterator[str]:
        while line := self._text.readline(MAX_ROW_BYTES + 1):
            self._length += len(line)
            if self._length > MAX_ROW_BYTES:
                raise UnreadableContainer(f"the record at line {self._first} is longer than {MAX_ROW_BYTES} characters")
            self._marks += line.count(self._delimiter)
            if self._marks > _MOST_CELLS:
                raise UnreadableContainer(f"the record at line {self._first} has more than {_MOST_CELLS} delimiters")
            self._lines += 1
            self._taken.append(line)
            if len(self._taken) == _MANY:
                self._joined.append("".join(self._taken))
                self._taken = []
            yield line

    def _record_text(self) -> tuple[str, str]:
        text = "".join([*self._joined, *self._taken])
        body = text.rstrip("\r\n") if text.endswith(("\r", "\n")) else text
        return body, text[len(body) :]


def is_before_names(cells: list[str]) -> bool:
    """Whether a record is no line of names: no cell says anything, or it is one cell with a comment."""
    said = [cell.strip("\ufeff \t") for cell in cells]
    return not any(said) or (len(said) == 1 and said[0].startswith("#"))


def _check(columns: list[str]) -> None:
    """Raise UnreadableContainer if two columns have one name; those without a name are told apart by nothing."""
    twice = {name for name, count in Counter(columns).items() if count > 1 and name.strip()}
    if twice:
        raise UnreadableContainer(f"the column {min(twice)!r} is named twice")
