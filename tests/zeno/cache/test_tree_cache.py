"""What a warm server holds, and what it does without: within its limits, given back, computed aside, at rest."""

import errno
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.support.patience import until
from tests.support.planting import answers, asked, prepare, warm
from zeno.cache import text_store, watch
from zeno.cache.text_store import Store
from zeno.cache.tree_cache import TreeCache
from zeno.cache.warm_corpus import WarmCorpus
from zeno.cache.watch import Unwatchable, Watches
from zeno.files.tree import Tree
from zeno.index import piece_index, signatures
from zeno.index.piece_index import MAX_FAILURES, Builder
from zeno.index.requirements import NOTHING
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server


def test_without_enough_watches_for_directories_nothing_is_held(planted, both, monkeypatch):
    corpus, server, cold = both
    allowed = iter([1])
    add = Watches._add
    monkeypatch.setattr(Watches, "_add", lambda *args: add(*args) if next(allowed, None) else None)
    prepare(corpus)
    (planted / "d" / "a.txt").write_text("needle\n")
    assert corpus._cache is None
    assert answers(server) == answers(cold)
    assert not corpus.idle()


def test_files_without_a_watch_are_read_from_disk(planted, both, monkeypatch):
    corpus, server, cold = both
    allowed = iter(range(20))
    add = Watches.watch_file
    monkeypatch.setattr(
        Watches, "watch_file", lambda *args, **needed: next(allowed, None) is not None and add(*args, **needed)
    )
    prepare(corpus)
    assert answers(server) == answers(cold)
    for path in planted.rglob("*.txt"):
        path.write_text("needle\n")
    assert answers(server) == answers(cold)
    assert len(answers(server)[0]["result"]["hits"]) > 40


def test_a_file_that_the_disk_does_not_give_is_not_held(planted, both, monkeypatch):
    corpus, server, cold = both
    broken = (planted / "d" / "a.txt").stat().st_ino
    pread = os.pread

    def failing(descriptor: int, size: int, offset: int) -> bytes:
        if os.fstat(descriptor).st_ino == broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", failing)
    prepare(corpus)
    monkeypatch.undo()
    assert corpus._cache.entries.get("d/a.txt").size < 0
    assert corpus._cache.entries.get("d/b.txt").text is not None
    assert answers(server) == answers(cold)


def test_a_file_that_is_edited_again_and_again_takes_one_watch(planted, both, monkeypatch):
    corpus, server, _ = both
    files = len([path for path in planted.rglob("*") if path.is_file()])
    monkeypatch.setattr(watch, "_limit", lambda: 4 * files)
    prepare(corpus)
    for number in range(2 * files):
        (planted / "f7.txt").write_text(f"edit {number}\n")
        answers(server)
        prepare(corpus)
    entry = corpus._cache.entries.get("f7.txt")
    assert entry is not None
    assert entry.text is not None


def test_other_systems_and_network_file_systems_hold_nothing(planted, both, monkeypatch):
    corpus, server, cold = both
    monkeypatch.setattr("zeno.cache.watch._LOCAL", set())
    prepare(corpus)
    assert corpus._cache is None
    assert answers(server) == answers(cold)
    monkeypatch.setattr("sys.platform", "darwin")
    with Tree(str(planted)) as tree, pytest.raises(Unwatchable):
        Watches(tree)


def test_memory_is_given_back_when_files_go(planted, monkeypatch):
    monkeypatch.setattr(text_store, "SEGMENT", 400)
    with Tree(str(planted)) as tree:
        held = TreeCache(tree, Store(1 << 20))
        while held.prepare():
            pass
        assert held.store.size > 0
        shutil.rmtree(planted / "d")
        for path in planted.glob("f*.txt"):
            path.unlink()
        for name in ("h.txt", "e2/c.txt", ".gitignore"):
            (planted / name).unlink()
        held.listing.refresh()
        assert held.entries == {}
        assert held.store.size == 0
        assert held.store.index.narrow(NOTHING).texts() == []
        assert len(held._watches._owners) == 3
        held.close()


def test_beyond_the_cache_files_are_read_from_disk(planted):
    with Tree(str(planted)) as tree:
        corpus, cold = WarmCorpus(tree, 3000), Server(ColdCorpus(tree))
        prepare(corpus)
        assert corpus._cache is not None
        assert 0 < corpus._cache.store.size < 5000
        (planted / "f7.txt").write_text("needle\n")
        assert answers(Server(corpus)) == answers(cold)
        corpus.close()


def test_the_index_is_computed_by_a_process_and_used(planted, monkeypatch):
    monkeypatch.setattr(piece_index, "MIN_INDEXED", 0)
    with Tree(str(planted)) as tree:
        corpus, cold = WarmCorpus(tree, 1 << 20), Server(ColdCorpus(tree))
        prepare(corpus)
        assert corpus._cache is not None
        assert corpus.texts.index._builder._thread is not None
        corpus.texts.index._builder._thread.join()
        assert answers(Server(corpus)) == answers(cold)
        assert corpus._cache.store.index._unindexed == {}
        (planted / "f7.txt").write_text("needle\n")
        assert answers(Server(corpus)) == answers(cold)
        prepare(corpus)
        assert answers(Server(corpus)) == answers(cold)
        corpus.close()


