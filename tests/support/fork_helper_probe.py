"""A process with a single thread, which may make a copy of itself: asks alone and with help, and tells any difference.

Reads one JSON value per line, `{"root": ..., "requests": [...]}`, and prints one line for each: `[]`, or what is wrong.
"""

import itertools
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search import corpus as corpus_module
from zeno.search import loop
from zeno.search.corpus import ColdCorpus, Snapshot
from zeno.search.fork_helper import possible
from zeno.search.loop import SearchFiles, search
from zeno.search.query import Query
from zeno.search.selection import Rules, Selection
from zeno.search.sink import SearchedFile, Sink, Skipped, Wish
from zeno.session.server import Server
from zeno.text.path_names import decode_entry


def wait_for_helper() -> None:
    """Wait until the other process has ended, and leave it to whoever started it."""
    with suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)


class PatientCorpus(ColdCorpus):
    """After the first file with a hit it lets the other process do all the rest."""

    def snapshot(self, rules: Rules) -> Snapshot:
        return PatientSnapshot(super().snapshot(rules).candidates, self.tree)


class PatientSnapshot(Snapshot):
    """The snapshot of such a corpus."""

    def search(self, selection: Selection, query: Query, sink: Sink, meter: Meter) -> Skipped:
        return super().search(selection, query, Patient(sink), meter)


class Patient:
    """A sink that waits for the other process before it takes a file."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    @property
    def wish(self) -> Wish:
        return self._sink.wish

    def take(self, found: SearchedFile) -> None:
        wait_for_helper()
        self._sink.take(found)


class Hits:
    """A sink that takes the hits of so many files."""

    def __init__(self, enough: int) -> None:
        self.hits: list[object] = []
        self._enough = enough

    @property
    def wish(self) -> Wish:
        return Wish.MORE if len(self.hits) < self._enough else Wish.COUNT

    def take(self, found: SearchedFile) -> None:
        if indexes := list(found.matching):
            self.hits.append((found.path, indexes, [found.lines[index] for index in indexes]))


@contextmanager
def sharing(always: bool) -> Iterator[None]:
    """Let a second process help with every list of files and directories, or with none."""
    least = 1 if always else sys.maxsize
    with patch.multiple(loop, SHARED_FROM=least, PART=2), patch.object(corpus_module, "SHARED_DIRECTORIES", least):
        yield


def left_over() -> list[str]:
    """Children that nobody waited for."""
    try:
        return [f"child {os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)}"]
    except ChildProcessError:
        return []


def descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


def searched(corpus: ColdCorpus, paths: list[str], pattern: str, enough: int) -> object:
    """All that a search tells to somebody who wants the hits of so many files."""
    meter, sink = Meter(), Hits(enough)
    query = Query(pattern, "pattern", 50_000, meter)
    patient = Patient(sink) if isinstance(corpus, PatientCorpus) else sink
    skipped = search(corpus.tree, SearchFiles(paths), query, patient, meter)
    return sink.hits, skipped, skipped.first_paths, meter.files_scanned, meter.bytes_read


def differences(root: str, requests: list[dict[str, Any]]) -> list[str]:
    found = []
    with Tree(root) as tree:
        before = descriptors()
        alone = ColdCorpus(tree)
        # Names that are there no more, or are no files, as if somebody had changed the tree after it was listed.
        paths = sorted({*map(decode_entry, os.listdir(root)), "gone", "gone/x", " first/x", "d/\0ff"})
        for kind in (ColdCorpus, PatientCorpus):
            helped = kind(tree)
            for request in requests:
                line = json.dumps(request).encode()
                answers = []
                for corpus in (alone, helped):
                    with sharing(corpus is helped):
                        answers.append(Server(corpus, clock=lambda: 0).answer(line))
                if answers[0] != answers[1]:
                    found.append(f"{kind.__name__}: {line!r}: {answers[0]!r} became {answers[1]!r}")
                found += left_over()
            for pattern, enough in itertools.product(("ab", "\ufffd"), (1, 100)):
                told = []
                for corpus in (alone, helped):
                    with sharing(corpus is helped):
                        told.append(searched(corpus, paths, pattern, enough))
                if told[0] != told[1]:
                    found.append(f"{kind.__name__}: {pattern!r}, {enough}: {told[0]!r} became {told[1]!r}")
                found += left_over()
        if descriptors() != before:
            found.append(f"descriptors {before} became {descriptors()}")
    return found


if __name__ == "__main__":
    assert possible(), "nothing can be shared here"
    for message in sys.stdin:
        print(json.dumps(differences(**json.loads(message))), flush=True)
