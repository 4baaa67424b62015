"""The pattern of a request made ready: RE2's verdict on a line, scans that reduce the lines it is asked about, and the
work that it may cause.

That work is states of the pattern times bytes of text. RE2 takes time linear in the text, but a byte may cost a step
for each state: up to 6 ns were measured for each. The limit is applied to all text that a request selects, before
anything is searched. So a request is refused on every machine or on none, with and without a cache.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from operator import itemgetter

import contract_spec as spec

from zeno.errors import PatternTooCostly, ZenoError
from zeno.files.file_tree import FileTree
from zeno.index.regex_reader import Expression, NotUnderstood, expression
from zeno.index.requirements import NOTHING, Demand, Tail, literal
from zeno.meter import Meter, Scan
from zeno.text.regex import literal_scan, scanner, searcher, states

_LIMITS = spec.resource("rules/request_limits.json")
MAX_WORK: int = _LIMITS["max_pattern_work"]
UNMETERED: int = _LIMITS["unmetered_states"]
"""Patterns of at most this many states may search any amount of text."""
MAX_BYTES: int = _LIMITS["max_searched_file_bytes"]
"""Larger files are never searched, because a file is searched in memory as a whole."""
# A character of a literal is up to four bytes. Short literals, which are most, are not compiled to be counted.
_STATES_A_CHARACTER = 5

_REPLACEMENT = "\ufffd".encode()
# Number of texts that are sampled, and bytes of each, to estimate how frequent the literals of a pattern are.
_SAMPLES = 4
_SAMPLE = 1 << 15
# Nanoseconds, roughly: for a byte looked at by each kind of scan, and for a line that a scan finds. Lines that only
# hold a literal are given to RE2 one by one; where a tail begins, RE2 goes on by itself.
_LITERAL_BYTE, _TAIL_BYTE, _ANY_CASE_BYTE, _PATTERN_BYTE = 0.06, 0.3, 0.7, 1.5
_LITERAL_LINE, _TAIL_LINE = 2000, 400
# For each place where the only byte of a literal stands: RE2 looks at a few bytes and goes on to the next place.
_TAIL_PLACE = 25
# In a pattern for several lines a shorter literal stands in almost every file.
MIN_LITERAL = 2


class Query:
    """A pattern made ready for one request, and how large a file may be. Raises InvalidPattern, naming `field`."""

    def __init__(
        self,
        pattern: str,
        field: str,
        max_bytes: int,
        meter: Meter,
        *,
        regex: bool = False,
        case_sensitive: bool = True,
    ) -> None:
        self._pattern, self._field = pattern, field
        self._regex, self._case_sensitive = regex, case_sensitive
        self._meter = meter
        verdict = searcher(pattern, field, case_sensitive=case_sensitive, literal=not regex)
        self.max_bytes = min(max_bytes, MAX_BYTES)
        self.states = states_of(pattern, case_sensitive=case_sensitive, literal=not regex)
        self.matches = meter.guard(verdict, self.states)
        """RE2's verdict on one line. It decides; anything faster may only reduce the lines it is asked about."""

    @cached_property
    def plan(self) -> "Plan":
        """The scans that find lines which may match."""
        return Plan(self._pattern, regex=self._regex, case_sensitive=self._case_sensitive)

    def require_affordable(self, paths: Iterable[str], tree: FileTree) -> None:
        """Raise PatternTooCostly if the pattern is too large for the texts of these files."""
        sizes = _find_sizes(paths, tree, self.max_bytes)
        require_affordable(self.states, self._field, sizes, self._meter, "narrow args.paths", literal=not self._regex)


class MultilineQuery(Query):
    """A pattern whose matches may run over several lines: `LineView.spans` finds them."""

    @cached_property
    def plan(self) -> "Plan":
        """The scans that find files which may match."""
        return plan_for_text(self._pattern, regex=self._regex, case_sensitive=self._case_sensitive)


