"""Parse a regular expression that RE2 has accepted, to learn which bytes a matching line must hold.

On syntax it does not know the parser gives up, and then every line is given to RE2: slower, never wrong.
"""

import re
from typing import NamedTuple

from zeno.index.requirements import (
    ESCAPES,
    MAX_PARTS,
    NOTHING,
    PERL,
    POSIX,
    ByteSet,
    Demand,
    Part,
    Tail,
    demand_of,
    fold_case,
    needle_choices,
    one_of,
    parts_of,
    tails,
)


class Expression(NamedTuple):
    """A parsed pattern."""

    demand: Demand
    """Condition that the index must meet for a piece of text with a matching line."""
    lines: str
    """The pattern for a text of many lines, in which `^` and `$` stand for the ends of lines."""
    needles: tuple[frozenset[bytes], ...]
    """Sets of literals: of each set every matching line holds at least one."""
    tails: tuple[Tail, ...]
    """The rest of the pattern from each of its literals on."""


# Quoted text, or one escape; and what the ends of a text are in a text of many lines.
_ESCAPED = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.", re.DOTALL)
_ENDS = {r"\A": "^", r"\z": "$"}
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?:P?<[^>]*>|([imsU-]*[:)])))?")
_PROPERTY = re.compile(r"\{[^}]*\}|[^{]", re.DOTALL)
_HEXADECIMAL = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})")
_NAMED_SET = re.compile(r"\[:(\^?)(.*?):\]", re.DOTALL)
_REPETITION = re.compile(r"(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})\??")


class NotUnderstood(Exception):
    """The pattern uses something that this reader does not know."""


def expression(pattern: str, *, case_sensitive: bool) -> Expression:
    """Parse a regular expression. Raises `NotUnderstood`."""
    lines = _ESCAPED.sub(lambda escaped: _ENDS.get(escaped[0], escaped[0]), pattern)
    reader = _Reader(lines)
    parts = reader.alternatives(not case_sensitive)
    if reader.position < len(lines):
        raise NotUnderstood
    found = tails(parts, reader.atoms, lines) if reader.is_sequence else ()
    return Expression(demand_of(parts), lines, tuple(needle_choices(parts)), found)


