"""Workers and their end. Requests through them are tested with the doors (`test_http.py`, `test_mcp.py`)."""

import asyncio
from pathlib import Path
from threading import Event
from threading import enumerate as enumerate_threads
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


def test_forked_copies_are_closed_by_one_thread_however_many_there_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abcdefghij klmnopqrst\n" * 20_000)
    slow = {"pattern": r"(?i)(?:\pL\pN?){40}\d"}

    async def run(server: Server) -> tuple[list[bytes], list[str]]:
        with Workers(server) as workers:
            answers: list[bytes] = []
            for burst in range(3):
                asked = (workers.answer(f"{burst}-{number}", "grep", slow) for number in range(6))
                answers += [answer.line for answer in await asyncio.gather(*asked)]
            return answers, [thread.name for thread in enumerate_threads()]

    with Tree(str(tmp_path)) as tree:
        answers, threads = asyncio.run(run(Server(ColdCorpus(tree))))
    assert all(b'"ok":true' in line for line in answers)
    assert [name for name in threads if name.startswith("zeno-close")] == ["zeno-close_0"]
    assert not [name for name in threads if name.startswith("asyncio")]
