"""The seam between operations and the way files are found: one small interface, and the plain way behind it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import repeat
from typing import NamedTuple, Protocol

from zeno.meter import Meter
from zeno.patterns import Matches
from zeno.search.halves import PART, Halves, possible
from zeno.search.lines import Lines
from zeno.search.plan import Plan
from zeno.search.reader import WORTH_READING, Reader
from zeno.search.selection import Candidates, Rules, select
from zeno.tree import Tree
from zeno.walk import runs

# From how many files on two processes are worth while.
SHARED_FROM = 1000


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

    def candidates(self, rules: Rules, start: str = "") -> Candidates:
        """The files that the rules leave, from the path `start` on, sorted and capped."""
        ...

    def search(self, paths: Sequence[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
        """The files among `paths` that have matching lines, in order; what could not be searched is counted by reason.

        A file may be yielded whose `matching` turns out empty. Whoever has enough stops asking for `matching`, but
        goes on to the last file: only then does `skipped` cover all `paths`, wherever the hits were enough.
        """
        ...

    def idle(self) -> bool:
        """Use a moment in which nobody asks, a few milliseconds at most; False when there is nothing to do."""
        ...

    def close(self) -> None:
        """Let go of everything but the tree."""
        ...


class ColdCorpus:
    """Walks and reads anew for every request."""

    def __init__(self, tree: Tree, *, shared_from: int = SHARED_FROM, part: int = PART) -> None:
        self.tree = tree
        self._shared_from = shared_from
        self._part = part

    def candidates(self, rules: Rules, start: str = "") -> Candidates:
        """Walk the tree."""
        walked = runs(
            self.tree,
            include_hidden=rules.include_hidden,
            exclude_dirs=frozenset(rules.exclude_dirs),
            gitignore=rules.gitignore,
            start=start,
        )
        return select(walked, rules, start)

    def search(self, paths: Sequence[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
        """Read each file, and ask RE2 about the lines that one pass over its text does not rule out."""
        planned = planned_for(query)
        with ExitStack() as stack:
            reader = stack.enter_context(Reader(self.tree, query.max_bytes, planned, meter, skipped))
            glimpses: Iterator[int | None] = repeat(None)
            # Where nothing can be ruled out at a glance, another process could not spare us a file.
            if len(paths) >= self._shared_from and planned.scan is not None and possible():
                halves = stack.enter_context(Halves(len(paths), lambda index: reader.glimpse(paths[index]), self._part))
                glimpses = halves.told()
            enough = False
            for path, size in zip(paths, glimpses, strict=False):
                if size is not None and size != WORTH_READING:
                    reader.count(size, whole=not enough)
                    continue
                text = reader.text(path, whole=not enough)
                if text is not None:
                    lines = Lines(text)
                    yield Found(path, lines, lines.matching(query.matches, planned.scan))
                    enough = not lines.asked

    def idle(self) -> bool:
        """There is nothing to prepare."""
        return False

    def close(self) -> None:
        """There is nothing to let go of."""


def planned_for(query: Query) -> Plan:
    """How to look for it."""
    return Plan(query.pattern, regex=query.regex, case_sensitive=query.case_sensitive)