def states_of(pattern: str, *, case_sensitive: bool, literal: bool) -> int:
    """Return an upper bound for the states of a pattern; of a short literal without compiling it."""
    if literal and (case_sensitive or len(pattern) * _STATES_A_CHARACTER <= UNMETERED):
        return 1 if case_sensitive else len(pattern) * _STATES_A_CHARACTER
    return states(pattern, case_sensitive=case_sensitive, literal=literal)


def require_affordable(
    number: int, field: str, sizes: Iterable[int], meter: Meter, narrow: str, *, literal: bool = False
) -> None:
    """Raise PatternTooCostly if a pattern of so many states is too large for texts of these sizes."""
    if number <= UNMETERED:
        return
    most = (meter.options.max_pattern_work or MAX_WORK) // number
    total = 0
    for size in meter.check_each(sizes):
        total += size
        if total > most:
            smaller = (
                "search for a part of it, or set args.case_sensitive"
                if literal
                else "write a smaller pattern: lower the counts in braces"
            )
            raise PatternTooCostly(
                f"{field} has {number} states and may search {most} bytes of text, but more are selected; {narrow}, or "
                f"{smaller}"
            )


def _find_sizes(paths: Iterable[str], tree: FileTree, max_bytes: int) -> Iterator[int]:
    """Yield the sizes of files, without those that are too large to be searched or cannot be looked up."""
    for path in paths:
        try:
            entry = tree.place(path).entry
        except ZenoError:
            continue
        if entry is not None and entry.size <= max_bytes:
            yield entry.size


