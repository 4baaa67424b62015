"""Serve many clients from an event loop without letting one request delay the others for long.

One thread runs requests in the order they come, those that are quick by their kind before searches, and each for a few
hundredths of a second at most. A request that takes longer is started again in a forked copy of the process, which
shares the warm cache, uses another core and can be killed: when its deadline passes, or when its client leaves. Trace,
budget and cache belong to the thread alone.

A copy has one thread, and a lock that another thread held at the fork stays locked in it for ever. So the event loop
forks, between two of its callbacks, while the thread of the requests stands still.
"""

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any, Self, TypeVar

from zeno.forked import Forked
from zeno.interfaces.claims import Claims
from zeno.interfaces.fair_slots import Client, FairSlots
from zeno.interfaces.priority_thread import PriorityThread
from zeno.session.dispatch import OPS
from zeno.session.outcome import Job
from zeno.session.server import Server
from zeno.session.wire import Answer

T = TypeVar("T")

# Seconds for which a request may use the thread while others wait, and while none does.
SHORT, LONG = 0.02, 0.08
# Operations that may go through the whole tree. Others do not wait for them.
_SEARCHES = tuple(name for name, op in OPS.items() if op.walks)
# More forked copies than this would only compete for the cores.
MAX_FORKED = 2 * (os.cpu_count() or 1) + 2
# Seconds between two looks at changes of the tree while there are no requests.
REST = 0.02
NOBODY = Client("")
"""The client where there is only one."""


