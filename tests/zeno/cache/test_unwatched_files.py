"""Files beyond the limit of watches: their texts are held, and compared with the disk before each use."""

import os
import subprocess
import time

import pytest

from tests.support.patience import until
from tests.support.planting import answers, prepare
from tests.support.unwatched import few_watches, settle
from tests.zeno.cache.test_freshness import CHANGES
from zeno.cache.watch import Watches
from zeno.files import batch_open


@pytest.fixture
def unwatched(planted, both):
    """A warm server without watches of files, and a cold one."""
    with few_watches(0):
        settle(planted)
        prepare(both[0])
        yield both


def stamped(corpus):
    return {path for path, entry in corpus._cache.entries.items() if entry.stamp is not None}


def test_texts_are_held_without_watches(planted, unwatched):
    corpus, server, cold = unwatched
    assert len(stamped(corpus)) > 40
    assert answers(server) == answers(cold)
    found = server.ask("1", "grep", {"pattern": "no such thing"})
    assert b'"files_scanned":0' in found.result


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_request_sees(planted, unwatched, change):
    corpus, server, cold = unwatched
    before = answers(server)
    subprocess.run(["sh", "-ec", CHANGES[change]], cwd=planted, check=True)
    after = answers(server)
    assert after == answers(cold)
    assert after != before
    settle(planted)
    prepare(corpus)
    assert answers(server) == after


def test_a_file_that_changed_just_now_is_read_from_disk_until_its_change_time_is_settled(planted, both):
    corpus, server, cold = both
    with few_watches(0), pytest.MonkeyPatch.context() as patch:
        settle(planted)
        patch.setattr(batch_open, "SETTLED", 10**18)
        prepare(corpus)
        assert stamped(corpus) == set()
        assert answers(server) == answers(cold)
        patch.setattr(batch_open, "SETTLED", 1)
        # Those that were left are read after the next request once they may be, without any event.
        settle(planted)
        answers(server)
        assert corpus.has_pending_work
        prepare(corpus)
        assert len(stamped(corpus)) > 40
        assert answers(server) == answers(cold)


def test_a_file_system_without_change_times_is_not_held_without_watches(planted, both, monkeypatch):
    corpus, server, cold = both
    monkeypatch.setattr(Watches, "has_change_times", lambda *_: False)
    with few_watches(0):
        settle(planted)
        prepare(corpus)
        assert stamped(corpus) == set()
        assert answers(server) == answers(cold)


def test_a_stamp_is_only_given_to_a_change_time_that_is_settled(planted, both, monkeypatch):
    tree = both[0].tree
    with tree.batch_opener() as opener:
        opener.open(b"d/a.txt")
        assert opener.stamp() is None
        monkeypatch.setattr(batch_open, "SETTLED", 0)
        status = os.stat(planted / "d/a.txt")
        until(lambda: time.time_ns() > status.st_ctime_ns, "the clock has gone on")
        assert opener.stamp() == (status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
