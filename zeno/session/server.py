"""One request from start to end: validate, run the operation, check the limits, write the trace, answer.

A request comes in as a line (`accept_line`) or as values (`accept`) and leaves as an `Answer`. In between, its
operation runs in this process (`run`) or, when it takes too long for that, in a forked copy (`fork`). Trace and budget
are touched by `accept` and `finish` only, so they stay in this process and in order.
"""

import gc
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from contract_models.zeno.request import Request

from zeno import errors
from zeno.errors import InternalError, InvalidJson, InvalidRequest, ResponseTooLarge, TraceFailed, ZenoError
from zeno.meter import Clock, Meter, Overrun
from zeno.options import Confinement, Options
from zeno.search.corpus import Corpus
from zeno.session import dispatch, wire
from zeno.session.budget import Budget
from zeno.session.outcome import Job, Outcome, Trace, log_bug, pack, unpack
from zeno.session.warm_up import WarmUp
from zeno.session.wire import Answer

if TYPE_CHECKING:
    from zeno.forked import Forked

# Seconds for which a request runs in this process where a deadline is set. Then it goes on where it can be killed.
QUICK_SECONDS = 0.05


class Server:
    """A corpus with its limits and its trace. It answers every request, and never raises because of one."""

    def __init__(
        self,
        corpus: Corpus,
        trace: Trace | None = None,
        options: Options = Options(),  # noqa: B008 - it cannot be changed
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self.corpus = corpus
        self._trace = trace
        self._clock = clock
        self._options = options._replace(log=trace is not None)
        # Most sessions begin with these; the other operations are loaded when asked for.
        operations = [partial(dispatch.prepare, name) for name in ("grep", "list_files", "read_file")]
        self._warm_up = WarmUp([*operations, *corpus.preparations()], corpus, corpus.revisions)
        limits = (options.max_ops, options.max_lines, options.max_bytes)
        self._budget = None if limits == (None, None, None) else Budget(*limits)
        self.all_tools = options.all_tools
        self.max_request_bytes, self.max_response_bytes = options.max_request_bytes, options.max_response_bytes

    @property
    def roots(self) -> list[str]:
        """Names of the roots; empty where one root is served without a name."""
        return self.corpus.tree.names

    @property
    def revs(self) -> list[str]:
        """The commits that requests may name; empty: none."""
        return self.corpus.revisions.allow_list

    def answer_from(self, corpus: Corpus) -> None:
        """Answer from another corpus from now on, and release the one before."""
        before, self.corpus = self.corpus, corpus
        self._warm_up = WarmUp(corpus.preparations(), corpus, corpus.revisions)
        before.close()
        self.begin_session()

    def begin_session(self) -> None:
        """Let the trace state what is served, under which policy and limits, before the next event."""
        if self._trace is not None:
            self._trace.session(self.corpus.tree, self._options)

    def close(self) -> None:
        self.corpus.close()

    def set_confinement(self, confinement: Confinement) -> None:
        """Set how this process is confined, for `describe`. By default it is not."""
        self._options = self._options._replace(confinement=confinement)

    def answer(self, line: bytes, abandoned: Callable[[], bool] | None = None) -> bytes:
        """Return the response line to a request line. `abandoned` says whether the client has left meanwhile."""
        start = time.monotonic()
        answer = self._run_to_end(self.accept_line(line), abandoned).line
        self._warm_up.owed += time.monotonic() - start
        return answer

    def ask(self, request_id: str, op: str, args: Any) -> Answer:
        """Answer a request given as values; `args` is any JSON value."""
        return self._run_to_end(self.accept(request_id, op, args))

    def accept_line(self, line: bytes, arrived: float | None = None) -> Job:
        """Take a request line, write it to the trace and count it. It `arrived` by the monotonic clock, or now."""
        return self._accept(Job(), lambda job: self._read_line(job, line), arrived)

    def accept_body(self, request_id: str, op: str, body: bytes, arrived: float | None = None) -> Job:
        """Take a request whose arguments are the JSON text `body`."""

        parse = lambda _: {"id": request_id, "op": op, "args": self._parse(body, "the body")}  # noqa: E731
        return self._accept(Job(), parse, arrived)

    def accept(self, request_id: str, op: str, args: Any, arrived: float | None = None) -> Job:
        """Take a request given as values. Values that strict JSON cannot express are refused."""

        def read(_job: Job) -> Any:
            if not wire.is_strict([request_id, op, args]):
                raise InvalidJson("the arguments are not strict JSON: a number, a text or the nesting is not allowed")
            return {"id": request_id, "op": op, "args": args}

        return self._accept(Job(request_id, op), read, arrived)

    def _accept(self, job: Job, read: Callable[[Job], Any], arrived: float | None) -> Job:
        try:
            value = read(job)
            job.id, job.op = wire.id_of(value), wire.op_of(value)
            request = wire.request(value)
            if self._trace is not None:
                self._trace.request(request)
            if self._budget is not None:
                self._budget.begin()
            job.request = request
            if self._options.max_seconds is not None:
                job.deadline = (time.monotonic() if arrived is None else arrived) + self._options.max_seconds
        except ZenoError as error:
            self._refuse(job, error)
        return job

    def _read_line(self, job: Job, line: bytes) -> Any:
        try:
            return self._parse(line, "the line")
        except InvalidJson:
            # Of a line with a number that is out of range everything else can be read.
            value = wire.parse_without_numbers(line)
            job.id, job.op = wire.id_of(value), wire.op_of(value)
            raise

    def _parse(self, data: bytes, what: str) -> Any:
        if len(data) > self.max_request_bytes:
            raise InvalidRequest(f"{what} is longer than {self.max_request_bytes} bytes")
        return wire.parse(data, what)

    def run(
        self, job: Job, patience: Callable[[], float] | None = None, abandoned: Callable[[], bool] | None = None
    ) -> bool:
        """Run the operation in this process and finish the job; return whether it has its answer.

        `patience` says how many seconds the operation may take. When it takes longer, or is known to, nothing is
        done: the job is to be forked.
        """
        if job.answer is not None or job.request is None:
            return True
        if job.deadline is not None and time.monotonic() > job.deadline:
            self.finish_forked(job, None)
            return True
        if patience is not None and dispatch.is_long(job.request, self.corpus):
            return False
        meter = Meter(self._clock, self._options, patience, abandoned=abandoned)
        return self._run_measured(job, job.request, meter)

    def _run_measured(self, job: Job, request: Request, meter: Meter) -> bool:
        # An answer is thousands of objects, freed when its bytes are made: to look for cycles in them takes long.
        gc.disable()
        try:
            outcome: Outcome | ZenoError = self._compute(request, meter)
            meter.finish()
        except Overrun:
            return False
        except ZenoError as error:
            outcome = error
        finally:
            gc.enable()
        self.finish(job, outcome)
        return True

    def before_fork(self, job: Job) -> None:
        """Load what a copy needs for a job and bring the cache up to date."""
        if job.op in dispatch.OPS:
            dispatch.prepare(job.op)
        self.corpus.before_fork()

    def fork(self, job: Job) -> "Forked":
        """Start the operation in a forked copy of this process. Give what it sends to `finish_forked`.

        No other thread may run Python code meanwhile: the copy has only the calling thread, so a lock that another one
        holds stays locked in it. Raises OSError where the system cannot fork.
        """
        from zeno.forked import Forked

        request = job.request
        assert request is not None  # noqa: S101 - for the type checker: a job without one has its answer
        return Forked(lambda: self._compute_packed(request))

    def run_unforked(self, job: Job) -> None:
        """Run the operation in this process to its end, where the system cannot fork; check its deadline in loops."""
        assert job.request is not None  # noqa: S101 - for the type checker: a job without one has its answer
        meter = Meter(self._clock, self._options, job.patience(), movable=False)
        if not self._run_measured(job, job.request, meter):
            self.finish_forked(job, None)

    def _compute_packed(self, request: Request) -> bytes:
        """In the copy: the outcome, or code and message of the error."""
        self.corpus.in_fork()
        try:
            return pack(self._compute(request, Meter(self._clock, self._options)))
        except ZenoError as error:
            return pack(error)

    def finish_forked(self, job: Job, data: bytes | None) -> None:
        """Finish a job with what its forked process sent; None stands for a deadline that has passed."""
        if data is None:
            self.finish(job, dispatch.make_overdue(job.op, self._options.max_seconds))
            return
        sent = unpack(data)
        if sent is None:
            log_bug(f"the process that answered {job.id!r} ended without an answer", with_traceback=False)
        self.finish(job, sent or InternalError())

    def finish(self, job: Job, outcome: Outcome | ZenoError) -> None:
        """Check the limits, write the trace, spend the budget; the job has its answer then."""
        request = job.request
        try:
            if isinstance(outcome, ZenoError) or request is None:
                raise outcome if isinstance(outcome, ZenoError) else InternalError()
            metrics = outcome.metrics
            if self._budget is not None:
                left = self._budget.after(outcome.lines, len(outcome.body))
                metrics = metrics.model_copy(update={"budget": left})
            answer = Answer(request.id, wire.with_metrics(outcome.body, metrics))
            if wire.success_size(request.id, answer.result or b"") > self.max_response_bytes:
                raise ResponseTooLarge("the answer is longer than a response may be")
            if self._trace is not None:
                self._trace.response(request, outcome.summary, metrics)
            if self._budget is not None:
                self._budget.spend(outcome.lines, len(outcome.body))
            job.answer = answer
        except ZenoError as error:
            self._refuse(job, error)

    def cancel(self, job: Job) -> None:
        """Record that the client withdrew the request."""
        if job.answer is None:
            self._refuse(job, errors.Cancelled())

    def idle(self) -> bool:
        """Do a slice of background work; return False when nothing is left until the tree changes."""
        return self._warm_up.run()

    def catch_up(self) -> None:
        """Do the background work that is owed after an answer was sent."""
        self._warm_up.catch_up()

    def _run_to_end(self, job: Job, abandoned: Callable[[], bool] | None = None) -> Answer:
        """Run a job to its end and return its answer."""
        if not self.run(job, None if job.deadline is None else lambda: QUICK_SECONDS, abandoned):
            self.before_fork(job)
            try:
                forked = self.fork(job)
            except OSError:
                self.run_unforked(job)
            else:
                self.finish_forked(job, forked.wait(job.deadline))
        assert job.answer is not None  # noqa: S101 - for the type checker: the job is done
        return job.answer

    def _compute(self, request: Request, meter: Meter) -> Outcome:
        """Run the operation. Raises ZenoError, and Overrun when the meter's time is up."""
        try:
            result = dispatch.perform(request, self.corpus, meter)
            body, metrics = wire.split_result(result)
            if len(body) > self.max_response_bytes:
                raise ResponseTooLarge("the answer is longer than a response may be")
            summary = None if self._trace is None else self._trace.summary(result)
            return Outcome(body, metrics, meter.lines, summary)
        except (ZenoError, Overrun):
            raise
        except Exception as error:
            if lacking := errors.lacks_descriptor(error):
                path = request.args.get("path")
                raise errors.PermissionDenied(path if isinstance(path, str) else ".", lacking) from None
            log_bug(f"answering {request.id!r}")
            raise InternalError from None

    def _refuse(self, job: Job, error: ZenoError) -> None:
        if isinstance(error, ResponseTooLarge):
            narrow = f"the limit is {self.max_response_bytes} bytes; {dispatch.OPS[str(job.op)].narrow}"
            error = ResponseTooLarge(f"{error}: {narrow}")
        if self._trace is not None and not isinstance(error, TraceFailed):
            try:
                self._trace.error(job.id, job.op, error)
            except TraceFailed as failed:
                error = failed
        job.answer = Answer(job.id, None, error)
