"""Serve many clients from an event loop without letting one request delay the others for long.

One thread runs requests in the order they come, those that are quick by their kind before searches, and each for a few
hundredths of a second at most. A request that takes longer is started again in a forked copy of the process, which
shares the warm cache, uses another core and can be killed: when its deadline passes, or when its client leaves. Trace,
budget and cache belong to the thread alone.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Self, TypeVar

from zeno.doors.claims import Claims
from zeno.doors.priority_thread import PriorityThread
from zeno.session.dispatch import OPS
from zeno.session.forked import Forked
from zeno.session.outcome import Answer, Job
from zeno.session.server import Server

T = TypeVar("T")

# Seconds for which a request may use the thread while others wait, and while none does.
SHORT, LONG = 0.02, 0.08
# Operations that may go through the whole tree. Others do not wait for them.
_SEARCHES = tuple(name for name, op in OPS.items() if op.walks)
# More forked copies than this would only compete for the cores.
MAX_FORKED = 2 * (os.cpu_count() or 1) + 2


class Workers:
    """A server that an event loop can await. Requests run concurrently; await them one by one to keep an order."""

    def __init__(self, server: Server, claims: Claims | None = None) -> None:
        self.claims = claims
        """Writes claims of clients; None without a trace."""
        self.roots = server.roots
        """Names of the roots; empty where one root is served without a name."""
        self.max_request_bytes = server.max_request_bytes
        self._server = server
        self._thread = PriorityThread()
        # One thread for closing forked copies: the default executor starts more of them, one at a time, for hours.
        self._closing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="zeno-close")
        self._queued = 0
        self._slots = asyncio.Semaphore(MAX_FORKED)
        self._warming: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._warming is not None:
            self._warming.cancel()
        # The thread must not use the cache after it is closed.
        self._thread.close()
        self._closing.shutdown()

    async def answer_line(self, line: bytes) -> Answer:
        """Answer a request line."""
        # Before the line is parsed this is a guess, and only about the order.
        urgent = not any(f'"{op}"'.encode() in line for op in _SEARCHES)
        return await self._answer(partial(self._server.accept_line, line), urgent=urgent)

    async def answer_body(self, request_id: str, op: str, body: bytes) -> Answer:
        """Answer a request whose arguments are the JSON text `body`."""
        return await self._answer(partial(self._server.accept_body, request_id, op, body), urgent=op not in _SEARCHES)

    async def answer(self, request_id: str, op: str, args: Any) -> Answer:
        """Answer a request given as values."""
        return await self._answer(partial(self._server.accept, request_id, op, args), urgent=op not in _SEARCHES)

    async def claim(self, args: Any) -> dict[str, Any]:
        """Write a claim into the trace and return the event. Raises ZenoError."""
        assert self.claims is not None  # noqa: S101 - for the type checker: doors offer claims only where there are any
        return await self._in_thread(partial(self.claims.record, args))

    async def run(self, work: Callable[[], T]) -> T:
        """Call a function in the thread that runs requests, between two of them."""
        return await self._in_thread(work)

    def start_warming(self) -> None:
        """Fill the cache between requests, a few milliseconds at a time."""
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._warm())

    async def _warm(self) -> None:
        while await self._in_thread(self._server.idle):
            pass

    async def _answer(self, accept: Callable[[], Job], *, urgent: bool) -> Answer:
        job = await self._in_thread(partial(self._accept_and_run, accept), urgent=urgent)
        if job.answer is None:
            await self._run_forked(job)
        self.start_warming()
        assert job.answer is not None  # noqa: S101 - for the type checker: the job is done
        return job.answer

    def _accept_and_run(self, accept: Callable[[], Job]) -> Job:
        job = accept()
        self._server.run(job, lambda: SHORT if self._queued > 1 else LONG)
        return job

    async def _run_forked(self, job: Job) -> None:
        """Run a job in a forked copy. When the caller is cancelled, kill the copy and record that in the trace."""
        data: bytes | None = None
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(job.deadline), self._slots:
                    forked = await self._fork(job)
                    if forked is None:
                        return
                    try:
                        data = await _received(forked.descriptor)
                    finally:
                        # In another thread: the system may take a while to end a process with much memory.
                        self._closing.submit(forked.close)
            await self._in_thread(partial(self._server.finish_forked, job, data), urgent=True)
        except asyncio.CancelledError:
            self._thread.submit(partial(self._server.cancel, job), urgent=True)
            raise

    async def _fork(self, job: Job) -> Forked | None:
        starting = asyncio.ensure_future(self._in_thread(partial(self._server.fork, job)))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_close)
            raise

    async def _in_thread(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        self._queued += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(work, urgent=urgent))
        finally:
            self._queued -= 1


def _close(starting: "asyncio.Future[Forked | None]") -> None:
    if not starting.cancelled() and starting.exception() is None and (forked := starting.result()) is not None:
        forked.close()


async def _received(descriptor: int) -> bytes:
    """Return everything from a pipe until its other end is closed."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()
    pieces: list[bytes] = []

    def read() -> None:
        piece = os.read(descriptor, 1 << 20)
        if piece:
            pieces.append(piece)
        elif not done.done():
            done.set_result(b"".join(pieces))

    loop.add_reader(descriptor, read)
    try:
        return await done
    finally:
        loop.remove_reader(descriptor)