class Plan:
    """Scans that find the lines which may match. RE2's verdict on the line decides in the end."""

    def __init__(self, pattern: str, *, regex: bool, case_sensitive: bool) -> None:
        self._pattern = pattern
        self._regex = regex
        self._case_sensitive = case_sensitive
        self._understood: Expression | None = None
        if regex:
            with suppress(NotUnderstood):
                self._understood = expression(pattern, case_sensitive=case_sensitive)

    @cached_property
    def demand(self) -> Demand:
        """Condition that the index must meet for a piece of text that may hold a matching line."""
        if not self._regex:
            return literal(self._pattern, case_sensitive=self._case_sensitive)
        return NOTHING if self._understood is None else self._understood.demand

    @cached_property
    def scan(self) -> Scan | None:
        """Finds the lines that may match in a text of many lines; None: ask about every line.

        Made when it is first needed: where the index rules everything out, it never is.
        """
        if not self._regex:
            if self._case_sensitive:
                return literal_scan(self._pattern.encode())
            return scanner(self._pattern, case_sensitive=False, literal=True)
        if self._understood is None:
            return None
        for tail in self._understood.tails:
            if tail.literal in self.demand.needles:
                return self._tail_scan(tail)
        return self._literals or self._lines

    def scan_of(self, texts: Sequence[bytes]) -> Scan | None:
        """Return a scan for these texts: the one that is likely to be the fastest there."""
        if self._understood is None:
            return self.scan
        step = -(-len(texts) // _SAMPLES) or 1
        sample = b"".join(text[len(text) // 2 :][:_SAMPLE] for text in texts[::step])
        return min(self._choices(sample), key=itemgetter(0))[1]() or self._lines

    def _choices(self, sample: bytes) -> list[tuple[float, Callable[[], Scan | None]]]:
        """Return all scans for a regular expression that was understood, each behind its cost for a sample of text."""
        understood, folded = self._understood, sample.lower()
        if understood is None:
            return []
        choices: list[tuple[float, Callable[[], Scan | None]]] = [
            (_tail_cost(tail, folded if tail.any_case else sample), partial(self._tail_scan, tail))
            for tail in understood.tails
        ]
        choices += [(_literals_cost(each, sample), partial(_literals, each)) for each in understood.needles]
        return [*choices, (len(sample) * _PATTERN_BYTE, lambda: self._lines)]

    def _tail_scan(self, tail: Tail) -> Scan | None:
        return scanner(tail.pattern, case_sensitive=self._case_sensitive) or self._lines

    @cached_property
    def _lines(self) -> Scan | None:
        """The pattern itself."""
        return self._understood and scanner(self._understood.lines, case_sensitive=self._case_sensitive)

    @cached_property
    def sift(self) -> Scan | None:
        """Return a scan for the raw bytes of a file; None if only their normal form can be scanned.

        Normal form takes nothing out of the middle of a line and puts in nothing but U+FFFD: a literal without it that
        is in the text is in the file too. Other patterns may match what only normal form makes of a broken file.
        """
        if self._regex:
            return None if any(_REPLACEMENT in needle for needle in self.demand.needles) else self._literals
        return None if "\ufffd" in self._pattern else self.scan

    @cached_property
    def _literals(self) -> Scan | None:
        return _literals(self.demand.needles)


def _tail_cost(tail: Tail, text: bytes) -> float:
    """Return about how many nanoseconds a scan for a tail takes, for a text in lower case if `any_case`."""
    each = _ANY_CASE_BYTE if tail.any_case else _TAIL_BYTE
    return len(text) * each + text.count(tail.literal) * (_TAIL_LINE if len(tail.literal) > 1 else _TAIL_PLACE)


def _literals_cost(needles: frozenset[bytes], text: bytes) -> float:
    """Return about how many nanoseconds a scan for some literals takes."""
    return sum(len(text) * _LITERAL_BYTE + text.count(needle) * _LITERAL_LINE for needle in needles)


def _literals(needles: frozenset[bytes]) -> Scan | None:
    """Return a scan for the first of some literals; None where there are none, or one is not whole characters."""
    found = [literal_scan(needle) for needle in sorted(needles) if _is_text(needle)]
    if not found or len(found) < len(needles):
        return None
    if len(found) == 1:
        return found[0]

    def scan(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
        nearest = (-1, -1)
        for one in found:
            place = one(text, start, end)
            if place[0] >= 0:
                # Only a literal before the nearest one so far matters.
                nearest, end = place, place[1]
        return nearest

    return scan


def _is_text(needle: bytes) -> bool:
    """Whether a needle begins and ends with whole characters."""
    return needle.isascii() or needle.decode("utf-8", "ignore").encode() == needle


def plan_for_text(pattern: str, *, regex: bool, case_sensitive: bool) -> Plan:
    """Return a plan for lines such that every file with a match of the pattern has one of these lines.

    A match may run over several lines, but each of its literals without a line feed stands in one.
    """
    if not regex:
        literal = max(pattern.split("\n"), key=len)
        return _everything() if not literal else Plan(literal, regex=False, case_sensitive=case_sensitive)
    try:
        understood = expression(pattern, case_sensitive=case_sensitive)
    except NotUnderstood:
        return _everything()
    choices = [one for one in map(_within_lines, understood.needles) if one]
    if choices:
        # Few and long literals are rare and cheap to look for.
        literals = min(choices, key=lambda one: (len(one), -min(map(len, one)), sorted(one)))
        return Plan("|".join(map(re.escape, sorted(literals))), regex=True, case_sensitive=True)
    literal = _in_any_case(understood)
    return _everything() if not literal else Plan(literal, regex=False, case_sensitive=False)


def _everything() -> Plan:
    """A plan that rules no line out: the empty pattern is in all of them."""
    return Plan("", regex=True, case_sensitive=True)


def _within_lines(needles: frozenset[bytes]) -> frozenset[str]:
    """Return the longest part of each needle within a line; nothing if one of them is too short."""
    parts = {max(needle.split(b"\n"), key=len).decode("utf-8", "ignore") for needle in needles}
    return frozenset(parts) if min(map(len, parts)) >= MIN_LITERAL else frozenset()


def _in_any_case(understood: Expression) -> str:
    """Return the longest literal of a pattern that may stand in either case; empty if there is none."""
    parts = [part for tail in understood.tails for part in tail.literal.split(b"\n")]
    literal = max((part.decode("utf-8", "ignore") for part in parts), key=len, default="")
    return literal if len(literal) >= MIN_LITERAL else ""
