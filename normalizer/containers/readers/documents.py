"""One JSON document that contains rows. Each row is parsed by itself, so that a bad row does not affect the others."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from contract_spec.strict import describe

from normalizer.containers.readers.rows import MAX_ROW_BYTES, Row, UnreadableContainer, parse_row
from normalizer.documents.locate import find_end, list_inner, skip_space
from normalizer.documents.lossless import Number, too_many_values
from normalizer.documents.pointers import escape, steps_of

_around = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=lambda _: None)
"""Reads the document around rows, where NaN is nothing: it would else be a word, and the name of a judge."""


class JsonReader:
    """Reads rows from a JSON document, which is held in memory as a whole."""

    kind = "json"

    def __init__(self, stream: BinaryIO, *, places: Sequence[str] = ("/*",), nan: bool = False) -> None:
        self.places = places
        """Pointers to the rows, with `*` for every key and index."""
        self._nan = nan
        self.tail = ""
        data = stream.read(MAX_ROW_BYTES + 1)
        if len(data) > MAX_ROW_BYTES:
            raise UnreadableContainer(
                f"it is a JSON document of more than {MAX_ROW_BYTES} bytes; as JSON lines it could be read"
            )
        if (why := too_many_values(data, MAX_ROW_BYTES)) is not None:
            raise UnreadableContainer(f"{why}; as JSON lines it could be read")
        try:
            self._text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableContainer(f"it is not UTF-8: invalid byte at offset {error.start}") from None
        self._start = 1 if self._text.startswith("\ufeff") else 0
        """Where the document begins, after a byte order mark."""
        try:
            self.document: Any = _around.decode(self._text[self._start :])
        except json.JSONDecodeError as error:
            raise UnreadableContainer(f"it is not JSON: {describe(error)}") from None
        except RecursionError:
            raise UnreadableContainer("it is nested too deep") from None

    def rows(self) -> Iterator[Row]:
        """The rows in the order of the text, if the text around them is strict JSON; else `UnreadableContainer`."""
        text, end, line, counted = self._text, 0, 1, 0
        spans = list(_spans(text, skip_space(text, self._start), [steps_of(place) for place in self.places], ""))
        self._refuse_lax(spans)
        for found in spans:
            line, counted = line + text.count("\n", counted, found.start), found.start
            raw = text[found.start : found.end].encode()
            value, problem = parse_row(raw, nan=self._nan)
            yield Row(found.pointer, line, text[end : found.start], raw, value, problem)
            end = found.end
        if end == 0:
            raise UnreadableContainer(f"no row stands at {' or '.join(self.places) or 'the top'}")
        self.tail = text[end:]

    def _refuse_lax(self, spans: list["_Span"]) -> None:
        """Raise `UnreadableContainer` if the document with its rows left out is not strict JSON."""
        parts, end = [], self._start
        for span in spans:
            # As long as the row, so that a column that is named is that of the text.
            parts += [self._text[end : span.start], "0".ljust(span.end - span.start)]
            end = span.end
        around = "".join([*parts, self._text[end:]])
        problem = parse_row(around.encode(), nan=self._nan)[1]
        if problem:
            raise UnreadableContainer(f"the document around the rows is not strict JSON: {problem}")


class _Span(NamedTuple):
    pointer: str
    start: int
    end: int


def leads(value: Any, places: Sequence[str]) -> bool:
    """Whether a row stands at one of the places."""
    return any(_leads(value, steps_of(place)) for place in places)


def _leads(value: Any, steps: list[str]) -> bool:
    if not steps:
        return True
    if steps[0] == "**":
        below = value if type(value) is list else value.values() if type(value) is dict else ()
        return _leads(value, steps[1:]) or any(_leads(item, steps) for item in below)
    inner: Iterable[Any]
    if type(value) is list:
        inner = value if steps[0] == "*" else value[int(steps[0]) :][:1] if steps[0].isdecimal() else []
    elif type(value) is dict:
        inner = value.values() if steps[0] == "*" else [value[steps[0]]] if steps[0] in value else []
    else:
        return False
    return any(_leads(item, steps[1:]) for item in inner)


def _spans(text: str, at: int, ways: list[list[str]], pointer: str) -> Iterator[_Span]:
    """Every value that one of the ways leads to, in the order of the text. A row inside a row is not one of its own."""
    ways = [*ways, *(steps[1:] for steps in ways if steps[:1] == ["**"])]
    if [] in ways:
        yield _Span(pointer, at, find_end(text, at))
        return
    for key, _, value in list_inner(text, at):
        further = [steps if steps[0] == "**" else steps[1:] for steps in ways if steps[0] in ("*", "**", key)]
        if further:
            yield from _spans(text, value, further, f"{pointer}/{escape(key)}")
