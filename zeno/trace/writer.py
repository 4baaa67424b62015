"""Write the server's events. Each is written before its answer is sent."""

import os
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import contract_spec as spec
from contract_models.zeno.metrics import Metrics
from contract_models.zeno.ops.grep import GrepResult
from contract_models.zeno.ops.list_files import ListFilesResult
from contract_models.zeno.request import Request
from contract_models.zeno.trace_event import ErrorEvent, RequestEvent, ResponseEvent, ResponseSummary, SessionEvent
from contract_spec.model import Model
from contract_spec.operations import operations
from pydantic import MISSING

from zeno.errors import TraceFailed, ZenoError
from zeno.files.file_tree import FileTree
from zeno.ops.describe import describe_limits, describe_policy
from zeno.options import Options
from zeno.session import wire
from zeno.trace.digest import digest
from zeno.trace.log import Log, timestamp


def count_items(result: Model) -> tuple[str, int] | None:
    """Return the kind and number of items that a result lists; None if it is no list."""
    if isinstance(result, GrepResult):
        if result.counts is not MISSING:
            return "files", len(result.counts)
        return "hits", len(result.hits) if result.total is MISSING else result.total.lines
    if isinstance(result, ListFilesResult) and result.tree is not MISSING:
        # The root comes first, and all files are below it.
        return "files", result.tree[0].files if result.tree else 0
    lists = sorted({operation.list for operation in operations().values() if operation.list is not None})
    return next(((name, len(getattr(result, name))) for name in lists if hasattr(result, name)), None)


class Summary(NamedTuple):
    """The part of a response event that is computed from a result, metrics aside."""

    found: int | None
    truncated: bool
    digest: str
    rev: str | None = None
    """The commit that the result is from."""


class TraceWriter:
    """Appends events to a log. Methods raise TraceFailed if an event cannot be written, and the request fails."""

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        self._log = Log(path)
        self._clock = clock
        self._session: Callable[[], SessionEvent] | None = None
        """Makes the session event that is still to be written."""

    @property
    def descriptor(self) -> int:
        """File descriptor of the open log."""
        return self._log.descriptor

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    def session(self, tree: FileTree, options: Options) -> None:
        """Write a session event before the next event: a server that is never asked leaves no trace."""
        program = version("zeno-normalizer")  # now: a confined server cannot read it if it stands beside the code
        self._session = lambda: SessionEvent(
            ts=self._now(),
            event="session",
            version=program,
            protocol=spec.PROTOCOL_VERSION,
            roots=tree.names or MISSING,
            policy=describe_policy(tree.policy),
            limits=describe_limits(options),
            gitignore=options.gitignore,
            rev=tree.rev or MISSING,
        )

    def request(self, request: Request) -> None:
        """Write the request event, before the operation runs."""
        self._write(RequestEvent(ts=self._now(), event="request", id=request.id, op=request.op, args=request.args))

    def summary(self, result: Model) -> Summary:
        """Return the summary of a result. Called in the process that has the result, which may be a forked copy."""
        found = count_items(result)
        # peek has `truncated` only under a limit.
        truncated = getattr(result, "truncated", False) is True
        rev = getattr(result, "rev", None)
        return Summary(
            None if found is None else found[1], truncated, digest(result), rev if isinstance(rev, str) else None
        )

    def response(self, request: Request, summary: Summary, metrics: Metrics) -> None:
        """Write the response event, after the operation and before the answer is sent."""
        told = ResponseSummary(
            count=summary.found, truncated=summary.truncated, rev=summary.rev or MISSING, metrics=metrics
        )
        event = ResponseEvent(
            ts=self._now(), event="response", id=request.id, op=request.op, summary=told, digest=summary.digest
        )
        self._write(event)

    def error(self, request_id: str | None, op: str | None, error: ZenoError) -> None:
        """Write the error event, before the answer is sent."""
        self._write(ErrorEvent(ts=self._now(), event="error", id=request_id, op=op, error=wire.error_of(error)))

    def _now(self) -> str:
        return timestamp(self._clock())

    def _write(self, event: Any) -> None:
        try:
            if self._session is not None:
                self._log.append(wire.dump(self._session()))
                self._session = None
            self._log.append(wire.dump(event))
        except OSError as error:
            raise TraceFailed(f"the log cannot be written: {os.strerror(error.errno or 0)}") from None
