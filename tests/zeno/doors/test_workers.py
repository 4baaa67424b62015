"""Workers and their end. Requests through them are tested with the doors (`test_http.py`, `test_mcp.py`)."""

import asyncio
from pathlib import Path
from threading import Event
from typing import Any

from tests.support.patience import PATIENCE
from zeno.doors.workers import Workers
from zeno.files.tree import Tree
from zeno.search.cold import ColdCorpus
from zeno.session.server import Server


class Preparing(Server):
    """A server whose cache is never filled."""

    began: Event

    def idle(self) -> bool:
        self.began.set()
        return True


def test_an_end_while_the_cache_is_being_filled_is_no_failure(tmp_path: Path) -> None:
    async def run(server: Preparing) -> list[Any]:
        with Workers(server) as workers:
            workers.start_warming()
            await asyncio.sleep(0)
            warming = asyncio.all_tasks() - {asyncio.current_task()}
            # The step under way ends while the loop waits here, so nobody has asked for the next one yet.
            assert server.began.wait(PATIENCE)
        ended: list[Any] = await asyncio.gather(*warming, return_exceptions=True)
        return ended

    with Tree(str(tmp_path)) as tree:
        server = Preparing(ColdCorpus(tree))
        server.began = Event()
        (ended,) = asyncio.run(run(server))
    assert isinstance(ended, asyncio.CancelledError)
