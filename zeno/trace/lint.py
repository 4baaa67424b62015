"""lint: check a trace for consistency from its own lines, without the tree.

An error is something that no server and no correct agent writes. A warning can happen in normal use: a clock set
back, a tree that changed between two equal requests, a subcall that never returned.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from contract_spec.operations import operations

from zeno.trace.digest import canonical
from zeno.trace.events import OTHER, WITHOUT_REQUEST, Exchange, Pairing, TraceLine

_WARNINGS = frozenset({"time_backwards", "digest_changed", "unended_subcall", "no_evidence"})


class Finding(NamedTuple):
    """An error or warning about one line."""

    line: int
    level: Literal["error", "warning"]
    code: str
    message: str


def lint(entries: Iterable[TraceLine]) -> Iterator[Finding]:
    """Yield all findings in the order of the trace; those that need the whole trace come last."""
    linter = _Linter()
    for entry in entries:
        if entry.problem:
            yield _finding(entry.number, *entry.problem)
        if entry.event is not None:
            yield from linter.look(entry.number, entry.event)
    yield from linter.end()


def _finding(line: int, code: str, message: str) -> Finding:
    return Finding(line, "warning" if code in _WARNINGS else "error", code, message)


class _Linter:
    def __init__(self) -> None:
        self._pairing = Pairing()
        self._time = ""
        self._requests: dict[str, int] = {}
        self._answers: dict[bytes, tuple[int, str]] = {}
        self._given: set[tuple[str, str]] = set()
        self._subcalls: dict[str, tuple[int, str | None]] = {}
        self._running: dict[str, int] = {}
        self._claims: dict[str, int] = {}

    def look(self, number: int, event: dict[str, Any]) -> Iterator[Finding]:
        if event["ts"] < self._time:
            yield _finding(number, "time_backwards", f"{event['ts']} is before {self._time} of an earlier line")
        self._time = max(self._time, event["ts"])
        looks: dict[str, Callable[[int, dict[str, Any]], Iterator[Finding]]] = {
            "session": lambda *_: iter(()),
            "request": self._request,
            "response": self._answer,
            "error": self._answer,
            "subcall_start": self._start,
            "subcall_end": self._end,
            "claim": self._claim,
        }
        yield from looks[event["event"]](number, event)

    def end(self) -> Iterator[Finding]:
        for number, event in self._pairing.list_unanswered():
            yield _finding(number, "unanswered", f"the request {event['id']!r} has no response and no error")
        for name, number in sorted(self._running.items(), key=lambda item: item[1]):
            yield _finding(number, "unended_subcall", f"the subcall {name!r} has no end")

    def _request(self, number: int, event: dict[str, Any]) -> Iterator[Finding]:
        before = self._requests.setdefault(event["id"], number)
        if before != number:
            yield _finding(
                number, "repeated_id", f"the request id {event['id']!r} was used on line {before}; give each its own"
            )
        self._pairing.request(number, event)

    def _answer(self, number: int, event: dict[str, Any]) -> Iterator[Finding]:
        exchange = self._pairing.answer(number, event)
        if exchange is None:
            if event["event"] == "response" or event["error"]["code"] not in WITHOUT_REQUEST:
                yield _finding(number, "without_request", f"no open request has the id {event['id']!r}")
            return
        if event["op"] != exchange.op:
            message = f"it answers {event['op']!r}, but line {exchange.asked} asked for {exchange.op!r}"
            yield _finding(number, "other_op", message)
        if event["event"] == "response":
            yield from self._response(exchange)

    def _response(self, exchange: Exchange) -> Iterator[Finding]:
        number, summary = exchange.answered, exchange.answer["summary"]
        self._given.add((exchange.id, exchange.answer["digest"]))
        count, metrics = summary["count"], summary["metrics"]
        # A search that returns no hits counts files or lines instead.
        only_counts = exchange.op == "grep" and exchange.args.get("output", "hits") != "hits"
        operation = operations().get(exchange.op, OTHER)
        counted = None if only_counts else operation.metric
        if counted in metrics and metrics[counted] != count:
            yield _finding(number, "miscounted", f"count is {count}, but metrics.{counted} is {metrics[counted]}")
        if operation is not OTHER and operation.list is None and count is not None:
            yield _finding(number, "miscounted", f"count must be null for {exchange.op}, not {count}")
        question = hashlib.sha256(canonical([exchange.op, exchange.args])).digest()
        before, digest = self._answers.setdefault(question, (number, exchange.answer["digest"]))
        if digest != exchange.answer["digest"]:
            message = f"the same request was answered otherwise on line {before}: the tree changed in between"
            yield _finding(number, "digest_changed", message)
            self._answers[question] = (number, exchange.answer["digest"])

    def _start(self, number: int, event: dict[str, Any]) -> Iterator[Finding]:
        name, parent = event["id"], event.get("parent")
        if name in self._subcalls:
            yield _finding(number, "repeated_subcall", f"line {self._subcalls[name][0]} started {name!r} already")
        if parent is not None and parent not in self._running:
            yield _finding(number, "unknown_parent", f"no subcall {parent!r} is under way here")
        self._subcalls[name] = (number, parent)
        self._running[name] = number

    def _end(self, number: int, event: dict[str, Any]) -> Iterator[Finding]:
        name, parent = event["id"], event.get("parent")
        if name not in self._running:
            yield _finding(number, "without_start", f"no subcall {name!r} is under way here")
            return
        del self._running[name]
        if parent is not None and parent != self._subcalls[name][1]:
            message = f"its start on line {self._subcalls[name][0]} names another parent than {parent!r}"
            yield _finding(number, "unknown_parent", message)

    def _claim(self, number: int, event: dict[str, Any]) -> Iterator[Finding]:
        name, parent = event.get("id"), event.get("parent")
        if parent is not None and parent not in self._subcalls and parent not in self._claims:
            yield _finding(number, "unknown_parent", f"no subcall or claim {parent!r} stands before this line")
        if name is not None and self._claims.setdefault(name, number) != number:
            yield _finding(number, "repeated_claim", f"the claim id {name!r} was used on line {self._claims[name]}")
        answers = event.get("answers", ())
        if not event["evidence"] and not answers and "search" not in event:
            yield _finding(number, "no_evidence", "the claim cites nothing")
        for index, citation in enumerate(event["evidence"]):
            if citation["end_line"] < citation["start_line"]:
                message = f"evidence[{index}].end_line is below start_line ({citation['start_line']})"
                yield _finding(number, "backward_range", message)
        for index, answer in enumerate(answers):
            if (answer["id"], answer["digest"]) in self._given:
                continue
            message = f"no request {answer['id']!r} stands before this line"
            if answer["id"] in self._requests:
                message = f"no answer to the request {answer['id']!r} before this line has that digest"
            yield _finding(number, "unknown_answer", f"answers[{index}]: {message}")
