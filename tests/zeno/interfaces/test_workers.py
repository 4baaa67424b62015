"""Workers and their end. Requests through them are tested with the doors (`test_http.py`, `test_mcp.py`)."""

import asyncio
import json
import time
from contextlib import closing
from pathlib import Path
from random import Random
from threading import Event, Lock
from threading import enumerate as enumerate_threads
from typing import Any

import pytest
from contract_models.zeno.request import Request

from tests.support.lacking import needs
from tests.support.patience import PATIENCE
from tests.support.repositories import commit, init, served
from zeno.cache.warm_corpus import WarmCorpus
from zeno.files.tree import Tree
from zeno.interfaces.workers import Workers
from zeno.meter import Meter
from zeno.options import Options
from zeno.revisions.served_commits import ServedCommits
from zeno.search.corpus import ColdCorpus
from zeno.session.outcome import Outcome
from zeno.session.server import Server
from zeno.trace.writer import TraceWriter


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


class Locking(Server):
    """A server whose operations take a lock, as models and imports of Python do."""

    lock = Lock()

    def _compute(self, request: Request, meter: Meter) -> Outcome:
        with self.lock:
            return super()._compute(request, meter)


def test_no_copy_is_forked_while_a_callback_of_the_event_loop_holds_a_lock(tmp_path: Path) -> None:
    async def run(server: Locking) -> list[bytes]:
        async def hold() -> None:
            while True:
                with server.lock:
                    time.sleep(0.002)
                await asyncio.sleep(0)

        with Workers(server) as workers:
            holding = asyncio.create_task(hold())
            asked = (workers.answer(str(number), "grep", {"pattern": "x"}) for number in range(20))
            answers = [answer.line for answer in await asyncio.gather(*asked)]
            holding.cancel()
            return answers

    with Tree(str(tmp_path)) as tree:
        answers = asyncio.run(run(Locking(ColdCorpus(tree), options=Options(max_seconds=10))))
    assert [line for line in answers if b'"ok":true' not in line] == []


def test_no_copy_is_forked_while_another_thread_works(tmp_path: Path) -> None:
    async def run(server: Locking) -> bytes:
        began, go_on = Event(), Event()

        def work() -> None:
            with server.lock:
                began.set()
                go_on.wait(PATIENCE)

        with Workers(server) as workers:
            working = asyncio.create_task(workers.run_beside(work))
            while not began.is_set():
                await asyncio.sleep(0.001)
            asking = asyncio.create_task(workers.answer("1", "grep", {"pattern": "x"}))
            while not workers._moved:
                await asyncio.sleep(0.001)
            go_on.set()
            await working
            return (await asking).line

    with Tree(str(tmp_path)) as tree:
        assert b'"ok":true' in asyncio.run(run(Locking(ColdCorpus(tree), options=Options(max_seconds=10))))


@pytest.mark.parametrize("turns", range(6))
def test_a_request_whose_client_leaves_has_its_answer_in_the_trace(tmp_path: Path, turns: int) -> None:
    (tmp_path / "a.txt").write_text("abcdefghij klmnopqrst\n" * 20_000)
    slow = {"pattern": r"(?i)(?:\pL\pN?){40}\d", "regex": True}
    log = tmp_path / "log.jsonl"

    async def run(server: Server) -> None:
        with Workers(server) as workers:
            for number in range(5):
                asking = asyncio.create_task(workers.answer(str(number), "grep", slow))
                for _ in range(turns):
                    await asyncio.sleep(0.003)
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    with Tree(str(tmp_path)) as tree, closing(TraceWriter(str(log))) as trace:
        asyncio.run(run(Server(ColdCorpus(tree), trace)))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    ids = {kind: sorted(event["id"] for event in events if event["event"] == kind) for kind in ("request", "error")}
    assert ids["request"] == ids["error"]


