"""One request from bytes to bytes: parse, validate, run the operation, check the limits, write the trace, answer."""

import time
from functools import partial
from typing import Any, Protocol, cast

from contract_models.zeno.request import Request
from contract_spec.model import Model
from pydantic import MISSING

from zeno.errors import InternalError, InvalidRequest, ResponseTooLarge, TraceFailed, ZenoError
from zeno.meter import Clock, Meter
from zeno.options import Terms
from zeno.search.corpus import Corpus
from zeno.session import dispatch, wire
from zeno.session.budget import Budget
from zeno.session.warm_up import WarmUp

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
        # The operations that an investigation begins with; the others cost memory that many servers never need.
        operations = [partial(dispatch.prepare, name) for name in ("grep", "list_files", "read_file")]
        self._warm_up = WarmUp([*operations, *corpus.preparations()], corpus)
        self._budget = Budget(max_ops, max_lines, max_bytes)
        self.max_request_bytes = max_request_bytes
        self.max_response_bytes = max_response_bytes

    def answer(self, line: bytes) -> bytes:
        """Answer one line. Never raises on account of what the line says."""
        start = time.monotonic()
        answer = self._answer(line)
        self._warm_up.owe(time.monotonic() - start)
        return answer

    def _answer(self, line: bytes) -> bytes:
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
        """Do a slice of background work; return False when nothing is left. See `zeno.session.warm_up`."""
        return self._warm_up.run()

    def catch_up(self) -> None:
        """Do the background work that is owed after an answer was sent."""
        self._warm_up.catch_up()

    def _refuse(self, request_id: str | None, op: str | None, error: ZenoError) -> bytes:
        if not isinstance(error, TraceFailed):
            try:
                self._trace.error(request_id, op, error)
            except TraceFailed as failed:
                error = failed
        return wire.failure(request_id, error)
