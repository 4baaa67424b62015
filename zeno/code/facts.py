"""Facts about the text of one source file, and their form as bytes.

Facts come from a process that runs C code on hostile text, so their bytes are checked as any input is: no form of them
can do more than give a wrong answer about that one file.
"""

import sys
from array import array
from typing import NamedTuple

ROLES = ("code", "import", "string", "comment")
"""The roles of a stretch of text. Text outside of all stretches is code."""

_UINT = "I"
_COUNTS = 5


class Symbol(NamedTuple):
    """One definition."""

    kind: str
    name: str
    line: int
    """The 1-based line of the name."""
    start_line: int
    """Where the definition begins; `line` where nothing else is known."""
    end_line: int
    """The last line of the definition; 0 where it is not known."""
    container: str
    """The names of the enclosing definitions, joined by dots; empty at the top level."""

    @property
    def path(self) -> str:
        """The name with its containers, joined by dots."""
        return f"{self.container}.{self.name}" if self.container else self.name


class Facts(NamedTuple):
    """The findings of an extractor in one text."""

    extractor: str
    """The extractor: a grammar with its version, or `rules`; empty for a file of no known language."""
    symbols: list[Symbol]
    """In the order of the text."""
    unparsed: list[tuple[int, int]]
    """First and last lines of what the grammar could not parse."""
    stretches: "array[int]"
    """Start, end and index into `ROLES` of stretches of the text, in bytes, sorted and disjoint."""
    calls: "array[int]"
    """Where names of called functions begin, in bytes, sorted."""

    @property
    def has_grammar(self) -> bool:
        """Whether roles of names are known."""
        return self.extractor not in ("", "rules")


NOTHING = Facts("", [], [], array(_UINT), array(_UINT))


def numbers(values: "list[int] | tuple[int, ...]" = ()) -> "array[int]":
    """Return an array as facts hold it."""
    return array(_UINT, values)


def encode(facts: Facts) -> bytes:
    """Return facts as bytes: counts, numbers, then texts in lines."""
    texts = [facts.extractor]
    lines = array(_UINT)
    for symbol in facts.symbols:
        texts += (symbol.kind, symbol.name, symbol.container)
        lines.extend((symbol.line, symbol.start_line, symbol.end_line))
    unparsed = array(_UINT, [line for pair in facts.unparsed for line in pair])
    text = "\n".join(texts).encode()
    counts = array(_UINT, map(len, (lines, unparsed, facts.stretches, facts.calls, text)))
    pieces = (counts, lines, unparsed, facts.stretches, facts.calls)
    if sys.byteorder == "big":
        for piece in pieces:
            piece.byteswap()
    return b"".join([*(piece.tobytes() for piece in pieces), text])


def decode(data: bytes, *, symbols: bool = True) -> Facts:
    """Return the facts that `encode` made bytes of, on request without symbols. Raises ValueError if it did not."""
    counts = _read(data, 0, _COUNTS)
    position = _COUNTS * counts.itemsize
    pieces = []
    for count in counts[:-1]:
        pieces.append(_read(data, position, count))
        position += count * counts.itemsize
    lines, unparsed, stretches, calls = pieces
    if len(data) - position != counts[-1] or len(lines) % 3 or len(unparsed) % 2 or len(stretches) % 3:
        raise ValueError("facts of another length")
    extractor, *texts = data[position:].decode().split("\n")
    if len(texts) != len(lines):
        raise ValueError("facts with other texts")
    found = []
    if symbols:
        at, starts, ends = (lines[index::3].tolist() for index in range(3))
        found = list(map(Symbol, texts[::3], texts[1::3], at, starts, ends, texts[2::3]))
    return Facts(extractor, found, list(zip(unparsed[::2], unparsed[1::2], strict=True)), stretches, calls)


def _read(data: bytes, position: int, count: int) -> "array[int]":
    values = array(_UINT)
    end = position + count * values.itemsize
    if end > len(data):
        raise ValueError("facts of another length")
    values.frombytes(data[position:end])
    if sys.byteorder == "big":
        values.byteswap()
    return values
