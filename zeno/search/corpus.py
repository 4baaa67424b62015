"""The interface between operations and the files they search. `ColdCorpus` and `WarmCorpus` implement it.

An operation takes one snapshot for its rules, selects files in it and searches them. While it reads the hits it may
call `Search.count_only` to ask for no more of them.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from zeno.code.table import FactTable
from zeno.files.file_tree import FileTree, TextFile
from zeno.meter import Meter
from zeno.search.line_view import LineView
from zeno.search.multiline import plan_for_text
from zeno.search.plan import Plan
from zeno.search.selection import Candidates, Selection, SelectionRules
from zeno.search.skipped import Skipped
from zeno.text.path_names import Paths
from zeno.text.regex import Matches


class Query(NamedTuple):
    """The pattern of a grep request, and how large a file may be."""

    pattern: str
    regex: bool
    case_sensitive: bool
    matches: Matches
    """RE2's verdict on one line. It decides; anything faster may only reduce the lines it is asked about."""
    max_bytes: int
    states: int = 1
    """The states of the pattern, where the search may be interrupted."""
    multiline: bool = False
    """Whether a match may run over several lines. `LineView.spans` finds such matches."""


class SearchedFile(NamedTuple):
    """One file that may have matching lines."""

    path: str
    lines: LineView
    """All lines of the file as valid UTF-8, without their ends; index and slice it like a list."""
    matching: Iterator[int]
    """Indexes into `lines` of the lines that match, in order, found as they are asked for. There may be none.

    Matches of several lines are found by `lines.spans`."""


class Search:
    """A search under way: iterate over it for the files that may have matching lines, sorted by path.

    It has to be iterated to its end, because the files that cannot be searched are counted on the way. A consumer that
    needs no more hits calls `count_only` first; then no further file is yielded, and the rest is only counted.
    """

    def __init__(self, find: Callable[["Search"], Iterator[SearchedFile]]) -> None:
        self.counts_only = False
        """Whether the consumer wants no more files."""
        self._found = find(self)

    def __iter__(self) -> Iterator[SearchedFile]:
        return self._found

    def count_only(self) -> None:
        """Ask for no more files: only count those that cannot be searched."""
        self.counts_only = True


class Snapshot(Protocol):
    """The files that some rules leave at one moment. Use it only for the request that took it."""

    @property
    def candidates(self) -> Candidates:
        """These files, sorted and capped, and the names beside them that are no files."""
        ...

    def paths(self, selection: Selection) -> Paths:
        """The candidates that a selection asks for."""
        ...

    def search(self, selection: Selection, query: Query, meter: Meter, skipped: Skipped) -> Search:
        """Search the candidates that a selection asks for. Those that cannot be searched are counted in `skipped`."""
        ...


class Corpus(Protocol):
    """The tree as operations see it."""

    @property
    def tree(self) -> FileTree:
        """The root itself, or the roots, for operations on single paths."""
        ...

    @property
    def facts(self) -> FactTable:
        """Facts about source code, by the content of files."""
        ...

    def snapshot(self, rules: SelectionRules, start: str = "") -> Snapshot:
        """Return the files that the rules leave now, from the path `start` on.

        A warm corpus may return the snapshot of an earlier request, but only if the rules still leave the same files:
        `RootsCorpus` takes the same object for the same files.
        """
        ...

    def find_text(self, path: str, /) -> TextFile | None:
        """Return the file at a relative path if its text is in memory. One that the policy denies is not."""
        ...

    def open(self, path: str, field: str = "path") -> TextFile:
        """Return the file at a path, with its text from memory where it is held. Raises what `FileTree.open` raises."""
        ...

    def preparations(self) -> list[Callable[[], object]]:
        """Steps to be run once in idle moments, each of a few milliseconds."""
        ...

    @property
    def behind(self) -> bool:
        """Whether there is background work to do."""
        ...

    @property
    def warm(self) -> bool:
        """Whether files are listed and searched in memory."""
        ...

    @property
    def event_descriptors(self) -> list[int]:
        """Descriptors that can be read when the tree has changed, so that `idle` has work to do again."""
        ...

    def before_fork(self) -> None:
        """Apply all changes to the cache, so that a forked copy can use it without reading events."""
        ...

    def in_fork(self) -> None:
        """Called in a forked copy: from now on, do not read events, which belong to the parent."""
        ...

    def idle(self) -> bool:
        """Do one step of background work, of a few milliseconds; return False when nothing is left to do for now.

        `zeno.session.warm_up` decides when and how often."""
        ...

    def close(self) -> None:
        """Release everything but the tree."""
        ...


def planned_for(query: Query) -> Plan:
    """Return how to look for the pattern of a query."""
    plan = plan_for_text if query.multiline else Plan
    return plan(query.pattern, regex=query.regex, case_sensitive=query.case_sensitive)
