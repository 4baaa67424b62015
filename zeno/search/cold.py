"""A corpus that walks and reads the disk for every request. It keeps only facts about contents between requests."""

from collections.abc import Callable

from zeno.code.table import FactTable
from zeno.files.file_tree import TextFile
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.corpus import Query, Sink, Skipped
from zeno.search.loop import Sharing, Unheld, search
from zeno.search.selection import Candidates, Selection, SelectionRules, select
from zeno.search.shared_walk import SHARED_DIRECTORIES, names
from zeno.text.path_names import Paths

# With fewer files a second process costs more than it saves.
SHARED_FROM = 1000
# Number of files that a process claims at a time: small, so that neither waits long for the other at the end.
PART = 64


class ColdCorpus:
    """Walks the tree and reads files for every request."""

    def __init__(
        self,
        tree: Tree,
        *,
        shared_from: int = SHARED_FROM,
        part: int = PART,
        shared_directories: int = SHARED_DIRECTORIES,
    ) -> None:
        """Search with a second process from `shared_from` files on, and walk with one from that many directories on."""
        self.tree = tree
        self.facts = FactTable()
        self.sharing = Sharing(shared_from, part)
        self._shared_directories = shared_directories

    def snapshot(self, rules: SelectionRules, start: str = "") -> "ColdSnapshot":
        """Walk the tree."""
        return ColdSnapshot(self, select(names(self.tree, rules, start, self._shared_directories), rules, start))

    def find_text(self, _path: str, /) -> TextFile | None:
        """Nothing is in memory."""
        return None

    def open(self, path: str, field: str = "path") -> TextFile:
        """Open a file on disk."""
        return self.tree.open(path, field)

    def preparations(self) -> list[Callable[[], object]]:
        """There is nothing to prepare."""
        return []

    @property
    def behind(self) -> bool:
        """There is nothing to prepare."""
        return False

    warm = False
    """There is no cache: every walk and search goes to the disk."""

    @property
    def event_descriptors(self) -> list[int]:
        """Changes are of no interest."""
        return []

    def before_fork(self) -> None:
        """There is nothing to bring up to date."""

    def in_fork(self) -> None:
        """A copy walks and reads like its parent."""

    def idle(self) -> bool:
        """There is nothing to prepare."""
        return False

    def close(self) -> None:
        """End the processes that parse."""
        self.facts.close()


class ColdSnapshot:
    """The candidates that one walk found."""

    def __init__(self, corpus: ColdCorpus, candidates: Candidates) -> None:
        self._corpus = corpus
        self.candidates = candidates

    def paths(self, selection: Selection) -> Paths:
        """The candidates that a selection asks for."""
        return selection.of(self.candidates)

    def search(self, selection: Selection, query: Query, sink: Sink, meter: Meter) -> Skipped:
        """Search them on disk."""
        files = Unheld(self.paths(selection), Skipped())
        return search(self._corpus.tree, files, query, sink, meter, self._corpus.sharing)
