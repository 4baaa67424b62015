"""`zeno mcp`, asked by the client of the MCP SDK, which starts the server itself."""

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from tools.soak.servers import Answer, Process, Question, command, comparable

_PATIENCE = 300.0


class Mcp:
    """A client of `zeno mcp` in a thread of its own. The questions of a burst are asked side by side."""

    def __init__(self, root: Path, complaints: Path, *flags: str) -> None:
        program, *arguments = command("mcp", root, *flags)
        self._parameters = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
        self._complaints = complaints
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client: Client | None = None
        self._leave = asyncio.Event()
        before = set(Process(os.getpid()).helpers())
        ready = threading.Event()
        self._session = asyncio.run_coroutine_threadsafe(self._hold(ready), self._loop)
        if not ready.wait(_PATIENCE):
            self._session.result(0)
        started = set(Process(os.getpid()).helpers()) - before
        assert len(started) == 1, started
        self.seen = Process(started.pop())

    async def _hold(self, ready: threading.Event) -> None:
        """Keep the session open. The SDK wants it to be entered and left by the same task."""
        with self._complaints.open("w") as complaints:
            async with Client(stdio_client(self._parameters, errlog=complaints)) as client:
                self._client = client
                ready.set()
                await self._leave.wait()

    def ask(self, questions: list[Question]) -> list[Answer]:
        """Return the answers in the order of the questions."""
        return asyncio.run_coroutine_threadsafe(self._all(questions), self._loop).result(_PATIENCE)

    async def _all(self, questions: list[Question]) -> list[Answer]:
        return list(await asyncio.gather(*(self._one(op, args) for op, args in questions)))

    async def _one(self, op: str, args: dict[str, Any]) -> Answer:
        assert self._client is not None
        result = await self._client.call_tool(op, args)
        if result.is_error:
            told = result.content[0]
            assert isinstance(told, TextContent)
            return {"code": json.loads(told.text)["code"]}
        assert result.structured_content is not None
        return comparable(result.structured_content)

    def close(self) -> None:
        """End the session and with it the server. Raises AssertionError if it reported a bug."""
        self._loop.call_soon_threadsafe(self._leave.set)
        self._session.result(_PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        self._loop.close()
        complaints = self._complaints.read_text()
        assert "bug" not in complaints, complaints
        sys.stdout.flush()
