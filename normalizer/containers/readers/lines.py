"""JSON lines: a value a line. Lines of white space belong to the gap before the next row."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from normalizer.containers.readers.rows import MAX_ROW_BYTES, Row, UnreadableContainer, parse_row
from normalizer.documents.pointers import steps_of

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
        self.document = value
        return True
