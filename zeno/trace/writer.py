"""The server's own events, each written before its answer goes out."""

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from contract_models.zeno.metrics import Metrics
from contract_models.zeno.ops.grep import GrepResult
from contract_models.zeno.ops.list_files import ListFilesResult
from contract_models.zeno.request import Request
from contract_models.zeno.trace_event import ErrorEvent, RequestEvent, ResponseEvent, ResponseSummary
from contract_spec.model import Model
from pydantic import MISSING

from zeno.errors import TraceFailed, ZenoError
from zeno.session import wire
from zeno.trace.digest import digest
from zeno.trace.log import Log, timestamp


def counted(result: Model) -> tuple[str, int] | None:
    """What a result is a list of, and how many; None for one that is no list."""
    if isinstance(result, GrepResult):
        if result.counts is not MISSING:
            return "files", len(result.counts)
        return "hits", len(result.hits) if result.total is MISSING else result.total.lines
    if isinstance(result, ListFilesResult) and result.tree is not MISSING:
        # The root comes first, and all files are below it.
        return "files", result.tree[0].files if result.tree else 0
    names = (name for name in ("files", "hits", "symbols", "items") if hasattr(result, name))
    return next(((name, len(getattr(result, name))) for name in names), None)


class Summary(NamedTuple):
    """What a response event tells of a result, besides its metrics."""

    found: int | None
    truncated: bool
    digest: str


class TraceWriter:
    """Appends events to a log. An event that cannot be written fails the request it tells of."""

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        self._log = Log(path)
        self._clock = clock

    @property
    def descriptor(self) -> int:
        """The open log."""
        return self._log.descriptor

    def close(self) -> None:
        """Let go of the log."""
        self._log.close()

    def request(self, request: Request) -> None:
        """Before the operation runs."""
        self._write(RequestEvent(ts=self._now(), event="request", id=request.id, op=request.op, args=request.args))

    def summary(self, result: Model) -> Summary:
        """Return what a response event tells of a result. Computed where the result is, which may be a forked copy."""
        found = counted(result)
        # peek has `truncated` only under a limit.
        truncated = getattr(result, "truncated", False) is True
        return Summary(None if found is None else found[1], truncated, digest(result))

    def response(self, request: Request, summary: Summary, metrics: Metrics) -> None:
        """After it ran, before the client is told."""
        told = ResponseSummary(count=summary.found, truncated=summary.truncated, metrics=metrics)
        event = ResponseEvent(
            ts=self._now(), event="response", id=request.id, op=request.op, summary=told, digest=summary.digest
        )
        self._write(event)

    def error(self, request_id: str | None, op: str | None, error: ZenoError) -> None:
        """After a refusal, before the client is told."""
        self._write(ErrorEvent(ts=self._now(), event="error", id=request_id, op=op, error=wire.error_of(error)))

    def _now(self) -> str:
        return timestamp(self._clock())

    def _write(self, event: Any) -> None:
        try:
            self._log.append(wire.dump(event))
        except OSError as error:
            raise TraceFailed(f"the log cannot be written: {os.strerror(error.errno or 0)}") from None
