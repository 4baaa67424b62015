"""Read a trace line by line, holding one line at a time. Every bad line is reported.

A trace may be cut in the middle of a line (a full disk, a killed machine) or have a torn line inside. The lines around
it are still read. Blank lines are ignored.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import contract_spec as spec
from contract_spec.operations import Operation

SCHEMA = "zeno/trace_event.json"
_SESSION = re.compile(rb'"event"[ \t]*:[ \t]*"session"')
KINDS = ("session", "request", "response", "error", "subcall_start", "subcall_end", "claim")
# Twice the size of the largest request with its text escaped; no event is longer.
MAX_LINE_BYTES = 1 << 23
MAX_DEPTH = 70


OTHER = Operation(narrow="", tool={})
"""For operations of other servers, which a trace may hold too."""

# Errors for lines that were no requests: the trace has no request event for them.
WITHOUT_REQUEST = frozenset({"invalid_json", "invalid_request"})


class TraceLine(NamedTuple):
    """One line of a trace."""

    number: int
    """Counted from 1."""
    event: dict[str, Any] | None
    """The event; None if the line is no event that the schema accepts."""
    problem: tuple[str, str] | None
    """Code and message of a problem with the line; None if there is none."""
    lost_session: bool = False
    """Whether the line is no event, and says that a server started: its policy is not known."""


class Exchange(NamedTuple):
    """A request and its answer."""

    asked: int
    """Line of the request."""
    answered: int
    """Line of the response or error."""
    asked_at: str
    """Time of the request."""
    id: str
    op: str
    args: dict[str, Any]
    answer: dict[str, Any]
    """The response or error event."""


def read(stream: BinaryIO) -> Iterator[TraceLine]:
    """Yield an entry for each line of a trace that is not blank."""
    for number, line in enumerate(_lines(stream), 1):
        if line is None:
            yield TraceLine(number, None, ("too_long", f"the line is longer than {MAX_LINE_BYTES} bytes"))
        elif line.strip(b" \t\r\n"):
            yield entry(number, line)


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield lines with their ends, and None for a line that is longer than `MAX_LINE_BYTES`."""
    while line := stream.readline(MAX_LINE_BYTES):
        if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE_BYTES)
        yield None


def entry(number: int, line: bytes) -> TraceLine:
    """Parse and validate one line, given with its line feed."""
    whole = line.endswith(b"\n")
    lost_session = _SESSION.search(line) is not None
    try:
        value = spec.parse(line, max_depth=MAX_DEPTH)
    except spec.NotStrictJson as error:
        if not whole:
            message = f"the trace ends in the middle of this line, after {len(line)} bytes of it"
            return TraceLine(number, None, ("cut", message), lost_session)
        return TraceLine(number, None, ("not_json", f"the line is not strict JSON: {error}"), lost_session)
    if (wrong := event_violation(value)) is not None:
        return TraceLine(number, None, ("not_an_event", wrong), lost_session)
    return TraceLine(number, value, None if whole else ("cut", "the last line has no line feed: the trace may go on"))


def event_violation(value: Any) -> str | None:
    """Return one sentence on how a value violates the schema of trace events, or None if it is valid."""
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
    """Match answers to requests by id. Ids may repeat: an answer belongs to the oldest open request with its id."""

    def __init__(self) -> None:
        self._open: dict[str, deque[tuple[int, dict[str, Any]]]] = {}

    def request(self, number: int, event: dict[str, Any]) -> None:
        """Add a request event."""
        self._open.setdefault(event["id"], deque()).append((number, event))

    def answer(self, number: int, event: dict[str, Any]) -> Exchange | None:
        """Return the exchange that a response or error event completes; None if no request is open for it."""
        if event["event"] == "error" and event["error"]["code"] in WITHOUT_REQUEST:
            return None
        waiting = self._open.get(event["id"])
        if not waiting:
            return None
        asked, request = waiting.popleft()
        if not waiting:
            del self._open[event["id"]]
        return Exchange(asked, number, request["ts"], request["id"], request["op"], request["args"], event)

    def list_unanswered(self) -> list[tuple[int, dict[str, Any]]]:
        """Return line numbers and events of the requests that are still open, in the order of the trace."""
        return sorted((one for waiting in self._open.values() for one in waiting), key=lambda one: one[0])


def exchanges(entries: Iterable[TraceLine], pairing: Pairing) -> Iterator[TraceLine | Exchange]:
    """Yield the entries of a trace, with an `Exchange` in place of each answer whose request is known."""
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