def test_an_index_that_is_done_while_one_looks_is_not_computed_again(planted, monkeypatch):
    monkeypatch.setattr(piece_index, "MIN_INDEXED", 10)

    class Sudden(Builder):
        """Whoever asks finds it just done: what the scheduler of a busy machine can always do."""

        @property
        def busy(self) -> bool:
            if self._thread is not None:
                self._thread.join()
            return False

    monkeypatch.setattr(piece_index, "Builder", Sudden)
    (planted / "many.txt").write_text("needle here\n" * 3)
    with Tree(str(planted)) as tree:
        corpus = WarmCorpus(tree, 1 << 30)
        prepare(corpus)
        corpus.idle()
        corpus.idle()
        request = json.dumps({"id": "1", "op": "grep", "args": {"pattern": "needle here"}}).encode()
        hits = json.loads(Server(corpus).answer(request))["result"]["hits"]
        corpus.close()
    assert [hit["line"] for hit in hits] == [1, 2, 3]


def test_an_index_whose_helper_was_killed_is_computed_by_another(planted, monkeypatch):
    monkeypatch.setattr(piece_index, "MIN_INDEXED", 10)
    with Tree(str(planted)) as tree:
        cache = TreeCache(tree, Store(1 << 30))
        while cache.prepare():
            pass
        builder = cache.store.index._builder
        until(lambda: not builder.is_busy, "the helper has ended")
        builder.take_finished()
        builder._closed = True  # the helper is killed as soon as it runs
        for failures in range(1, MAX_FAILURES):
            builder.start(cache.store.index.cut_unindexed())
            until(lambda: not builder.is_busy, "the helper has ended")
            assert (builder._failures, builder.is_broken, builder.take_finished()) == (failures, False, [])
        builder._closed = False
        builder.start(cache.store.index.cut_unindexed())
        until(lambda: not builder.is_busy, "the helper has ended")
        assert builder.take_finished()
        assert builder._failures == 0
        cache.close()


def test_an_index_whose_helpers_all_fail_is_given_up(planted, monkeypatch):
    monkeypatch.setattr(piece_index, "MIN_INDEXED", 10)
    monkeypatch.setattr(signatures, "__file__", str(planted / "no such program"))
    with Tree(str(planted)) as tree:
        cache = TreeCache(tree, Store(1 << 30))
        for _ in range(MAX_FAILURES):
            while cache.prepare():
                pass
            until(lambda: not cache.store.index._builder.is_busy, "the helper has ended")
        assert cache.store.index._builder.is_broken
        cache.close()


def test_an_idle_server_does_nothing(planted, pipe):
    server = pipe()
    warm(server)

    def cpu():
        fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        return fields[11:13], [line for line in status.splitlines() if "ctxt_switches" in line]

    def nothing_for_a_second():
        before = cpu()
        time.sleep(1)
        return cpu() == before

    # It may still have something to prepare.
    until(nothing_for_a_second, "the server does nothing")


def test_a_server_ends_while_it_prepares(planted, pipe):
    for number in range(2000):
        (planted / f"g{number}.txt").write_text("filler\n" * 50)
    server = pipe()
    server.ask("stat", path=".")
    assert server.close() == (0, b"")


def test_with_the_cache_switched_off_every_answer_is_the_same(planted, pipe):
    server, plain, tiny = pipe(), pipe("--no-cache"), pipe("--cache-bytes", "2000")
    warm(server)
    assert asked(server) == asked(plain) == asked(tiny)
    (planted / "d" / "a.txt").write_text("needle\n")
    assert asked(server) == asked(plain) == asked(tiny)
    assert plain.ask("grep", pattern="no such thing")["result"]["metrics"]["files_scanned"] > 40


def watches() -> int:
    """How many files and directories this process watches."""
    return sum(
        Path(f"/proc/self/fdinfo/{name}").read_text().count("inotify wd:")
        for name in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fdinfo/{name}")
    )


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("grep", {"pattern": "x", "paths": ["no/such.txt"]}),
        ("list_files", {"glob": "no/such.txt"}),
        ("list_files", {"include_hidden": True}),
        ("read_file", {"path": "no/such.txt"}),
    ],
)
def test_hidden_files_are_not_held_because_of_names(planted, both, op, args):
    corpus, server, cold = both
    for number in range(50):
        (planted / f".hidden{number}").write_text("needle\n")
    prepare(corpus)
    before = watches()
    answer = json.loads(server.ask("1", op, args).line)
    assert answer["ok"] == json.loads(cold.ask("1", op, args).line)["ok"]
    prepare(corpus)
    assert watches() == before
    assert (
        len(json.loads(server.ask("1", "grep", {"pattern": "needle", "include_hidden": True}).line)["result"]["hits"])
        > 49
    )
    prepare(corpus)
    assert watches() >= before + 50
