"""Files as operations see and search them: the interface `Corpus`, and `ColdCorpus`, which walks and reads the disk.

An operation takes one snapshot for its rules, selects files in it and searches them. Its sink takes the files that may
match, and says whether it wants more of them. `loop` is the search itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator

from zeno.code.table import FactTable
from zeno.errors import InvalidArgs
from zeno.files.file_tree import FileTree, SearchedTree
from zeno.files.open_file import TextFile
from zeno.files.rules import NameRules
from zeno.files.tree import Tree
from zeno.files.walk import Unlisted, WalkedNames, begin_walk, list_level, walk_runs
from zeno.meter import Meter
from zeno.ranking.places import PlaceTables
from zeno.search.fork_helper import ForkHelper, possible
from zeno.search.loop import SearchFiles, search
from zeno.search.query import Query
from zeno.search.selection import MAX_SELECTIONS, Candidates, Recent, Rules, Selection, select
from zeno.search.sink import Sink, Skipped
from zeno.search.word_counts import WordCounts
from zeno.text.path_names import Paths

# With fewer directories to enter a second process costs more than it saves.
SHARED_DIRECTORIES = 256

# Levels that are listed by one process before that number is known.
_LEVELS = 4


class Snapshot:
    """The files that some rules leave at one moment. Use it only for the request that took it."""

    def __init__(self, candidates: Candidates, tree: SearchedTree) -> None:
        self.candidates = candidates
        """These files, sorted and capped, and the names beside them that are no files."""
        self._tree = tree
        self._paths: Recent[tuple[str, ...], Paths] = Recent(MAX_SELECTIONS)
        """Recent selections, by their entries."""

    def paths(self, selection: Selection) -> Paths:
        """Return the candidates that a selection asks for."""
        entries = selection.entries
        if entries is None:
            return selection.of(self.candidates)
        return self._paths.get(entries) or self._paths.keep(entries, selection.of(self.candidates))

    def search(self, selection: Selection, query: Query, sink: Sink, meter: Meter) -> Skipped:
        """Search the candidates that a selection asks for. Return those that cannot be searched."""
        return search(self._tree, self._files(selection, query, meter), query, sink, meter)

    def count_words(self, selection: Selection, query: Query, words: Collection[bytes], meter: Meter) -> WordCounts:
        """Return which of the candidates that a selection asks for have these words. The query finds all texts."""
        counts = WordCounts(self.paths(selection), words, meter)
        counts.skipped = self.search(selection, query, counts, meter)
        return counts

    def _files(self, selection: Selection, _query: Query, _meter: Meter) -> SearchFiles:
        """Return these candidates with what is known of them: by default nothing."""
        return SearchFiles(self.paths(selection))


class Revisions:
    """The commits that requests may ask for: by default none."""

    @property
    def allow_list(self) -> list[str]:
        """Which commits these are: `all`, names, or globs over references. Empty: none."""
        return []

    def at(self, _rev: str, field: str) -> "Corpus":
        """Return the corpus of a commit. Raises InvalidArgs, UnknownRev, ObjectUnavailable or Denied."""
        raise InvalidArgs(f"{field} cannot be given: this server serves no commits")

    @property
    def has_pending_work(self) -> bool:
        """Whether there is background work to do."""
        return False

    def idle(self) -> bool:
        """Do one step of it; return False when nothing is left."""
        return False


class Corpus(ABC):
    """The tree as operations see it. By default nothing of it is kept, so that there is no background work to do."""

    def __init__(self, tree: FileTree, facts: FactTable, parts: "Collection[Corpus]" = ()) -> None:
        self.parts = parts
        """The corpora that it is made of, which do the background work."""
        self.tree = tree
        """The root itself, or the roots, for operations on single paths."""
        self.facts = facts
        """Facts about source code, by the content of files."""
        self.places = PlaceTables()
        """The words in the paths of recent selections."""
        self.revisions = Revisions()
        """The commits that requests may ask for."""

    @abstractmethod
    def snapshot(self, rules: Rules) -> Snapshot:
        """Return the files that the rules leave now.

        Some corpora return the snapshot of an earlier request, but only if the rules still leave the same files:
        `RootsCorpus` takes the same object for the same files.
        """

    def find_text(self, path: str, /) -> TextFile | None:  # noqa: ARG002 - for those that keep texts
        """Return the file at a relative path if its text is in memory. One that the policy denies is not."""
        return None

    def open(self, path: str, field: str = "path") -> TextFile:
        """Return the file at a path, with its text from memory where it is held. Raises what `FileTree.open` raises."""
        return self.find_text(path) or self.tree.open(path, field)

    def is_slow_to_open(self, path: str, /) -> bool:  # noqa: ARG002 - for those that read a file as a whole
        """Whether it takes long to open the file at a path. Raises what `FileTree.place` raises."""
        return False

    def preparations(self) -> list[Callable[[], object]]:
        """Return steps to be run once in idle moments, each of a few milliseconds."""
        return [step for part in self.parts for step in part.preparations()]

    @property
    def has_pending_work(self) -> bool:
        """Whether there is background work to do."""
        return any(part.has_pending_work for part in self.parts)

    @property
    def is_warm(self) -> bool:
        """Whether files are listed and searched in memory."""
        return bool(self.parts) and all(part.is_warm for part in self.parts)

    def warm_up(self) -> None:
        """Called where a request will take long because the corpus is not warm: it may become so in idle moments."""
        for part in self.parts:
            part.warm_up()

    @property
    def event_descriptors(self) -> list[int]:
        """Descriptors that can be read when the tree has changed, so that `idle` has work to do again."""
        return [descriptor for part in self.parts for descriptor in part.event_descriptors]

    def before_fork(self) -> None:
        """Apply all changes to the cache, so that a forked copy can use it without reading events."""
        for part in self.parts:
            part.before_fork()

    def in_fork(self) -> None:
        """Called in a forked copy: from now on, do not read events, which belong to the parent."""
        for part in self.parts:
            part.in_fork()

    def idle(self) -> bool:
        """Do one step of background work, of a few milliseconds; return False when nothing is left to do for now.

        `zeno.session.warm_up` decides when and how often."""
        return any(part.idle() for part in self.parts)

    def close(self) -> None:
        """Release everything but the tree."""
        for part in self.parts:
            part.close()
        self.facts.close()


class ColdCorpus(Corpus):
    """Walks the tree and reads files for every request. It keeps only facts about contents between requests."""

    tree: Tree

    def __init__(self, tree: Tree, facts: FactTable | None = None) -> None:
        super().__init__(tree, facts or FactTable())

    def snapshot(self, rules: Rules) -> Snapshot:
        return Snapshot(self.walk(rules), self.tree)

    def walk(self, rules: Rules) -> Candidates:
        """Return the candidates that a walk finds."""
        return select(walk_shared(self.tree, rules.names, rules.start), rules)


def walk_shared(tree: Tree, by_name: NameRules, start: str) -> Iterator[WalkedNames]:
    """Yield all names under the root in order, from `start` on; the caller may stop at any point.

    A second process walks a part of them if many directories are left to enter four levels down or higher.
    """
    if start or tree.policy.ignored:
        yield from walk_runs(tree, by_name, start)
        return
    items: list[WalkedNames | Unlisted] = [begin_walk(tree, by_name)]
    for level in range(_LEVELS):
        # To list a directory before the walk enters it takes time, which only a second process saves.
        if not 0 < _count_unlisted(items) < SHARED_DIRECTORIES or (level and not possible()):
            break
        items = [found for item in items for found in _list_down(tree, by_name, item)]

    def below(part: Iterable[int]) -> Iterator[WalkedNames]:
        for index in part:
            item = items[index]
            if isinstance(item, Unlisted):
                yield from walk_runs(tree, by_name, start, item)
            else:
                yield item

    if _count_unlisted(items) < SHARED_DIRECTORIES or not possible():
        yield from below(range(len(items)))
        return
    with ForkHelper(len(items), lambda part: list(map(tuple, below(part))), 1) as helper:
        for part, sent in helper.results():
            yield from below(part) if sent is None else map(WalkedNames._make, sent)


def _list_down(tree: Tree, by_name: NameRules, item: WalkedNames | Unlisted) -> list[WalkedNames | Unlisted]:
    """List a directory, and those below it down to one with several: a lone one may hold most of the tree."""
    items = [item]
    for _ in range(_LEVELS):
        if _count_unlisted(items) != 1:
            break
        items = list_level(tree, by_name, items)
    return items


def _count_unlisted(items: Iterable[WalkedNames | Unlisted]) -> int:
    return sum(isinstance(item, Unlisted) for item in items)
