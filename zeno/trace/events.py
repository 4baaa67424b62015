"""Reading a trace: one line at a time, never more than a line held, and nothing about a bad line left untold.

A trace may be cut in the middle of a line (a full disk, a killed machine) or have a torn line inside; what can be read
around it is read. Blank lines are nothing.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import contract_spec as spec

SCHEMA = "zeno/trace_event.json"
KINDS = ("request", "response", "error", "subcall_start", "subcall_end", "claim")
# Twice what the largest request can be once its text is escaped; a longer line is no event of anybody's.
MAX_LINE_BYTES = 1 << 23
MAX_DEPTH = 70

# Refusals of lines that were no requests: nothing stands before them in a trace.
WITHOUT_REQUEST = frozenset({"invalid_json", "invalid_request"})


class Entry(NamedTuple):
    """One line of a trace."""

    number: int
    """Counted from 1."""
    event: dict[str, Any] | None
    """The event, None where the line holds none that the schema accepts."""
    problem: tuple[str, str] | None
    """What is wrong with the line: a code, and a sentence for a person."""


class Exchange(NamedTuple):
    """A request and what it was answered with."""

    asked: int
    """Line of the request."""
    answered: int
    """Line of the response or error."""
    id: str
    op: str
    args: dict[str, Any]
    answer: dict[str, Any]
    """The response or error event."""


def read(stream: BinaryIO) -> Iterator[Entry]:
    """The lines of a trace."""
    for number, line in enumerate(_lines(stream), 1):
        if line is None:
            yield Entry(number, None, ("too_long", f"the line is longer than {MAX_LINE_BYTES} bytes"))
        elif line.strip(b" \t\r\n"):
            yield entry(number, line)


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Lines with their ends; None for one that is too long to be held."""
    while line := stream.readline(MAX_LINE_BYTES):
        if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE_BYTES)
        yield None


def entry(number: int, line: bytes) -> Entry:
    """One line, given with its end, as an entry."""
    whole = line.endswith(b"\n")
    try:
        value = spec.parse(line, max_depth=MAX_DEPTH)
    except spec.NotStrictJson as error:
        if not whole:
            message = f"the trace ends in the middle of this line, after {len(line)} bytes of it"
            return Entry(number, None, ("cut", message))
        return Entry(number, None, ("not_json", f"the line is not strict JSON: {error}"))
    if (wrong := complaint(value)) is not None:
        return Entry(number, None, ("not_an_event", wrong))
    return Entry(number, value, None if whole else ("cut", "the last line has no line feed: the trace may go on"))


def complaint(value: Any) -> str | None:
    """What the schema holds against a value as a trace event, in one sentence; None if nothing."""
    if not isinstance(value, dict):
        return "an event is a JSON object"
    kind = value.get("event")
    if kind not in KINDS:
        return f"event must be one of {', '.join(KINDS)}"
    found = spec.violations(f"{SCHEMA}#/$defs/{kind}", value)
    if not found:
        return None
    return "; ".join(sorted({f"{spec.dotted('', one.pointer) or 'the event'} {one.message}" for one in found}))


class Pairing:
    """Finds the request of each answer. Ids may repeat and servers may share a log: the oldest open request counts."""

    def __init__(self) -> None:
        self._open: dict[str, deque[tuple[int, dict[str, Any]]]] = {}

    def request(self, number: int, event: dict[str, Any]) -> None:
        """A request was made."""
        self._open.setdefault(event["id"], deque()).append((number, event))

    def answer(self, number: int, event: dict[str, Any]) -> Exchange | None:
        """A response or an error; None when it answers no request of the trace."""
        if event["event"] == "error" and event["error"]["code"] in WITHOUT_REQUEST:
            return None
        waiting = self._open.get(event["id"])
        if not waiting:
            return None
        asked, request = waiting.popleft()
        if not waiting:
            del self._open[event["id"]]
        return Exchange(asked, number, request["id"], request["op"], request["args"], event)

    def unanswered(self) -> list[tuple[int, dict[str, Any]]]:
        """The requests that nothing has answered so far, in the order of the trace."""
        return sorted((one for waiting in self._open.values() for one in waiting), key=lambda one: one[0])


def exchanges(entries: Iterable[Entry], pairing: Pairing) -> Iterator[Entry | Exchange]:
    """The trace with each answer joined to its request; everything else, requests included, passes as it is."""
    for one in entries:
        event = one.event
        if event is not None and event["event"] == "request":
            pairing.request(one.number, event)
        elif event is not None and event["event"] in ("response", "error"):
            exchange = pairing.answer(one.number, event)
            if exchange is not None:
                yield exchange
                if one.problem is None:
                    continue
        yield one
