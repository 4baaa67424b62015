"""The work that a pattern may cause: its states times bytes of text.

RE2 takes time linear in the text, but a byte may cost a step for each state: up to 6 ns were measured for each, so that
a pattern of thousands of states takes many seconds a megabyte. The limit is applied to all text that a request selects,
before anything is searched. So a request is refused on every machine or on none, with and without a cache. A literal in
any case is such a pattern too, with at least a state for each character.
"""

from collections.abc import Iterable, Iterator

import contract_spec as spec

from zeno.errors import PatternTooCostly, ZenoError
from zeno.files.file_tree import FileTree
from zeno.meter import MUCH_WORK, Meter
from zeno.text.regex import Scan, states

_SMALLER = "write a smaller pattern: lower the counts in braces"
_PART = "search for a part of it, or set args.case_sensitive"

_LIMITS = spec.resource("rules/request_limits.json")
MAX_WORK: int = _LIMITS["max_pattern_work"]
UNMETERED: int = _LIMITS["unmetered_states"]
"""Patterns of at most this many states may search any amount of text."""
# A character of a literal is up to four bytes. Short literals, which are most, are not compiled to be counted.
_STATES_A_CHARACTER = 5


def require_affordable(
    number: int, field: str, sizes: Iterable[int], meter: Meter, narrow: str, *, literal: bool = False
) -> None:
    """Raise PatternTooCostly if a pattern of so many states is too large for texts of these sizes.

    `narrow` says what to do instead.
    """
    if number <= UNMETERED:
        return
    most = (meter.options.max_pattern_work or MAX_WORK) // number
    total = 0
    for size in meter.check_each(sizes):
        total += size
        if total > most:
            raise PatternTooCostly(
                f"{field} has {number} states and may search {most} bytes of text, but more are selected; {narrow}, or "
                f"{_PART if literal else _SMALLER}"
            )


def states_of(pattern: str, *, case_sensitive: bool, literal: bool) -> int:
    """Return an upper bound for the states of a pattern; of a short literal without compiling it."""
    if literal and (case_sensitive or len(pattern) * _STATES_A_CHARACTER <= UNMETERED):
        return 1 if case_sensitive else len(pattern) * _STATES_A_CHARACTER
    return states(pattern, case_sensitive=case_sensitive, literal=literal)


def in_pieces(scan: Scan | None, number: int, meter: Meter) -> Scan | None:
    """Return a scan by a pattern of so many states that goes through a text in pieces of whole lines.

    One call of RE2 cannot be interrupted. Between two pieces the meter is asked; a line that is too long for one call
    in the process that serves others is left to another process.
    """
    if scan is None or not meter.is_limited:
        return scan
    piece = max(1, MUCH_WORK // max(1, number))

    def scan_pieces(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
        found = (-1, -1)
        while found[0] < 0 and start < end:
            stop = text.find(b"\n", start + piece, end) + 1 or end if start + piece < end else end
            # Whole lines: a piece is longer by the rest of its last line.
            meter.expect_work(number * max(0, stop - start - piece))
            found, start = scan(text, start, stop), stop
        return found

    return scan_pieces


def file_sizes(paths: Iterable[str], tree: FileTree, max_bytes: int) -> Iterator[int]:
    """Yield the sizes of files, without those that are too large to be searched or cannot be looked up."""
    tree.speed_up_lookups()
    for path in paths:
        try:
            entry = tree.place(path).entry
        except ZenoError:
            continue
        if entry is not None and entry.size <= max_bytes:
            yield entry.size
