"""Slots that clients share: nobody gets all, and who has fewest comes next."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from zeno.interfaces.fair_slots import Client, FairSlots

GREEDY, OTHER = Client("10.0.0.1", 1), Client("10.0.0.2", 1)


async def turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Holders:
    """Tasks that hold a slot until they are told to give it back."""

    def __init__(self, slots: FairSlots) -> None:
        self._slots = slots
        self.order: list[Client] = []
        self.tasks: list[tuple[Client, asyncio.Event, asyncio.Task[None]]] = []

    async def ask(self, client: Client) -> None:
        done = asyncio.Event()
        self.tasks.append((client, done, asyncio.create_task(self._hold(client, done))))
        await turn()

    async def _hold(self, client: Client, done: asyncio.Event) -> None:
        async with self._slots.hold(client):
            self.order.append(client)
            await done.wait()

    async def end(self) -> None:
        for _, done, task in self.tasks:
            done.set()
            await turn()
            assert task.done()


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_one_connection_gets_half_of_the_slots_and_others_find_the_rest() -> None:
    async def story() -> None:
        holders = Holders(FairSlots(4))
        for _ in range(5):
            await holders.ask(GREEDY)
        assert holders.order == [GREEDY] * 2
        await holders.ask(OTHER)
        assert holders.order == [GREEDY] * 2 + [OTHER]
        await holders.end()
        assert holders.order == [GREEDY] * 2 + [OTHER] + [GREEDY] * 3

    run(story())


def test_a_free_slot_goes_to_the_address_that_has_fewest_and_there_to_the_first() -> None:
    async def story() -> None:
        holders = Holders(FairSlots(2))
        crowd = [Client("10.0.0.1", number) for number in range(1, 5)]
        for client in crowd:
            await holders.ask(client)
        await holders.ask(OTHER)
        holders.tasks[0][1].set()
        await turn()
        assert holders.order == [crowd[0], crowd[1], OTHER]
        await holders.end()
        assert holders.order == [crowd[0], crowd[1], OTHER, crowd[2], crowd[3]]

    run(story())


def test_a_client_that_leaves_while_it_waits_or_holds_loses_no_slot() -> None:
    async def story() -> None:
        slots = FairSlots(1)
        holders = Holders(slots)
        for _ in range(3):
            await holders.ask(GREEDY)
        for _, _, task in holders.tasks[:2]:
            task.cancel()
        await turn()
        assert holders.order == [GREEDY, GREEDY]
        holders.tasks[2][1].set()
        await turn()
        await holders.ask(OTHER)
        assert holders.order[-1] == OTHER
        holders.tasks[-1][1].set()
        await turn()

    run(story())
