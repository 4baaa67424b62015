"""Facts in the form of bytes: how they come from another process, and how they are kept.

That process runs C code on hostile text, so its bytes are checked as any input is: no form of them can do more than
give a wrong answer about that one file. Requests look into the bytes, since a file may define thousands of constants,
of which a request asks for few.
"""

from array import array
from bisect import bisect_right
from collections import Counter
from typing import Literal

from zeno.code.facts import ROLES, Facts, Symbol, numbers
from zeno.code.scopes import divide

_UINT: Literal["I"] = "I"
_SIZE = array(_UINT).itemsize
_COUNTS = 7
_FUNCTIONS = frozenset({"function", "method"})


def encode(facts: Facts) -> bytes:
    """Return facts as bytes: counts, numbers, then texts in lines."""
    texts = [facts.extractor]
    lines, places = numbers(), numbers([len(facts.extractor.encode()) + 1])
    for symbol in facts.symbols:
        texts.append(f"{symbol.kind}\n{symbol.name}\n{symbol.container}")
        lines.extend((symbol.line, symbol.start_line, symbol.end_line))
        places.append(places[-1] + len(texts[-1].encode()) + 1)
    unparsed = numbers([line for pair in facts.unparsed for line in pair])
    scopes = divide(facts.symbols)
    pieces = (lines, unparsed, facts.stretches, facts.calls, places, *scopes)
    text = "\n".join(texts).encode()
    return b"".join([numbers(list(map(len, pieces))).tobytes(), *(piece.tobytes() for piece in pieces), text])


def keep(facts: Facts) -> "KeptFacts":
    """Return facts as they are kept."""
    return KeptFacts(encode(facts))


class KeptFacts:
    """Facts in the form of bytes. Raises ValueError if their length is another."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        view = memoryview(data)
        if len(data) < _COUNTS * _SIZE:
            raise ValueError("facts of another length")
        counts = view[: _COUNTS * _SIZE].cast(_UINT)
        position = _COUNTS * _SIZE
        pieces = []
        for count in counts:
            piece = view[position : position + count * _SIZE]
            if len(piece) != count * _SIZE:
                raise ValueError("facts of another length")
            pieces.append(piece.cast(_UINT))
            position += len(piece)
        self._lines, unparsed, self.stretches, self.calls, self._places, self._firsts, self._owners = pieces
        """The first lines of the parts that `divide` makes, and their definitions."""
        self._text = view[position:]
        self.unparsed: list[tuple[int, int]] = list(zip(unparsed[::2], unparsed[1::2], strict=False))
        self._symbols: list[Symbol] | None = None
        self._crowded: set[int] | None = None

    def check(self) -> None:
        """Raise ValueError unless they are facts."""
        whole = (len(self._lines) % 3, len(self.stretches) % 3, len(self._firsts) - len(self._owners))
        count = len(self._lines) // 3
        if any(whole) or len(self._places) != count + 1 or self._places[-1] != len(self._text) + 1:
            raise ValueError("facts of another length")
        if len(self.symbols) != count:
            raise ValueError("facts with other texts")
        if max(self._owners, default=0) > count or max(self.stretches[2::3], default=0) >= len(ROLES):
            raise ValueError("facts with other numbers")

    @property
    def extractor(self) -> str:
        """The extractor: a grammar with its version, or `rules`; empty for a file of no known language."""
        return bytes(self._text[: max(0, self._places[0] - 1)]).decode(errors="replace")

    @property
    def has_grammar(self) -> bool:
        """Whether roles of names are known."""
        return self.extractor not in ("", "rules")

    @property
    def symbols(self) -> list[Symbol]:
        """All definitions, in the order of the text."""
        if self._symbols is None:
            _, *texts = bytes(self._text).decode().split("\n")
            lines = self._lines.tolist()
            self._symbols = list(
                map(Symbol, texts[::3], texts[1::3], lines[::3], lines[1::3], lines[2::3], texts[2::3])
            )
        return self._symbols

    def list_symbols(self, part: str) -> list[Symbol]:
        """Return all definitions if one of their names may have this part, and otherwise none.

        Most files that have a name do not define it. A part may end with a line feed, which ends every name.
        """
        return self.symbols if part.encode() in self._data else []

    def is_parsed(self, line: int) -> bool:
        """Whether a grammar read the line without an error."""
        index = bisect_right(self.unparsed, line, key=lambda lines: lines[0]) - 1
        return self.has_grammar and not (index >= 0 and line <= self.unparsed[index][1])

    def begins_several(self, line: int) -> bool:
        """Whether several functions have their names on a line, as in minified code."""
        if self._crowded is None:
            lines = self._lines[::3].tolist()
            shared = len(set(lines)) < len(lines)
            named = Counter(one.line for one in self.symbols if one.kind in _FUNCTIONS) if shared else {}
            self._crowded = {at for at, count in named.items() if count > 1}
        return line in self._crowded

    def find_scope(self, line: int) -> Symbol | None:
        """Return the definition that holds a line and begins last, of these the shortest; None outside of all."""
        index = bisect_right(self._firsts, line) - 1
        number = self._owners[index] if index >= 0 else 0
        if not number:
            return None
        record = bytes(self._text[self._places[number - 1] : max(0, self._places[number] - 1)])
        # Bytes that are no facts may have no such record; what is known of this one file is wrong then.
        kind, name, container, *_ = (*record.decode(errors="replace").split("\n"), "", "", "")
        line, start_line, end_line = self._lines[3 * number - 3 : 3 * number]
        return Symbol(kind, name, line, start_line, end_line, container)
