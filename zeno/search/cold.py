"""A corpus that walks and reads the disk for every request. It keeps only facts about contents between requests.

From some hundred directories on two processes walk the tree, which takes little more than half as long.
"""

from collections.abc import Iterable, Iterator

from zeno.code.table import FactTable
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import Unlisted, WalkedNames, list_directory, walk_runs
from zeno.meter import Meter
from zeno.search.corpus import Corpus, Query, Sink, Skipped, Snapshot
from zeno.search.fork_helper import ForkHelper, possible
from zeno.search.loop import SearchFiles, Sharing, search
from zeno.search.selection import Candidates, Selection, SelectionRules, name_rules, select

# With fewer files a second process costs more than it saves.
SHARED_FROM = 1000
# Number of files that a process claims at a time: small, so that neither waits long for the other at the end.
PART = 64

# With fewer directories to enter a second process costs more than it saves.
SHARED_DIRECTORIES = 256

# Levels that are listed by one process before that number is known.
_LEVELS = 4

# No name has a lone surrogate: bytes that are not UTF-8 are printed in another way.
_PATH, _RUN = "\udffe", "\udfff"


class ColdCorpus(Corpus):
    """Walks the tree and reads files for every request."""

    tree: Tree

    def __init__(
        self,
        tree: Tree,
        *,
        facts: FactTable | None = None,
        shared_from: int = SHARED_FROM,
        part: int = PART,
        shared_directories: int = SHARED_DIRECTORIES,
    ) -> None:
        """Search with a second process from `shared_from` files on, and walk with one from that many directories on."""
        super().__init__(tree, facts or FactTable())
        self.sharing = Sharing(shared_from, part)
        self._shared_directories = shared_directories

    def snapshot(self, rules: SelectionRules, start: str = "") -> Snapshot:
        """Walk the tree."""
        return ColdSnapshot(self, self.walk(rules, start))

    def walk(self, rules: SelectionRules, start: str) -> Candidates:
        """Return the candidates that a walk finds."""
        return select(walk_shared(self.tree, name_rules(rules), start, self._shared_directories), rules, start)


class ColdSnapshot(Snapshot):
    """The candidates that one walk found."""

    def __init__(self, corpus: ColdCorpus, candidates: Candidates) -> None:
        super().__init__(candidates)
        self._corpus = corpus

    def search(self, selection: Selection, query: Query, sink: Sink, meter: Meter) -> Skipped:
        """Search them on disk."""
        files = SearchFiles(self.paths(selection))
        return search(self._corpus.tree, files, query, sink, meter, self._corpus.sharing)


def walk_shared(
    tree: Tree, by_name: NameRules, start: str, shared_from: int = SHARED_DIRECTORIES
) -> Iterator[WalkedNames]:
    """Yield all names under the root in order, from `start` on; the caller may stop at any point.

    A second process walks a part of them if `shared_from` directories are left to enter four levels down or higher.
    """
    if start or tree.policy.ignored:
        yield from walk_runs(tree, by_name, start)
        return
    items: list[WalkedNames | Unlisted] = [Unlisted("", by_name.begin())]
    for level in range(_LEVELS):
        # To list a directory before the walk enters it takes time, which only a second process saves.
        if not 0 < _count_unlisted(items) < shared_from or (level and not possible()):
            break
        items = [
            found
            for item in items
            for found in (list_directory(tree, by_name, item) if isinstance(item, Unlisted) else [item])
        ]

    def below(part: Iterable[int]) -> Iterator[WalkedNames]:
        for index in part:
            item = items[index]
            if isinstance(item, Unlisted):
                yield from walk_runs(tree, by_name, start, item)
            else:
                yield item

    if _count_unlisted(items) < shared_from or not possible():
        yield from below(range(len(items)))
        return
    with ForkHelper(len(items), lambda part: _pack(below(part)), 1) as helper:
        for part, packed in helper.results():
            yield from below(part) if packed is None else _unpack(packed)


def _count_unlisted(items: Iterable[WalkedNames | Unlisted]) -> int:
    return sum(isinstance(item, Unlisted) for item in items)


def _pack(found: Iterable[WalkedNames]) -> bytes:
    return _RUN.join(_PATH.join((problem or "", *paths)) for paths, problem in found).encode(errors="surrogatepass")


def _unpack(packed: bytes) -> Iterator[WalkedNames]:
    for run in packed.decode(errors="surrogatepass").split(_RUN) if packed else ():
        problem, *paths = run.split(_PATH)
        yield WalkedNames(paths, problem or None)
