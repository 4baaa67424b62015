"""The interface between operations and the files they search. `ColdCorpus` and `WarmCorpus` implement it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.line_view import Lines
from zeno.search.plan import Plan
from zeno.search.selection import Candidates, Rules
from zeno.text.regex import Matches


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

    @property
    def warm(self) -> bool:
        """Whether files are listed and searched in memory."""
        ...

    def before_fork(self) -> None:
        """Bring what is held up to date, so that a forked copy may use it as it is."""
        ...

    def in_fork(self) -> None:
        """Called in a forked copy: use what is held as it is. Events of the kernel belong to the parent."""
        ...

    def idle(self) -> bool:
        """Use a moment in which nobody asks, a few milliseconds at most; False when there is nothing to do."""
        ...

    def close(self) -> None:
        """Let go of everything but the tree."""
        ...


def planned_for(query: Query) -> Plan:
    """How to look for it."""
    return Plan(query.pattern, regex=query.regex, case_sensitive=query.case_sensitive)
