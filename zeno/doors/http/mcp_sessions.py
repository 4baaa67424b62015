"""Room for new MCP sessions: when all are taken, the one that was idle longest is ended for the next client.

The SDK answers 503 until a session ends by itself, which takes half an hour if its client has left without a word.
"""

import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

IDLE_ENOUGH = 60.0
"""Seconds without a request or an open stream after which a session may be ended for another."""
_HEADER = b"mcp-session-id"


class McpSessions:
    """An ASGI application around that of the SDK. It knows the sessions from the headers that pass through it."""

    def __init__(self, app: ASGIApp, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._limit = limit
        self._clock = clock
        self._used: dict[bytes, float] = {}
        """When each session was used last, the longest idle one first."""
        self._under_way: dict[bytes, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. One that may open a session ends another first, if there is no room."""
        session = _session(scope["headers"])
        if session is None and len(self._used) >= self._limit:
            await self._end_longest_idle(scope)
        known = session if session in self._used else None
        if known is not None:
            self._under_way[known] = self._under_way.get(known, 0) + 1

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(session, scope, message)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            if known is not None:
                self._leave(known)

    def _note(self, session: bytes | None, scope: Scope, start: Message) -> None:
        """Learn from the head of an answer which sessions there are."""
        opened = _session(start["headers"])
        if session is None and opened is not None and start["status"] < 400:
            self._used[opened] = self._clock()
        elif session is not None and (start["status"] == 404 or scope["method"] == "DELETE"):
            self._used.pop(session, None)

    def _leave(self, session: bytes) -> None:
        """Note that a request of a session is done: from now on it is idle, unless another one is under way."""
        self._under_way[session] -= 1
        if not self._under_way[session]:
            del self._under_way[session]
        if self._used.pop(session, None) is not None:
            self._used[session] = self._clock()

    async def _end_longest_idle(self, scope: Scope) -> None:
        now = self._clock()
        for session, used in self._used.items():
            if now - used < IDLE_ENOUGH:
                return
            if session not in self._under_way:
                break
        else:
            return
        del self._used[session]
        headers = [(name, value) for name, value in scope["headers"] if name in (b"host", b"origin")]
        await self._app({**scope, "method": "DELETE", "headers": [*headers, (_HEADER, session)]}, _nothing, _ignored)


def _session(headers: list[tuple[bytes, bytes]]) -> bytes | None:
    return next((value for name, value in headers if name.lower() == _HEADER), None)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignored(_: Message) -> None:
    """Drop an answer."""
