"""Classify the lines of a file that have a name: what the name is there.

A role says how the name stands in the text, never what it refers to.
"""

import re
from bisect import bisect_left, bisect_right

from zeno.code.facts import ROLES
from zeno.code.kept_facts import KeptFacts

ORDER = ("definition", "import", "call", "use", "string", "comment", "text")
"""All roles. Of several on a line the first counts."""

_MARKS = re.compile(r"^\W+|\W+$", re.ASCII)


class Roles:
    """The roles of one name in one file."""

    def __init__(self, facts: KeptFacts, name: str) -> None:
        self._facts = facts
        self._word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        # `~Shape` and `size=` define what is written Shape and size.
        self._defined = {symbol.line for symbol in facts.list_symbols(name) if _MARKS.sub("", symbol.name) == name}
        self._has_grammar = facts.has_grammar
        self._starts = facts.stretches[::3]

    def of(self, line: int, start: int, text: bytes) -> str:
        """Return the role of the name on a line, which begins at byte `start` of the file's text."""
        if line in self._defined:
            return "definition"
        if not self._has_grammar:
            return "text"
        return min((self._at(start + word.start()) for word in self._word.finditer(text)), key=ORDER.index)

    def _at(self, offset: int) -> str:
        """Return the role of a word that begins at an offset."""
        index = bisect_right(self._starts, offset) - 1
        if index >= 0 and offset < self._facts.stretches[3 * index + 1]:
            return ROLES[self._facts.stretches[3 * index + 2]]
        calls = self._facts.calls
        found = bisect_left(calls, offset)
        return "call" if found < len(calls) and calls[found] == offset else "use"
