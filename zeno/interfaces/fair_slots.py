"""A number of slots that clients share: the next free one goes to the client that holds the fewest."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple


class Client(NamedTuple):
    """Who sent a request: an address, and one of its connections or sessions."""

    address: str
    connection: int | str = 0


class FairSlots:
    """Slots for clients. One connection can have at most half of them, so that others find some."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._most = max(1, number // 2)
        self._held: Counter[str | Client] = Counter()
        """How many slots each address and each connection has."""
        self._waiting: list[tuple[Client, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def hold(self, client: Client) -> AsyncIterator[None]:
        """Wait for a slot, and give it back in the end."""
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((client, granted))
        self._grant()
        try:
            await granted
            yield
        finally:
            if granted.done() and not granted.cancelled():
                self._count(client, -1)
            else:
                self._waiting.remove((client, granted))
            self._grant()

    def _grant(self) -> None:
        """Give free slots to those that wait: fewest slots of its address first, then of its connection, then first."""
        while self._free:
            able = [one for one in self._waiting if self._held[one[0]] < self._most and not one[1].done()]
            if not able:
                return
            chosen = min(able, key=lambda one: (self._held[one[0].address], self._held[one[0]]))
            self._waiting.remove(chosen)
            self._count(chosen[0], 1)
            chosen[1].set_result(None)

    def _count(self, client: Client, number: int) -> None:
        self._free -= number
        for key in (client.address, client):
            self._held[key] += number
            if not self._held[key]:
                del self._held[key]
