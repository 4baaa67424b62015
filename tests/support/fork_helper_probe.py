"""A process with a single thread, which may make a copy of itself: asks alone and with help, and tells any difference.

Reads one JSON value per line, `{"root": ..., "requests": [...]}`, and prints one line for each: `[]`, or what is wrong.
"""

import itertools
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.cold import ColdCorpus
from zeno.search.corpus import Query, Search, SearchedFile
from zeno.search.fork_helper import possible
from zeno.search.skipped import Skipped
from zeno.session.server import Server
from zeno.text.path_names import printed_entry
from zeno.text.regex import searcher


def wait_for_helper() -> None:
    """Wait until the other process has ended, and leave it to whoever started it."""
    with suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)


class PatientCorpus(ColdCorpus):
    """After the first file with a hit it lets the other process do all the rest."""

    def _found(
        self, search: Search, paths: Sequence[str], query: Query, meter: Meter, skipped: Skipped
    ) -> Iterator[SearchedFile]:
        for found in super()._found(search, paths, query, meter, skipped):
            wait_for_helper()
            yield found


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
    query = Query(pattern, False, True, searcher(pattern, "pattern", literal=True), 50_000)
    meter, skipped = Meter(), Skipped()
    hits: list[object] = []
    search = corpus.search(paths, query, meter, skipped)
    for found in search:
        if indexes := list(found.matching):
            hits.append((found.path, indexes, [found.lines[index] for index in indexes]))
        if len(hits) == enough:
            search.count_only()
    return hits, skipped, meter.files_scanned, meter.bytes_read


def differences(root: str, requests: list[dict[str, Any]]) -> list[str]:
    found = []
    with Tree(root) as tree:
        before = descriptors()
        alone = ColdCorpus(tree, shared_from=sys.maxsize, shared_directories=sys.maxsize)
        # Names that are there no more, or are no files, as if somebody had changed the tree after it was listed.
        paths = sorted({*map(printed_entry, os.listdir(root)), "gone", "gone/x", " first/x", "d/\0ff"})
        for kind in (ColdCorpus, PatientCorpus):
            helped = kind(tree, shared_from=1, part=2, shared_directories=1)
            for request in requests:
                line = json.dumps(request).encode()
                answers = [Server(corpus, clock=lambda: 0).answer(line) for corpus in (alone, helped)]
                if answers[0] != answers[1]:
                    found.append(f"{kind.__name__}: {line!r}: {answers[0]!r} became {answers[1]!r}")
                found += left_over()
            for pattern, enough in itertools.product(("ab", "\ufffd"), (1, 100)):
                told = [searched(corpus, paths, pattern, enough) for corpus in (alone, helped)]
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
