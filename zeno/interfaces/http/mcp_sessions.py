"""Room for new MCP sessions: when all are taken, one that is idle is ended for the next client.

The SDK answers 503 until a session ends by itself, which takes half an hour if its client has left without a word. An
address that has more than half of all sessions gives up its longest idle one at once; otherwise one that
was not used for a while is ended.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

IDLE_ENOUGH = 60.0
"""Seconds without a request or an open stream after which a session may be ended for another."""
# Longer opening requests are passed on in parts.
_MAX_OPENING = 1 << 20
_HEADER = b"mcp-session-id"


@dataclass(slots=True)
class _Session:
    """A session that the SDK has."""

    address: str
    used: float
    """When its last request was answered."""
    asking: int = 0
    """How many of its requests are under way."""
    listening: int = 0
    """How many streams it has open. Clients keep one for as long as they live."""


class McpSessions:
    """An ASGI application around that of the SDK. It knows the sessions from the headers that pass through it."""

    def __init__(self, app: ASGIApp, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._limit = limit
        self._clock = clock
        self._sessions: dict[bytes, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. One that may open a session ends another first, if there is no room."""
        name = _session_name(scope["headers"])
        if name is None:
            # The SDK takes a session before it reads: a client that sends slowly must not hold one.
            receive = await _read_ahead(receive)
            if len(self._sessions) >= self._limit:
                await self._make_room(scope)
        session = self._sessions.get(name) if name is not None else None
        listens = scope["method"] == "GET"
        if session is not None:
            session.listening += listens
            session.asking += not listens

        async def send_watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(name, scope, message)
            await send(message)

        try:
            await self._app(scope, receive, send_watched)
        finally:
            if session is not None:
                session.listening -= listens
                session.asking -= not listens
                session.used = self._clock()

    def _note(self, name: bytes | None, scope: Scope, start: Message) -> None:
        """Learn from the head of an answer which sessions there are."""
        opened = _session_name(start["headers"])
        if name is None and opened is not None and start["status"] < 400:
            address = scope["client"][0] if scope.get("client") else ""
            self._sessions[opened] = _Session(address, self._clock())
        elif name is not None and (start["status"] == 404 or (scope["method"] == "DELETE" and start["status"] < 400)):
            self._sessions.pop(name, None)

    async def _make_room(self, scope: Scope) -> None:
        """End the session that was idle longest among those that may be ended, if there is one."""
        crowded, number = Counter(session.address for session in self._sessions.values()).most_common(1)[0]
        if number > self._limit // 2:
            able = [name for name, one in self._sessions.items() if one.address == crowded and not one.asking]
        else:
            last = self._clock() - IDLE_ENOUGH
            able = [
                name
                for name, one in self._sessions.items()
                if one.used <= last and not one.asking and not one.listening
            ]
        if not able:
            return
        name = min(able, key=lambda name: (self._sessions[name].listening > 0, self._sessions[name].used))
        headers = [(key, value) for key, value in scope["headers"] if key in (b"host", b"origin")]
        ending = {**scope, "method": "DELETE", "headers": [*headers, (_HEADER, name)]}

        async def note_end(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(name, ending, message)

        await self._app(ending, _nothing, note_end)


def _session_name(headers: list[tuple[bytes, bytes]]) -> bytes | None:
    return next((value for name, value in headers if name.lower() == _HEADER), None)


async def _read_ahead(receive: Receive) -> Receive:
    """Read a body to its end, or as much as an opening request has; return a function that gives it again."""
    messages: list[Message] = []
    size, more = 0, True
    while more and size <= _MAX_OPENING:
        messages.append(await receive())
        size += len(messages[-1].get("body", b""))
        more = messages[-1].get("more_body", False)

    async def receive_again() -> Message:
        return messages.pop(0) if messages else await receive()

    return receive_again


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}
