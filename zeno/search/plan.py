"""How to look for a pattern: what narrows the search, made once for each request."""

from collections.abc import Sequence
from functools import cached_property

from zeno.index.regex_reader import Expression, NotUnderstood, expression, literal
from zeno.index.requirements import NOTHING, Demand
from zeno.text.regex import Scan, scanner

_REPLACEMENT = "\ufffd".encode()
# In so much text a literal is found before RE2 is ready to look for it.
_LITTLE = 1 << 19


class Plan:
    """What narrows a search. RE2's verdict on the line decides in the end."""

    def __init__(self, pattern: str, *, regex: bool, case_sensitive: bool) -> None:
        self._pattern = pattern
        self._regex = regex
        self._case_sensitive = case_sensitive
        self._understood: Expression | None = None
        self.demand: Demand = NOTHING
        """What the index must know of a piece of text that may hold a matching line."""
        if not regex:
            self.demand = literal(pattern, case_sensitive=case_sensitive)
            return
        try:
            self._understood = expression(pattern, case_sensitive=case_sensitive)
            self.demand = self._understood.demand
        except NotUnderstood:
            pass

    @cached_property
    def scan(self) -> Scan | None:
        """Finds in a text of many lines the ones that may match; None: ask about every line.

        Made when it is first needed: where the index rules everything out, it never is.
        """
        if self._needles is not None:
            return self._needles
        if not self._regex:
            return scanner(self._pattern, case_sensitive=self._case_sensitive, literal=True)
        if self._understood is None:
            return None
        return scanner(self._understood.lines, case_sensitive=self._case_sensitive)

    def scan_of(self, texts: Sequence[bytes]) -> Scan | None:
        """Return a scan for these texts: `bytes.find` where they are small, else `scan`."""
        if len(self.demand.needles) != 1 or sum(map(len, texts[:3])) > _LITTLE:
            return self.scan
        (needle,) = self.demand.needles

        def scan(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
            found = text.find(needle, start, end)
            return found, found + len(needle)

        return scan

    @cached_property
    def sift(self) -> Scan | None:
        """The same for the bytes of a file as they stand; None where only their normal form may be asked.

        Normal form takes nothing out of the middle of a line and puts in nothing but U+FFFD: a literal without it that
        is in the text is in the file too. Other patterns may match what only normal form makes of a broken file.
        """
        if self._regex:
            return None if any(_REPLACEMENT in needle for needle in self.demand.needles) else self._needles
        return None if "\ufffd" in self._pattern else self.scan

    @cached_property
    def _needles(self) -> Scan | None:
        return _sooner(self.demand)


def _sooner(demand: Demand) -> Scan | None:
    """Finds the needles that a matching line must hold: RE2 finds literals many times sooner than most patterns."""
    scans = [scanner(_telling(needle.decode()), literal=True) for needle in sorted(demand.needles) if _is_text(needle)]
    found = [scan for scan in scans if scan is not None]
    if not found or len(found) < len(demand.needles):
        return None
    if len(found) == 1:
        return found[0]

    def scan(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
        nearest = (-1, -1)
        for one in found:
            place = one(text, start, end)
            if place[0] >= 0:
                # What comes after the nearest so far is of no interest.
                nearest, end = place, place[1]
        return nearest

    return scan


def _is_text(needle: bytes) -> bool:
    """Whether a needle begins and ends with whole characters."""
    return needle.isascii() or needle.decode("utf-8", "ignore").encode() == needle


# How often characters come in text and source, roughly, the frequent ones first; all others are rare.
_FREQUENT = " etaoinsrldcupmfhgby_vw.,x=0()1-\"k'2/:"


def _telling(text: str) -> str:
    """A part of a literal that is found sooner: RE2 looks for its first byte, and where that is for the last one.

    So both should be rare, the first one above all. Half of the literal stays, for a part that is found where the whole
    is not costs more than it saves.
    """
    weights = [len(_FREQUENT) - found if (found := _FREQUENT.find(char)) >= 0 else 0 for char in text]
    length = len(text)
    room = max(length * 2 // 5, min(length // 2, length - 5)) if length < 256 else 0
    choices = [(start, stop) for start in range(room + 1) for stop in range(length - room + start, length + 1)]
    start, stop = min(choices, key=lambda ends: (2 * weights[ends[0]] + weights[ends[1] - 1], ends[0] - ends[1]))
    return text[start:stop]
