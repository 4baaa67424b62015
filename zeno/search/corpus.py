"""The interface between operations and the files they search. Each kind of corpus extends it.

An operation takes one snapshot for its rules, selects files in it and searches them. Its sink takes the files that may
match, and says whether it wants more of them. `loop` is the search itself.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from typing import ClassVar, Literal, NamedTuple, Protocol

from zeno.code.table import FactTable
from zeno.errors import InvalidArgs
from zeno.files.file_tree import FileTree, TextFile
from zeno.meter import Meter
from zeno.search.line_view import LineView
from zeno.search.selection import Candidates, Selection, SelectionRules
from zeno.text.path_names import Paths
from zeno.text.regex import Matches

SkipReason = Literal["binary", "large", "unreadable"]

MAX_NAMED = 5
"""How many files a result names."""
# Names are sorted and cut when so many have come together.
_ROOM = 256


class Skipped(Counter[SkipReason]):
    """Numbers of files by reason. A search adds to it until it has been iterated to its end."""

    def __init__(self) -> None:
        super().__init__()
        self._named: list[tuple[str, SkipReason]] = []

    def add(self, path: str, reason: SkipReason) -> None:
        """Count a file."""
        self[reason] += 1
        # A binary file has no lines: that it was not searched is no gap.
        if reason != "binary":
            self._named.append((path, reason))
            if len(self._named) > _ROOM:
                self._named = self.named

    def add_all(self, others: "Skipped", prefix: str = "") -> None:
        """Count files that were counted elsewhere, with a prefix before their paths."""
        self.update(others)
        self._named += [(prefix + path, reason) for path, reason in others._named]

    @property
    def named(self) -> list[tuple[str, SkipReason]]:
        """The first files that make an answer incomplete, sorted by path, with their reasons."""
        return sorted(self._named)[:MAX_NAMED]


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


class Wish(Enum):
    """A wish of the consumer of a search."""

    MORE = "more files"
    COUNT = "only the number of files that cannot be searched"
    STOP = "nothing"


class Sink(Protocol):
    """The consumer of a search. It is asked for its wish before each file."""

    @property
    def wish(self) -> Wish:
        """Its wish for the next file."""
        ...

    def take(self, found: SearchedFile) -> None:
        """Take a file that may have matching lines. Files come sorted by path."""
        ...


class Snapshot(ABC):
    """The files that some rules leave at one moment. Use it only for the request that took it."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        """These files, sorted and capped, and the names beside them that are no files."""

    def paths(self, selection: Selection) -> Paths:
        """Return the candidates that a selection asks for."""
        return selection.of(self.candidates)

    @abstractmethod
    def search(self, selection: Selection, query: Query, sink: Sink, meter: Meter) -> Skipped:
        """Search the candidates that a selection asks for. Return those that cannot be searched."""


class Revisions(Protocol):
    """The commits that requests may ask for."""

    @property
    def allowed(self) -> list[str]:
        """Which commits these are: `all`, names, or globs over references. Empty: none."""
        ...

    def at(self, rev: str, field: str) -> "Corpus":
        """Return the corpus of a commit. Raises InvalidArgs, UnknownRev, ObjectUnavailable or Denied."""
        ...


class NoRevisions:
    """No commits."""

    allowed: ClassVar[list[str]] = []

    def at(self, _rev: str, field: str) -> "Corpus":
        """Raise InvalidArgs."""
        raise InvalidArgs(f"{field} cannot be given: this server serves no commits")


class Corpus(ABC):
    """The tree as operations see it. By default nothing of it is kept, so that there is no background work to do."""

    def __init__(self, tree: FileTree, facts: FactTable) -> None:
        self.tree = tree
        """The root itself, or the roots, for operations on single paths."""
        self.facts = facts
        """Facts about source code, by the content of files."""
        self.revisions: Revisions = NoRevisions()
        """The commits that requests may ask for."""

    @abstractmethod
    def snapshot(self, rules: SelectionRules, start: str = "") -> Snapshot:
        """Return the files that the rules leave now, from the path `start` on.

        A warm corpus may return the snapshot of an earlier request, but only if the rules still leave the same files:
        `RootsCorpus` takes the same object for the same files.
        """

    def find_text(self, path: str, /) -> TextFile | None:  # noqa: ARG002 - for those that keep texts
        """Return the file at a relative path if its text is in memory. One that the policy denies is not."""
        return None

    def open(self, path: str, field: str = "path") -> TextFile:
        """Return the file at a path, with its text from memory where it is held. Raises what `FileTree.open` raises."""
        return self.find_text(path) or self.tree.open(path, field)

    def preparations(self) -> list[Callable[[], object]]:
        """Return steps to be run once in idle moments, each of a few milliseconds."""
        return []

    @property
    def has_pending_work(self) -> bool:
        """Whether there is background work to do."""
        return False

    @property
    def is_warm(self) -> bool:
        """Whether files are listed and searched in memory."""
        return False

    @property
    def event_descriptors(self) -> list[int]:
        """Descriptors that can be read when the tree has changed, so that `idle` has work to do again."""
        return []

    def before_fork(self) -> None:  # noqa: B027 - nothing to do by default
        """Apply all changes to the cache, so that a forked copy can use it without reading events."""

    def in_fork(self) -> None:  # noqa: B027 - nothing to do by default
        """Called in a forked copy: from now on, do not read events, which belong to the parent."""

    def idle(self) -> bool:
        """Do one step of background work, of a few milliseconds; return False when nothing is left to do for now.

        `zeno.session.warm_up` decides when and how often."""
        return False

    def close(self) -> None:
        """Release everything but the tree."""
        self.facts.close()
