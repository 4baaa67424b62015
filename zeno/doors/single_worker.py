"""One request after the other, off the event loop: for doors where several clients may knock at once.

Operations are answered in one thread, in the order they were asked, so that a door with many clients gives the same
answers, and writes the same kind of trace, as the one with a single client.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from zeno.session.server import Server


class Turns:
    """A server that an event loop can wait for."""

    def __init__(self, server: Server) -> None:
        self.max_request_bytes = server.max_request_bytes
        self._server = server
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="zeno")
        self._warming: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # What is held must not be let go of while the thread is still at work on it.
        self._worker.shutdown(wait=True, cancel_futures=True)

    async def answer(self, line: bytes) -> bytes:
        """The answer to one line, when its turn has come."""
        answer = await asyncio.get_running_loop().run_in_executor(self._worker, self._server.answer, line)
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._warm())
        return answer

    async def _warm(self) -> None:
        """Use the moments between requests, a few milliseconds at a time."""
        while await asyncio.get_running_loop().run_in_executor(self._worker, self._server.idle):
            pass
