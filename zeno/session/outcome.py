"""The stages of one request: the job in the server and the outcome of its operation; and where both are recorded."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from contract_models.zeno.metrics import Metrics
from contract_models.zeno.request import Request
from contract_spec.model import Model

from zeno.errors import ZenoError
from zeno.files.file_tree import FileTree
from zeno.options import Options
from zeno.session.wire import Answer


class Trace(Protocol):
    """Where the server records requests and answers."""

    def session(self, tree: FileTree, options: Options) -> None: ...
    def request(self, request: Request) -> None: ...
    def summary(self, result: Model) -> Any: ...
    def response(self, request: Request, summary: Any, metrics: Metrics) -> None: ...
    def error(self, request_id: str | None, op: str | None, error: ZenoError) -> None: ...


class Outcome(NamedTuple):
    """The result of an operation, ready to be sent. It can be pickled, so that a forked process can hand it back."""

    body: bytes
    """The result as JSON, without its metrics."""
    metrics: Metrics
    lines: int
    """Number of lines of files in the result."""
    summary: Any
    """The summary for the trace; None without a trace."""


def pack(outcome: Outcome | ZenoError) -> bytes:
    """Return an outcome or an error as bytes, for `unpack` in another process."""
    import pickle

    return pickle.dumps((outcome.code, str(outcome)) if isinstance(outcome, ZenoError) else outcome)


def unpack(data: bytes) -> Outcome | ZenoError | None:
    """Return what was packed by a copy of this process; None if it is not whole."""
    import pickle

    try:
        sent = pickle.loads(data)  # noqa: S301 - written by a copy of this process, through a pipe of ours
    except (EOFError, pickle.UnpicklingError):
        return None
    return sent if isinstance(sent, Outcome) else ZenoError.restore(*sent)


@dataclass(slots=True, eq=False)
class Job:
    """A request that the server has accepted, or the answer with which it was refused."""

    id: str | None = None
    op: str | None = None
    request: Request | None = None
    deadline: float | None = None
    """Time by which it must be done, on the server's clock."""
    answer: Answer | None = None
    """The answer, once there is one."""

    def patience(self) -> Callable[[], float] | None:
        """Return a function that gives the seconds from now to the deadline; None without a deadline."""
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        return lambda: left


def log_bug(what: str, *, with_traceback: bool = True) -> None:
    """Write to the log of errors that something happened which never should."""
    # Imported here, because start-up needs no logging.
    import logging

    logging.getLogger("zeno").error("zeno: bug: %s", what, exc_info=with_traceback)
