"""The Model Context Protocol over streamable HTTP, at /mcp. Host, Origin and token are checked before, as for all
routes.

The SDK is imported by the first request: it takes longer than everything else that the server needs to start.
"""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from zeno.interfaces.http.mcp_sessions import McpSessions
from zeno.interfaces.http.problems import problem
from zeno.interfaces.workers import Workers

MAX_SESSIONS = 256
IDLE_SECONDS = 1800.0
# A message is a request with an envelope around it, and text in it may be escaped.
_ENVELOPE_BYTES = 1 << 16


class McpEndpoint:
    """An ASGI application that starts with its first request."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._starting: asyncio.Task[ASGIApp | None] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the SDK; without the SDK the error says what to install."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        app: Any = await asyncio.shield(self._starting)
        if app is None:
            app = problem(
                "the MCP SDK is not installed where this server runs; whoever runs it can add the extra mcp", status=501
            )
        await app(scope, receive, send)

    async def _start(self) -> ASGIApp | None:
        try:
            manager = await self._workers.run_beside(self._manager)
        except ModuleNotFoundError:
            return None
        ready = asyncio.Event()
        self._running = asyncio.create_task(_run(manager, ready))
        await ready.wait()
        return McpSessions(manager.asgi_app, MAX_SESSIONS)

    def _manager(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from zeno.interfaces.mcp.tools import Calls, mcp_server

        return StreamableHTTPSessionManager(
            mcp_server(self._workers, Calls()),
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=self._workers.max_request_bytes + _ENVELOPE_BYTES,
            max_sessions=MAX_SESSIONS,
        )


async def _run(manager: Any, ready: asyncio.Event) -> None:
    """Keep the manager's task group open until the server ends, which cancels this task."""
    async with manager.run():
        ready.set()
        await asyncio.Event().wait()
