"""Read rows in the ways in which a file may hold them: JSON lines, the lists of a document, a table of cells."""

import csv
import io
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any, BinaryIO, NamedTuple

from normalizer.containers.conversions import number
from normalizer.containers.readers.documents import JsonReader
from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import UnreadableContainer
from normalizer.containers.readers.tables import is_before_names
from normalizer.documents.pointers import escape
from normalizer.guess.fields.profile import Profile

FIRST = 20_000
"""FileRows that are all looked at; of those after them every fiftieth is."""
_EVERY = 50
_MOST_PLACES = 4
_DEPTH = 6
_DELIMITERS = (",", "\t", ";", "|", " ")
"""Characters between cells. The last is tried only if no other separates any."""
_LEFT_OUT = 4
"""A row that lacks so many cells at its end is not taken for one whose last cells are empty."""
_LINES = 50
"""Lines of a table of which all must have as many cells as the first, where the first line says nothing itself."""
_START = 1 << 16


class FileRows(NamedTuple):
    """FileRows of a file, in one way of reading it."""

    container: dict[str, Any]
    """As a dialect declares it."""
    profile: Profile
    total: int
    unreadable: int
    document: Any
    has_keys: bool
    """Whether each row has a key in an object, and not an index or a line."""

    @property
    def looked_at(self) -> int:
        """How many rows were looked at."""
        return len(self.profile.rows)


def read_rows(stream: BinaryIO) -> list[FileRows]:
    """Return the rows in each way in which the file may hold them, the likeliest first. Raises UnreadableContainer."""
    stream.seek(0)
    start = stream.read(_START)
    if not start.strip():
        raise UnreadableContainer("it is empty")
    if start.startswith(b"PK\x03\x04"):
        raise UnreadableContainer("it is a zip archive, and no shipped dialect reads it")
    if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return [_read(stream, _table(start), None, has_keys=False)]
    stream.seek(0)
    try:
        document = JsonReader(stream).document
    except UnreadableContainer as error:
        return [_read_lines(stream, str(error))]
    places = sorted(_places(document, "", 0), key=lambda place: (-place[0], place[1]))[:_MOST_PLACES]
    if not places:
        return [_read_lines(stream, "it has no list of several objects that are alike")]
    return [_read(stream, {"kind": "json", "rows": at}, document, has_keys=keys) for _, at, keys in places]


def _read_lines(stream: BinaryIO, why: str) -> FileRows:
    """Return the rows of JSON lines. Raises UnreadableContainer, also with why the file is no document with rows."""
    try:
        return _read(stream, {"kind": "jsonl"}, None, has_keys=False)
    except UnreadableContainer as error:
        raise UnreadableContainer(f"{error}; as one document: {why}") from None


def _read(stream: BinaryIO, container: dict[str, Any], document: Any, *, has_keys: bool) -> FileRows:
    stream.seek(0)
    profile, total, unreadable, why = Profile(), 0, 0, ""
    for row in open_container(stream, {"container": [container], "nan": True}).rows():
        total += 1
        why = why or row.problem
        unreadable += bool(row.problem) or type(row.value) is not dict
        if type(row.value) is dict and (total <= FIRST or total % _EVERY == 0):
            profile.add(row.value)
    if not profile.rows:
        raise UnreadableContainer(
            f"no row of it can be read: {why}" if why else "no row of it is an object or a record"
        )
    return FileRows(container, profile, total, unreadable, document, has_keys)


def _places(value: Any, at: str, depth: int) -> Iterator[tuple[int, str, bool]]:
    """Where a document has objects in a list or an object: how many, the pointer, and whether they have keys."""
    if type(value) not in (dict, list) or depth > _DEPTH:
        return
    inner = list(value.values()) if type(value) is dict else value
    objects = [item for item in inner if type(item) is dict and item]
    if len(objects) >= max(2, 0.8 * len(inner)) or (type(value) is list and depth == 0 and objects):
        common = set(objects[0]).intersection(*objects[:50])
        if common:
            yield len(objects), f"{at}/*", type(value) is dict
    if type(value) is dict and len(value) <= 1000:
        for key, item in value.items():
            yield from _places(item, f"{at}/{escape(key)}", depth + 1)


def _table(start: bytes) -> dict[str, Any]:
    """Return how a table is written. Raises UnreadableContainer if nothing separates its cells."""
    text = start.decode("utf-8", "replace").removeprefix("\ufeff")
    tables = {mark: _first_records(text, mark) for mark in _DELIMITERS}
    blanks = tables.pop(" ")
    mark, records = max(tables.items(), key=lambda item: len(item[1][0]))
    if len(records[0]) < 2 and _is_even(blanks):
        mark, records = " ", blanks
    if len(records[0]) < 2:
        raise UnreadableContainer(
            "it does not begin like JSON, and its first line is not names of columns that a comma, a tab, a semicolon, "
            "a bar or a blank separates"
        )
    container: dict[str, Any] = {"kind": "csv", "delimiter": mark}
    if _are_names(records[0]):
        lengths = {len(cells) for cells in records[1:]}
        # Exports of crowd work leave out the last cells where they are empty.
        is_short = bool(lengths) and max(lengths) <= len(records[0]) and min(lengths) < len(records[0])
        return (
            {**container, "short_rows": True} if is_short and len(records[0]) < min(lengths) + _LEFT_OUT else container
        )
    if not _is_even(records) or _are_numbered(records[0]):
        raise UnreadableContainer("its first line is not names of columns but data: write a line of names before it")
    return {**container, "columns": [f"column_{number}" for number in range(1, len(records[0]) + 1)]}


def _first_records(text: str, mark: str) -> list[list[str]]:
    """Return the cells of the first lines, without the last one, which may be cut off; the first in any case."""
    reader = csv.reader(io.StringIO(text), delimiter=mark)
    first = next((cells for cells in reader if not is_before_names(cells)), [])
    records = [first, *(cells for cells in islice(reader, _LINES) if cells)]
    return records[:-1] or records


def _is_even(records: list[list[str]]) -> bool:
    """Whether all lines have the same number of cells, two or more."""
    return len(records) > 1 and {len(cells) for cells in records} == {max(2, len(records[0]))}


def _are_names(cells: list[str]) -> bool:
    is_data = any(number(name, "plain") is not None or len(name) > 80 for name in cells)
    named = [name for name in cells if name.strip()]
    return not is_data and len(set(named)) == len(named)


def _are_numbered(cells: list[str]) -> bool:
    """Whether numbers that stand side by side count on, as names of columns do."""
    numbers = [int(cell) if cell.isdecimal() else None for cell in cells]
    return any(one is not None and other == one + 1 for one, other in pairwise(numbers))
