"""The body of an HTTP request, read ahead so that a client that leaves while it is being answered is noticed."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, Self, TypeVar

from starlette.requests import ClientDisconnect, Request

from zeno.interfaces.fair_slots import Client

T = TypeVar("T")
_READ_AHEAD = 4


def client_of(request: Request) -> Client:
    """Return who sent a request: the other end of its connection."""
    return Client("") if request.client is None else Client(*request.client)


class Incoming:
    """A request's body and its connection. Methods raise `ClientDisconnect` when the client has disconnected."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue(_READ_AHEAD)
        self._left = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._pump = asyncio.create_task(self._read())
        return self

    def end(self) -> None:
        """Act from now on as if the client had disconnected."""
        self._left.set()

    async def __aexit__(self, *_: object) -> None:
        self._pump.cancel()
        with suppress(asyncio.CancelledError):
            await self._pump

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (chunk := await self.unless_left(self._chunks.get())) is not None:
            yield chunk

    async def body(self, limit: int) -> bytes:
        """Return the whole body; a body over the limit is cut to one byte more than the limit."""
        size, chunks = 0, []
        async for chunk in self:
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                break
        return b"".join(chunks)[: limit + 1]

    async def unless_left(self, work: Coroutine[Any, Any, T]) -> T:
        """Await something, but cancel it when the client leaves."""
        task = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(self._left.wait())
        try:
            await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnect
            return task.result()
        finally:
            leaving.cancel()
            task.cancel()

    async def _read(self) -> None:
        with suppress(ClientDisconnect):
            async for chunk in self._request.stream():
                await self._chunks.put(chunk)
            await self._chunks.put(None)
            # After the body only a disconnect can be received.
            await self._request.receive()
        self._left.set()
