"""Several patterns searched for at once: one expression finds the lines, each pattern by itself says whether it is in.

>>> combine(["a.b", "c"], "args.patterns", regex=False, case_sensitive=True).pattern
'(?:a\\\\.b)|(?:c)'
"""

from collections.abc import Sequence
from typing import NamedTuple

import re2

from zeno.text.regex import Matches, program_size, searcher


class Combined(NamedTuple):
    """Patterns made one regular expression."""

    pattern: str
    each: tuple[Matches, ...]
    """A test for each pattern, in their order."""

    def find_indexes(self, line: bytes) -> list[int]:
        """Return the indexes of the patterns that match a line."""
        return [index for index, matches in enumerate(self.each) if matches(line)]


def combine(patterns: Sequence[str], field: str, *, regex: bool, case_sensitive: bool) -> Combined:
    """Return an expression that matches the lines that one of the patterns matches, and a test for each.

    Raises InvalidPattern, naming the pattern that RE2 refuses, or `field` where it refuses them together.
    """
    each = []
    parts = []
    for index, pattern in enumerate(patterns):
        searcher(pattern, f"{field}[{index}]", case_sensitive=case_sensitive, literal=not regex)
        part = _close_quotes(pattern) if regex else re2.escape(pattern)
        parts.append(f"(?:{part})")
        each.append(
            searcher(pattern, field, literal=True)
            if case_sensitive and not regex
            else searcher(part, field, case_sensitive=case_sensitive)
        )
    union = "|".join(parts)
    searcher(union, field, case_sensitive=case_sensitive)
    return Combined(union, tuple(each))


def _close_quotes(pattern: str) -> str:
    """Return a valid expression whose \\Q, if it has no \\E, does not go on behind its end."""
    return f"{pattern}\\E" if "\\Q" in pattern and program_size(f"{pattern}\\E") else pattern