def test_requests_that_are_under_way_at_the_end_have_their_answer_in_the_trace(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abcdefghij klmnopqrst\n" * 200_000)
    slow = {"pattern": r"(?i)(?:\pL\pN?){40}\d", "regex": True}
    log = tmp_path / "log.jsonl"

    async def run(server: Server) -> None:
        with Workers(server) as workers:
            asked = [asyncio.create_task(workers.answer(str(number), "grep", slow)) for number in range(9)]
            while len(workers._moved) < len(asked):
                await asyncio.sleep(0.001)
        for one in asked:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    with Tree(str(tmp_path)) as tree, closing(TraceWriter(str(log))) as trace:
        asyncio.run(run(Server(ColdCorpus(tree), trace)))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(event["id"] for event in events if event["event"] == "error") == [str(n) for n in range(9)]


def test_time_that_a_request_waits_in_line_counts(tmp_path: Path) -> None:
    async def run(server: Server) -> bytes:
        with Workers(server) as workers:
            began = Event()

            def keep_busy() -> None:
                began.set()
                time.sleep(1.2)

            busy = asyncio.create_task(workers.run(keep_busy))
            while not began.is_set():
                await asyncio.sleep(0.001)
            answer = await workers.answer("late", "stat", {"path": "."})
            await busy
            return answer.line

    with Tree(str(tmp_path)) as tree:
        assert b"deadline_exceeded" in asyncio.run(run(Server(ColdCorpus(tree), options=Options(max_seconds=1))))


def test_a_pattern_of_many_states_leaves_the_thread_before_it_searches(tmp_path: Path) -> None:
    chance = Random(1)
    lines = ["".join(chance.choices("ab", k=2000)) for _ in range(500)]
    (tmp_path / "lines.txt").write_text("\n".join(lines))
    (tmp_path / "line.txt").write_text("ab" * 950_000)
    costly = {"pattern": "[ab]*a[ab]{700}[^ab]", "regex": True}

    async def run(server: Server) -> list[bool]:
        with Workers(server) as workers:
            while server.idle():
                pass
            moved = []
            for args in ({**costly, "paths": ["line.txt"]}, {**costly, "paths": ["lines.txt"]}, {"pattern": "abb"}):
                asking = asyncio.create_task(workers.answer("1", "grep", args))
                await asyncio.sleep(0)
                await workers.run(lambda: None)
                moved.append(bool(workers._moved))
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
            return moved

    with Tree(str(tmp_path)) as tree:
        corpus = WarmCorpus(tree, 1 << 26)
        assert asyncio.run(run(Server(corpus))) == [True, True, False]
        corpus.close()


@pytest.mark.parametrize("op", ["read_file", "peek", "extract_symbols"])
def test_the_walk_for_a_misspelt_path_leaves_the_thread(tmp_path: Path, op: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/app.py").write_text("x\n")

    async def run(server: Server) -> tuple[bool, bytes]:
        with Workers(server) as workers:
            asking = asyncio.create_task(workers.answer("1", op, {"path": "lib/app.py"}))
            await asyncio.sleep(0)
            await workers.run(lambda: None)
            moved = bool(workers._moved)
            return moved, (await asking).line

    with Tree(str(tmp_path)) as tree:
        moved, line = asyncio.run(run(Server(ColdCorpus(tree))))
        assert moved
        assert b"did you mean 'src/app.py'?" in line
        assert line == Server(ColdCorpus(tree)).ask("1", op, {"path": "lib/app.py"}).line


def test_changes_are_applied_while_nobody_asks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")

    async def see(fact: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not fact():
                await asyncio.sleep(0.005)

    async def run(corpus: WarmCorpus, server: Server) -> None:
        with Workers(server) as workers:
            workers.start_warming()
            await see(lambda: corpus.is_warm and not corpus.has_pending_work)
            cache = corpus._cache
            assert cache is not None
            (tmp_path / "b.txt").write_text("new\n")
            await see(lambda: "b.txt" in cache.entries)
            await workers.answer("1", "stat", {"path": "b.txt"})
            (tmp_path / "c.txt").write_text("newer\n")
            await see(lambda: "c.txt" in cache.entries)

    with Tree(str(tmp_path)) as tree, closing(Server(corpus := WarmCorpus(tree, 1 << 20))) as server:
        asyncio.run(run(corpus, server))


@needs("git", "git")
def test_a_large_file_of_a_commit_leaves_the_thread_and_a_commit_gets_warm(tmp_path: Path) -> None:
    root = init(tmp_path / "root")
    (root / "large.txt").write_text("needle\n" * 300_000)
    (root / "small.txt").write_text("needle\n")
    rev = commit(root)
    (root / "large.txt").unlink()

    async def run(workers: Workers, commits: ServedCommits) -> list[bool]:
        moved = []
        for op, args in (
            ("read_file", {"path": "small.txt"}),
            ("read_file", {"path": "large.txt"}),
            ("peek", {"path": "large.txt"}),
            ("stat", {"path": "large.txt"}),
            ("verify", {"citations": [{"path": "large.txt", "start_line": 1, "end_line": 1, "rev": rev}]}),
            ("grep", {"pattern": "needle"}),
        ):
            asking = asyncio.create_task(workers.answer("1", op, args if op == "verify" else {**args, "rev": rev}))
            await asyncio.sleep(0)
            await workers.run(lambda: None)
            moved.append(bool(workers._moved))
            assert (await asking).error is None
        async with asyncio.timeout(PATIENCE):
            while not commits.at(rev, "rev").is_warm:
                await asyncio.sleep(0.005)
        return moved

    with served(root, cache_bytes=1 << 24) as (_, commits):
        assert commits.memory is not None
        commits.memory.revisions = commits
        with Workers(Server(commits.memory)) as workers:
            assert asyncio.run(run(workers, commits)) == [False, True, True, False, True, True]