class Workers:
    """A server that an event loop can await. Requests run concurrently; await them one by one to keep an order."""

    def __init__(self, server: Server, claims: Claims | None = None) -> None:
        self.claims = claims
        """Writes claims of clients; None without a trace."""
        self.roots = server.roots
        """Names of the roots; empty where one root is served without a name."""
        self.all_tools = server.all_tools
        """Whether models are offered tools for all operations."""
        self.revs = server.revs
        """The commits that requests may name."""
        self.max_request_bytes, self.max_response_bytes = server.max_request_bytes, server.max_response_bytes
        self._server = server
        self._thread = PriorityThread()
        # One thread for closing forked copies: the default executor starts more of them, one at a time, for hours.
        self._closing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="zeno-close")
        self._queued = 0
        self._slots = FairSlots(MAX_FORKED)
        self._forking = asyncio.Lock()
        self._forked = Event()
        """Set when the thread of the requests may go on after the last fork."""
        self._moved: set[Job] = set()
        """Requests that were taken, left the thread without an answer, and have none yet."""
        self._warming: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        """Set when there may be background work."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._warming is not None:
            self._warming.cancel()
        self._forked.set()
        # The thread must not use the cache after it is closed.
        self._thread.close()
        self._closing.shutdown()
        for job in self._moved:
            self._server.cancel(job)

    async def answer_line(self, line: bytes, client: Client = NOBODY) -> Answer:
        """Answer a request line."""
        # Before the line is parsed this is a guess, and only about the order.
        urgent = not any(f'"{op}"'.encode() in line for op in _SEARCHES)
        return await self._answer(partial(self._server.accept_line, line), client, urgent=urgent)

    async def answer_body(self, request_id: str, op: str, body: bytes, client: Client = NOBODY) -> Answer:
        """Answer a request whose arguments are the JSON text `body`."""
        accept = partial(self._server.accept_body, request_id, op, body)
        return await self._answer(accept, client, urgent=op not in _SEARCHES)

    async def answer(self, request_id: str, op: str, args: Any, client: Client = NOBODY) -> Answer:
        """Answer a request given as values."""
        accept = partial(self._server.accept, request_id, op, args)
        return await self._answer(accept, client, urgent=op not in _SEARCHES)

    async def claim(self, args: Any) -> dict[str, Any]:
        """Write a claim into the trace and return the event. Raises ZenoError."""
        assert self.claims is not None  # noqa: S101 - for the type checker: interfaces offer claims only where there are any
        return await self._in_thread(partial(self.claims.record, args))

    async def run(self, work: Callable[[], T]) -> T:
        """Call a function in the thread that runs requests, between two of them."""
        return await self._in_thread(work)

    async def run_beside(self, work: Callable[[], T]) -> T:
        """Call a function in another thread, beside requests. Copies are forked before or after it."""
        async with self._forking:
            return await asyncio.get_running_loop().run_in_executor(None, work)

    def start_warming(self) -> None:
        """Fill the cache between requests, a few milliseconds at a time, and apply changes of the tree to it."""
        self._wake.set()
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._warm())

    async def _warm(self) -> None:
        while True:
            self._wake.clear()
            while await self._in_thread(self._server.idle):
                pass
            await asyncio.sleep(REST)
            await self._change()

    async def _change(self) -> None:
        """Wait until the tree has changed, or a request may have left something to do."""
        loop = asyncio.get_running_loop()
        watched = await self._in_thread(self._copy_descriptors)
        try:
            for descriptor in watched:
                loop.add_reader(descriptor, self._wake.set)
            await self._wake.wait()
        finally:
            for descriptor in watched:
                loop.remove_reader(descriptor)
                os.close(descriptor)

    def _copy_descriptors(self) -> list[int]:
        """Copies: the cache may be closed, and its number given to another file, while they are waited for."""
        try:
            return [os.dup(descriptor) for descriptor in self._server.corpus.event_descriptors]
        except OSError:
            # None is left. The next request looks again.
            return []

    async def _answer(self, accept: Callable[..., Job], client: Client, *, urgent: bool) -> Answer:
        work = partial(self._accept_and_run, partial(accept, arrived=time.monotonic()))
        running = self._thread.submit(work, urgent=urgent)
        self._queued += 1
        try:
            job = await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            # It may have been taken meanwhile, or may still be.
            running.add_done_callback(self._withdraw)
            raise
        finally:
            self._queued -= 1
        if job.answer is None:
            await self._run_forked(job, client)
        self.start_warming()
        assert job.answer is not None  # noqa: S101 - for the type checker: the job is done
        return job.answer

    def _accept_and_run(self, accept: Callable[[], Job]) -> Job:
        job = accept()
        if not self._server.run(job, lambda: SHORT if self._queued > 1 else LONG):
            self._moved.add(job)
        return job

    def _withdraw(self, taken: "Future[Job]") -> None:
        """Record that the client of a request has left, if the request was taken and has no answer."""
        if not taken.cancelled() and taken.exception() is None:
            self._cancel(taken.result())

    def _cancel(self, job: Job) -> None:
        # A thread that is closed records nothing more; then `__exit__` does.
        with suppress(RuntimeError):
            self._thread.submit(partial(self._finish, job, partial(self._server.cancel, job)), urgent=True)

    def _finish(self, job: Job, finish: Callable[[], None]) -> None:
        """Give a job that has left the thread its answer, unless it has one."""
        if job in self._moved:
            finish()
            self._moved.discard(job)

    async def _run_forked(self, job: Job, client: Client) -> None:
        """Run a job in a forked copy. When the caller is cancelled, kill the copy and record that in the trace."""
        finish: Callable[[], None] = partial(self._server.finish_forked, job, None)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(job.deadline), self._slots.hold(client):
                    try:
                        forked = await self._fork(job)
                    except OSError:
                        finish = partial(self._server.run_unforked, job)
                    else:
                        try:
                            finish = partial(self._server.finish_forked, job, await _read_all(forked.descriptor))
                        finally:
                            # In another thread: the system may take a while to end a process with much memory.
                            self._closing.submit(forked.close)
            await self._in_thread(partial(self._finish, job, finish), urgent=True)
        except asyncio.CancelledError:
            self._cancel(job)
            raise

    async def _fork(self, job: Job) -> Forked:
        """Fork while the thread of the requests stands still. Raises OSError where the system cannot fork."""
        async with self._forking:
            ready = asyncio.get_running_loop().create_future()
            # A new one for each fork: the thread may not have looked at the last one yet.
            self._forked = Event()
            standing = self._thread.submit(partial(self._stand_still, job, ready, self._forked), urgent=True)
            try:
                await ready
                return self._server.fork(job)
            finally:
                standing.cancel()
                self._forked.set()

    def _stand_still(self, job: Job, ready: "asyncio.Future[None]", forked: Event) -> None:
        """Prepare a fork, tell the event loop, and wait until it has forked."""
        error: Exception | None = None
        try:
            self._server.before_fork(job)
        except Exception as raised:
            error = raised
        ready.get_loop().call_soon_threadsafe(_settle, ready, error)
        forked.wait()

    async def _in_thread(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        self._queued += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(work, urgent=urgent))
        finally:
            self._queued -= 1


def _settle(future: "asyncio.Future[None]", error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


async def _read_all(descriptor: int) -> bytes:
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
