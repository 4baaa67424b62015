"""The loop: one line in, one line out, in order, until the input ends or a signal asks to stop."""

import os
import select
import signal
import time
from collections.abc import Iterator
from typing import Any, Protocol, cast

from contract_models.zeno.request import Request
from contract_spec.model import Model
from pydantic import MISSING

from zeno import dispatch, wire
from zeno.budget import Budget
from zeno.errors import InternalError, InvalidRequest, ResponseTooLarge, TraceFailed, ZenoError
from zeno.lines import Lines
from zeno.meter import Clock, Meter
from zeno.search.corpus import Corpus
from zeno.terms import Terms

# Seconds without a request after which the server begins to use its time. Who asks one thing after the other is not
# to wait for that; and to sleep at once after an answer lets its reader run at once, on the same core.
PAUSE = 0.001
MAX_REQUEST_BYTES = Terms().max_request_bytes
MAX_RESPONSE_BYTES = Terms().max_response_bytes


class Trace(Protocol):
    """Where the server tells what it does."""

    def request(self, request: Request) -> None: ...
    def response(self, request: Request, result: Model) -> None: ...
    def error(self, request_id: str | None, op: str | None, error: ZenoError) -> None: ...


class NoTrace:
    """Tells nobody."""

    def request(self, request: Request) -> None: ...
    def response(self, request: Request, result: Model) -> None: ...
    def error(self, request_id: str | None, op: str | None, error: ZenoError) -> None: ...


class Server:
    """A corpus with its limits and its trace, and one answer for each line."""

    def __init__(
        self,
        corpus: Corpus,
        trace: Trace | None = None,
        *,
        max_request_bytes: int = MAX_REQUEST_BYTES,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        max_ops: int | None = None,
        max_lines: int | None = None,
        max_bytes: int | None = None,
        gitignore: bool = False,
        clock: Clock = time.monotonic,
    ) -> None:
        self._corpus = corpus
        self._trace = trace or NoTrace()
        self._clock = clock
        logged = trace is not None
        self._terms = Terms(max_request_bytes, max_response_bytes, max_ops, max_lines, max_bytes, gitignore, logged)
        # What an investigation mostly begins with; the others cost memory that many servers never need.
        self._unprepared = ["read_file", "list_files", "grep"]
        self._budget = Budget(max_ops, max_lines, max_bytes)
        self.max_request_bytes = max_request_bytes
        self.max_response_bytes = max_response_bytes

    def answer(self, line: bytes) -> bytes:
        """Answer one line. Never raises on account of what the line says."""
        request_id = op = None
        try:
            if len(line) > self.max_request_bytes:
                raise InvalidRequest(f"the line is longer than {self.max_request_bytes} bytes")
            value = wire.parse(line)
            request_id, op = wire.id_of(value), wire.op_of(value)
            request = wire.request(value)
            self._trace.request(request)
            self._budget.begin()
            meter = Meter(self._clock, self._terms)
            result, size = self._afford(dispatch.perform(request, self._corpus, meter), meter)
            answer = wire.success(request.id, result)
            if len(answer) > self.max_response_bytes:
                raise ResponseTooLarge("the answer is longer than a response may be")
            self._trace.response(request, result)
            self._budget.spend(meter.lines, size)
            return answer
        except ResponseTooLarge as error:
            limit = f"the limit is {self.max_response_bytes} bytes"
            return self._refuse(request_id, op, ResponseTooLarge(f"{error}: {limit}; {dispatch.OPS[str(op)].narrow}"))
        except ZenoError as error:
            return self._refuse(request_id, op, error)
        except Exception:
            # Imported here: nothing else that a server needs to start has to do with logging.
            import logging

            logging.getLogger("zeno").exception("zeno: bug while answering %r", request_id)
            return self._refuse(request_id, op, InternalError())

    def _afford(self, result: Any, meter: Meter) -> tuple[Model, int]:
        """The result with what is left of the session's budget after it, if that covers it, and its size in bytes.

        Nothing is spent yet: the answer may still turn out too long, or not be logged.
        """
        size = 0
        if self._budget.limited:
            size = len(wire.dump(result.model_copy(update={"metrics": MISSING})))
            metrics = result.metrics.model_copy(update={"budget": self._budget.after(meter.lines, size)})
            result = result.model_copy(update={"metrics": metrics})
        return cast(Model, result), size

    def idle(self) -> bool:
        """Use a moment in which nobody asks; False when there is nothing to do."""
        if self._unprepared:
            dispatch.prepare(self._unprepared.pop())
            return True
        return self._corpus.idle()

    def _refuse(self, request_id: str | None, op: str | None, error: ZenoError) -> bytes:
        if not isinstance(error, TraceFailed):
            try:
                self._trace.error(request_id, op, error)
            except TraceFailed as failed:
                error = failed
        return wire.failure(request_id, error)


def serve(server: Server, source: int, sink: int) -> None:
    """Answer the lines of one descriptor on another. Returns at the end of input, after a signal, on a closed pipe."""
    with _Stop() as stop:
        for line in _lines(source, server, stop):
            if wire.is_blank(line):
                continue
            try:
                _write(sink, server.answer(line))
            except BrokenPipeError:
                return
            if stop.asked:
                return


class _Stop:
    """Turns SIGTERM and SIGINT into something one can wait for; a second signal ends the process as usual."""

    def __enter__(self) -> "_Stop":
        self.asked = False
        self.wakeup, self._signalled = os.pipe()
        os.set_blocking(self._signalled, False)
        self._before = {number: signal.signal(number, self._ask) for number in (signal.SIGTERM, signal.SIGINT)}
        self._fd_before = signal.set_wakeup_fd(self._signalled)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._fd_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.wakeup)
        os.close(self._signalled)

    def _ask(self, number: int, _frame: object) -> None:
        self.asked = True
        signal.signal(number, signal.SIG_DFL)


def _lines(source: int, server: Server, stop: _Stop) -> Iterator[bytes]:
    """The lines of a descriptor without their ends. Of an over-long one only enough is kept to see that it is one."""
    lines = Lines(server.max_request_bytes)
    while True:
        ready, _, _ = select.select([source, stop.wakeup], [], [], PAUSE)
        while not ready:
            wait = 0 if server.idle() else None
            ready, _, _ = select.select([source, stop.wakeup], [], [], wait)
        if stop.wakeup in ready:
            return
        chunk = os.read(source, 1 << 16)
        if not chunk:
            break
        yield from lines.feed(chunk)
    rest = lines.rest()
    if rest:
        yield rest


def _write(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(sink, view) :]
        except BlockingIOError:
            select.select([], [sink], [])
