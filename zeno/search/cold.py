"""A corpus that walks and reads the disk for every request. It keeps only facts about contents between requests."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import repeat

from zeno.code.table import FactTable
from zeno.files.file_tree import TextFile
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.corpus import Query, Search, SearchedFile, planned_for
from zeno.search.disk_reader import MAY_MATCH, Reader
from zeno.search.fork_helper import ForkHelper, possible
from zeno.search.line_view import LineView
from zeno.search.selection import Candidates, Selection, SelectionRules, select
from zeno.search.shared_walk import SHARED_DIRECTORIES, names
from zeno.search.skipped import Skipped
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
        self._shared_from = shared_from
        self._part = part
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

    def search(self, paths: Sequence[str], query: Query, meter: Meter, skipped: Skipped) -> Search:
        """Read the files at these paths, and ask RE2 about the lines that one pass over a text does not rule out."""
        return Search(lambda search: self._found(search, paths, query, meter, skipped))

    def _found(
        self, search: Search, paths: Sequence[str], query: Query, meter: Meter, skipped: Skipped
    ) -> Iterator[SearchedFile]:
        planned = planned_for(query)
        with ExitStack() as stack:
            reader = stack.enter_context(Reader(self.tree, query.max_bytes, planned, meter, skipped))
            parts: Iterator[tuple[range, bytes | None]] = iter([(range(len(paths)), None)])
            # If a scan rules nothing out, a second process saves nothing.
            if len(paths) >= self._shared_from and planned.scan is not None and possible():
                glimpse = lambda part: array("q", (reader.glimpse(paths[index]) for index in part)).tobytes()  # noqa: E731
                sure = lambda: not reader.doubtful()  # noqa: E731
                parts = stack.enter_context(ForkHelper(len(paths), glimpse, self._part, sure)).results()
            for part, glimpses in parts:
                sizes = repeat(MAY_MATCH) if glimpses is None else array("q", glimpses)
                for index, size in zip(part, sizes, strict=False):
                    whole = not search.counts_only
                    if size != MAY_MATCH:
                        reader.count(paths[index], size, whole=whole)
                        continue
                    text = reader.text(paths[index], whole=whole)
                    if text is not None:
                        lines = LineView(text)
                        yield SearchedFile(paths[index], lines, lines.matching(query.matches, planned.scan))

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

    def search(self, selection: Selection, query: Query, meter: Meter, skipped: Skipped) -> Search:
        """Search them on disk."""
        return self._corpus.search(self.paths(selection), query, meter, skipped)
