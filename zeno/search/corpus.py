"""The seam between operations and the way files are found: one small interface, and the plain way behind it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from zeno.errors import NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.meter import Meter
from zeno.patterns import Matches
from zeno.search.lines import Lines
from zeno.search.selection import Candidates, Rules, select
from zeno.text import normal
from zeno.tree import Tree


class Query(NamedTuple):
    """What grep looks for in the files it looks at."""

    pattern: str
    regex: bool
    case_sensitive: bool
    matches: Matches
    """RE2's verdict on one line: it decides, anything faster may only narrow what it is asked about."""
    max_bytes: int


class Found(NamedTuple):
    """The lines of one file that match."""

    path: str
    lines: Lines
    """All lines of the file as valid UTF-8, without their ends; index and slice it like a list."""
    matching: Iterator[int]
    """Indexes into `lines`, in order, found as they are asked for."""


class Corpus(Protocol):
    """The tree as operations see it."""

    @property
    def tree(self) -> Tree:
        """The root itself, for operations on single paths."""
        ...

    def candidates(self, rules: Rules) -> Candidates:
        """The files that the rules leave, sorted and capped."""
        ...

    def search(self, paths: Iterable[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
        """The files among `paths` that have matching lines, in order; what could not be searched is counted by reason.

        A file may be yielded whose `matching` turns out empty. Whoever has enough stops asking for `matching`, but
        goes on to the last file: only then does `skipped` cover all `paths`, wherever the hits were enough.
        """
        ...


class ColdCorpus:
    """Walks and reads anew for every request."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def candidates(self, rules: Rules) -> Candidates:
        """Walk the tree."""
        return select(self.tree.walk(rules.include_hidden, frozenset(rules.exclude_dirs)), rules)

    def search(self, paths: Iterable[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
        """Read each file and ask RE2 about each of its lines."""
        for path in paths:
            lines = _lines(path, query.max_bytes, self.tree, meter, skipped)
            yield Found(path, lines, lines.matching(query.matches))


def _lines(path: str, max_bytes: int, tree: Tree, meter: Meter, skipped: "Counter[str]") -> Lines:
    """The lines of a file, or none with the reason counted."""
    try:
        with tree.open(path) as file:
            if file.size > max_bytes:
                skipped["large"] += 1
                return Lines(b"")
            if file.is_binary:
                skipped["binary"] += 1
                return Lines(b"")
            data = file.read()
            meter.scanned(file.bytes_read)
    except (NotFound, NotAFile, OutsideRoot, PermissionDenied):
        skipped["unreadable"] += 1
        return Lines(b"")
    return Lines(normal(data))
