"""One request after the other, off the event loop: for doors where several clients may knock at once.

Operations are answered in one thread, in the order they were asked, so that a door with many clients gives the same
answers, and writes the same kind of trace, as the one with a single client.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from zeno.server import Server


class Turns:
    """A server that an event loop can wait for."""

    def __init__(self, server: Server) -> None:
        self.max_request_bytes = server.max_request_bytes
        self._server = server
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="zeno")

    async def answer(self, line: bytes) -> bytes:
        """The answer to one line, when its turn has come."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._server.answer, line)
