"""The Model Context Protocol on standard input and output.

Importing the SDK takes longer than the rest of the start-up; only the modules of this folder import it.
"""

import asyncio
import os
import re
import signal
import stat
from collections import deque
from contextlib import AsyncExitStack, suppress
from typing import Any

from mcp.server.stdio import stdio_server

from zeno.interfaces.claims import Claims
from zeno.interfaces.mcp.client_roots import ClientRoots
from zeno.interfaces.mcp.tools import Calls, mcp_server
from zeno.interfaces.stdio import has_left
from zeno.interfaces.workers import Workers
from zeno.session.server import Server
from zeno.text.line_splitter import LineSplitter

# A message is a request with an envelope around it, and text in it may be escaped.
_ENVELOPE_BYTES = 1 << 16
_LAST_TURNS = 100
# Seconds between two looks at whether anybody still waits for the last answers.
_LOOK = 0.2
_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,100}")')


def serve(server: Server, claims: Claims | None = None, client_roots: ClientRoots | None = None) -> None:
    """Answer MCP messages on standard input until it ends, or a signal asks to stop."""
    asyncio.run(_run(server, claims, client_roots))


async def _run(server: Server, claims: Claims | None, client_roots: ClientRoots | None) -> None:
    async with AsyncExitStack() as stack:
        workers = stack.enter_context(Workers(server, claims))
        workers.start_warming()
        calls = Calls()
        tools = mcp_server(workers, calls, client_roots)
        kind = os.fstat(0).st_mode
        if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(0):
            pipes: Any = _Pipes(calls, server.max_request_bytes + _ENVELOPE_BYTES)
            await pipes.open()
            stack.callback(_set_blocking, [number for number in (0, 1, 2) if os.isatty(number)])
            source, sink = await stack.enter_async_context(stdio_server(pipes, pipes))
        else:
            # Files and the null device cannot be polled, so they are read at once.
            source, sink = await stack.enter_async_context(stdio_server())
        await tools.run(source, sink, tools.create_initialization_options())


def _set_blocking(terminals: list[int]) -> None:
    """Let the shell have its terminal back as it was."""
    for number in terminals:
        os.set_blocking(number, True)


class _Pipes:
    """Standard input and output as the SDK wants them, without threads.

    The SDK's own streams use three thread switches for each message, and block where no signal reaches them.
    """

    def __init__(self, calls: Calls, max_message: int) -> None:
        self._calls = calls
        self._max_message = max_message
        self._lines = LineSplitter(max_message)
        self._ready: deque[bytes] = deque()
        self._stopped = False

    async def open(self) -> None:
        """Start reading. Standard output is only for the protocol; anything else that is printed goes to stderr."""
        loop = asyncio.get_running_loop()
        self._sink = os.dup(1)
        os.dup2(2, 1)
        os.set_blocking(self._sink, False)
        self._input = asyncio.StreamReader()
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._input), os.fdopen(0, "rb", 0, closefd=False)
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)

    def _stop(self) -> None:
        self._stopped = True
        self._input.feed_eof()

    def __aiter__(self) -> "_Pipes":
        return self

    async def __anext__(self) -> bytes:
        while not self._ready:
            chunk = await self._input.read(1 << 16)
            if not chunk:
                rest = self._lines.rest()
                if rest:
                    return rest + b"\n"
                await self._finish()
                raise StopAsyncIteration
            for line in self._lines.feed(chunk):
                if len(line) > self._max_message:
                    await self._refuse(line)
                else:
                    self._ready.append(line)
        return self._ready.popleft() + b"\n"

    async def _refuse(self, line: bytes) -> None:
        """Answer a message over the limit with an error. Its id is used if it is near the beginning."""
        found = _ID.search(line[:4096])
        number = b"null" if found is None else found[1]
        message = f"the message is longer than {self._max_message} bytes"
        await self.write(
            f'{{"jsonrpc":"2.0","id":{number.decode(errors="replace")},'
            f'"error":{{"code":-32600,"message":"{message}"}}}}\n'
        )

    async def _finish(self) -> None:
        """Wait until calls under way are answered, because the SDK drops them when its input ends. Not after a
        signal, and not for a client that has closed its end of the output too."""
        # Messages that were read may not have reached their handlers yet.
        await _turns()
        while not self._stopped and not has_left(self._sink):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._calls.wait_until_done(), _LOOK)
                await _turns()
                return

    async def write(self, text: str) -> None:
        view = memoryview(text.encode())
        while view:
            try:
                view = view[os.write(self._sink, view) :]
            except BlockingIOError:
                await _writable(self._sink)
            except BrokenPipeError:
                # The client has left: end as at the end of its input, and quietly.
                self._stop()
                return

    async def flush(self) -> None:
        """Do nothing: output is not buffered."""


async def _turns() -> None:
    """Let all tasks run that are ready."""
    for _ in range(_LAST_TURNS):
        await asyncio.sleep(0)


async def _writable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_writer(descriptor, _resolve, ready)
    try:
        await ready
    finally:
        loop.remove_writer(descriptor)


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
