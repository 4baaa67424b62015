"""Facts about the text of one source file, as extractors make them."""

from array import array
from typing import NamedTuple

ROLES = ("code", "import", "string", "comment", "definition")
"""The roles of a stretch of text. Text outside of all stretches is code; definitions are names of members."""

_UINT = "I"


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
    """The findings of an extractor in one text, as they are made."""

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


NOTHING = Facts("", [], [], array(_UINT), array(_UINT))


def numbers(values: "list[int] | tuple[int, ...]" = ()) -> "array[int]":
    """Return an array as facts hold it."""
    return array(_UINT, values)