class _Reader:
    """Recursive-descent parser."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.atoms: list[tuple[int, int]] = []
        """For each atom outside of groups, how many parts come before it, and where it begins in the pattern."""
        self.is_sequence = True
        """Whether the pattern is a sequence of atoms, without alternatives or flags for its rest outside of groups."""
        self._depth = 0

    def alternatives(self, ignore_case: bool) -> list[Part]:
        """Branches up to a closing parenthesis or the end. Flags set in one branch hold in those after it."""
        self._depth += 1
        if self._depth > 50:
            raise NotUnderstood
        branches: list[list[Part]] = []
        while True:
            branch, ignore_case = self._branch(ignore_case)
            branches.append(branch)
            if not self._take("|"):
                break
            self.is_sequence = self.is_sequence and self._depth > 1
        self._depth -= 1
        return one_of(branches)

    def _branch(self, ignore_case: bool) -> tuple[list[Part], bool]:
        parts: list[Part] = []
        while self.position < len(self.pattern) and self.pattern[self.position] not in "|)":
            if self._depth == 1:
                self.atoms.append((len(parts), self.position))
            if quoted := self._match(_QUOTED):
                parts += self._read_quoted(quoted[1], ignore_case)
                continue
            flags = self._flags()
            if flags is not None:
                on, _, off = flags.partition("-")
                if "m" in off:
                    raise NotUnderstood
                ignore = (ignore_case or "i" in on) and "i" not in off
                if flags.endswith(")"):
                    # A repetition here would be one of the atom before the group.
                    if self._peek() in tuple("*+?{"):
                        raise NotUnderstood
                    ignore_case = ignore
                    self.is_sequence = self.is_sequence and self._depth > 1
                    continue
                atom = self.alternatives(ignore)
                if not self._take(")"):
                    raise NotUnderstood
            else:
                atom = self._atom(ignore_case)
            parts += self._repeat(atom)
            if len(parts) > MAX_PARTS:
                # The rest is not read: fewer demands are still correct.
                parts = [*parts[:MAX_PARTS], NOTHING]
        return parts, ignore_case

    def _flags(self) -> str | None:
        """Return what flags a group that opens here begins with, and a colon; None if no group opens."""
        found = self._match(_GROUP)
        return found and (found[1] or ":")

    def _atom(self, ignore_case: bool) -> list[Part]:
        char = self.pattern[self.position]
        self.position += 1
        if char in "^$.":
            return [NOTHING]
        if char == "[":
            return self._set(ignore_case)
        if char == "\\":
            return self._escape(ignore_case)
        if char in "*+?":
            raise NotUnderstood
        return parts_of(ord(char), ignore_case)

    def _read_quoted(self, text: str, ignore_case: bool) -> list[Part]:
        r"""Text between `\Q` and `\E` or the end. A repetition after it holds for its last character alone."""
        if self._peek() in tuple("*+?{"):
            raise NotUnderstood
        return [part for char in text[:MAX_PARTS] for part in parts_of(ord(char), ignore_case)]

    def _escape(self, ignore_case: bool) -> list[Part]:
        if self._take("b") or self._take("B"):
            return [NOTHING]
        found = self._read_escaped()
        if isinstance(found, int):
            return parts_of(found, ignore_case)
        return [NOTHING if found is None else found]

    def _read_escaped(self) -> int | ByteSet | None:
        """Read what stands behind a backslash: a character, a set of ASCII, or None for a set that is wider."""
        char = self._peek()
        self.position += 1
        if char in PERL:
            return PERL[char]
        if char in ("D", "S", "W"):
            return None
        if char in ("p", "P"):
            self._require(_PROPERTY)
            return None
        if char in ESCAPES:
            return ESCAPES[char]
        if char == "x":
            found = self._require(_HEXADECIMAL)
            return int(found[1] or found[2], 16)
        if char and char < "\x7f" and not char.isalnum():
            return ord(char)
        raise NotUnderstood

    def _set(self, ignore_case: bool) -> list[Part]:
        """A character class. One that may hold more than ASCII is a gap."""
        negated = self._take("^")
        members: set[int] = set()
        wide = negated
        first = True
        while first or self._peek() != "]":
            first = False
            if named := self._match(_NAMED_SET):
                if not named[1] and named[2] not in POSIX:
                    raise NotUnderstood
                wide = wide or bool(named[1])
                members |= set() if named[1] else POSIX[named[2]]
                continue
            if self._take("[:"):
                raise NotUnderstood
            low = self._member()
            if isinstance(low, frozenset):
                members |= low
                continue
            if low is None:
                wide = True
                continue
            high = low
            if self._peek() == "-" and self.pattern[self.position + 1 : self.position + 2] not in ("]", ""):
                self.position += 1
                end = self._member()
                if not isinstance(end, int):
                    raise NotUnderstood
                high = end
            wide = wide or high > 127
            members |= set(range(low, min(high, 127) + 1))
        self.position += 1
        if wide or not members:
            return [NOTHING]
        return [fold_case(frozenset(members)) if ignore_case else frozenset(members)]

    def _member(self) -> int | ByteSet | None:
        """One member of a class: a character, a set of ASCII, or None for a set that is wider."""
        char = self._peek()
        if not char:
            raise NotUnderstood
        self.position += 1
        return self._read_escaped() if char == "\\" else ord(char)

    def _repeat(self, atom: list[Part]) -> list[Part]:
        bounds = self._repetition()
        if bounds is None:
            return atom
        least, most = bounds
        if least == 0:
            return [NOTHING]
        times = min(least, max(1, MAX_PARTS // 2 // max(1, len(atom))))
        if times == least == most:
            return atom * times
        # With more repetitions, these still come first and last.
        return [*atom * times, NOTHING, *atom * times]

    def _repetition(self) -> tuple[int, int] | None:
        found = self._match(_REPETITION)
        if found is None:
            return None
        if self._peek() in tuple("*+?"):
            raise NotUnderstood
        sign, least, comma, most = found.groups()
        if sign:
            return {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[sign]
        return int(least), int(most) if most else -1 if comma else int(least)

    def _peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def _take(self, text: str) -> bool:
        taken = self.pattern.startswith(text, self.position)
        self.position += len(text) * taken
        return taken

    def _match(self, expected: re.Pattern[str]) -> re.Match[str] | None:
        found = expected.match(self.pattern, self.position)
        self.position = found.end() if found else self.position
        return found

    def _require(self, expected: re.Pattern[str]) -> re.Match[str]:
        found = self._match(expected)
        if found is None:
            raise NotUnderstood
        return found
