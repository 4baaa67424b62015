"""A corpus that walks and reads the disk for every request. It keeps nothing between requests."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import repeat

from zeno.files.tree import Tree
from zeno.files.walk import runs
from zeno.meter import Meter
from zeno.search.corpus import Query, Search, SearchedFile, planned_for
from zeno.search.disk_reader import MAY_MATCH, Reader
from zeno.search.fork_helper import PART, ForkHelper, possible
from zeno.search.line_view import LineView
from zeno.search.selection import Candidates, Selection, SelectionRules, select
from zeno.search.skipped import Skipped
from zeno.text.path_names import Paths

# With fewer files a second process costs more than it saves.
SHARED_FROM = 1000


class ColdCorpus:
    """Walks the tree and reads files for every request."""

    def __init__(self, tree: Tree, *, shared_from: int = SHARED_FROM, part: int = PART) -> None:
        self.tree = tree
        self._shared_from = shared_from
        self._part = part

    def snapshot(self, rules: SelectionRules, start: str = "") -> "ColdSnapshot":
        """Walk the tree."""
        walked = runs(
            self.tree,
            include_hidden=rules.include_hidden,
            exclude_dirs=frozenset(rules.exclude_dirs),
            gitignore=rules.gitignore,
            start=start,
        )
        return ColdSnapshot(self, select(walked, rules, start))

    def search(self, paths: Sequence[str], query: Query, meter: Meter, skipped: Skipped) -> Search:
        """Read the files at these paths, and ask RE2 about the lines that one pass over a text does not rule out."""
        return Search(lambda search: self._found(search, paths, query, meter, skipped))

    def _found(
        self, search: Search, paths: Sequence[str], query: Query, meter: Meter, skipped: Skipped
    ) -> Iterator[SearchedFile]:
        planned = planned_for(query)
        with ExitStack() as stack:
            reader = stack.enter_context(Reader(self.tree, query.max_bytes, planned, meter, skipped))
            glimpses: Iterator[int | None] = repeat(None)
            # If a scan rules nothing out, a second process saves nothing.
            if len(paths) >= self._shared_from and planned.scan is not None and possible():
                look = lambda index: reader.glimpse(paths[index])  # noqa: E731
                sure = lambda: not reader.doubtful()  # noqa: E731
                glimpses = stack.enter_context(ForkHelper(len(paths), look, self._part, sure)).findings()
            for path, size in zip(paths, glimpses, strict=False):
                whole = not search.counts_only
                if size is not None and size != MAY_MATCH:
                    reader.count(size, whole=whole)
                    continue
                text = reader.text(path, whole=whole)
                if text is not None:
                    lines = LineView(text)
                    yield SearchedFile(path, lines, lines.matching(query.matches, planned.scan))

    def preparations(self) -> list[Callable[[], object]]:
        """There is nothing to prepare."""
        return []

    @property
    def behind(self) -> bool:
        """There is nothing to prepare."""
        return False

    warm = False
    """There is no cache: every walk and search goes to the disk."""

    def before_fork(self) -> None:
        """There is nothing to bring up to date."""

    def in_fork(self) -> None:
        """A copy walks and reads like its parent."""

    def idle(self) -> bool:
        """There is nothing to prepare."""
        return False

    def close(self) -> None:
        """There is nothing to release."""


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
