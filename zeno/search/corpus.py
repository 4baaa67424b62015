"""The seam between operations and the way files are found: one small interface, and the plain way behind it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import NamedTuple, Protocol

from zeno.descent import Content, Descent
from zeno.errors import NotAFile, NotFound, OutsideRoot, PermissionDenied
from zeno.meter import Meter
from zeno.names import raw
from zeno.patterns import Matches
from zeno.search.lines import Lines
from zeno.search.plan import Plan
from zeno.search.selection import Candidates, Rules, select
from zeno.text import normal
from zeno.tree import Tree
from zeno.walk import walk


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

    def search(self, paths: Iterable[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
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

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def candidates(self, rules: Rules, start: str = "") -> Candidates:
        """Walk the tree."""
        walked = walk(
            self.tree,
            include_hidden=rules.include_hidden,
            exclude_dirs=frozenset(rules.exclude_dirs),
            gitignore=rules.gitignore,
            start=start,
        )
        return select(walked, rules, start)

    def search(self, paths: Iterable[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
        """Read each file, and ask RE2 about the lines that one pass over its text does not rule out."""
        scan = planned_for(query).scan
        reader = Reader(self.tree, query.max_bytes, meter, skipped)
        enough = False
        with reader:
            for path in paths:
                text = reader.text(path, whole=not enough)
                # Most files match nowhere, and then there is nothing to tell about them.
                if text is None or enough or (scan is not None and scan(text, 0, len(text))[0] < 0):
                    continue
                lines = Lines(text)
                yield Found(path, lines, lines.matching(query.matches, scan))
                enough = not lines.asked

    def idle(self) -> bool:
        """There is nothing to prepare."""
        return False

    def close(self) -> None:
        """There is nothing to let go of."""


def planned_for(query: Query) -> Plan:
    """How to look for it."""
    return Plan(query.pattern, regex=query.regex, case_sensitive=query.case_sensitive)


class Reader:
    """Reads the texts of files from disk, one after the other, and counts what cannot be searched."""

    def __init__(self, tree: Tree, max_bytes: int, meter: Meter, skipped: "Counter[str]") -> None:
        self._tree = tree
        self._max_bytes = max_bytes
        self._meter = meter
        self._skipped = skipped
        self._stack = ExitStack()

    def __enter__(self) -> "Reader":
        self._descent: Descent = self._stack.enter_context(self._tree.descent())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def text(self, path: str, *, whole: bool) -> bytes | None:
        """The text of one file, or only its beginning; None, with the reason counted, where it cannot be searched."""
        read = self._descent.read(raw(path, "path"), self._max_bytes, whole=whole) or self._followed(path)
        if read is None:
            self._skipped["unreadable"] += 1
            return None
        size, data, binary = read
        if size > self._max_bytes or binary:
            self._skipped["large" if size > self._max_bytes else "binary"] += 1
            return None
        self._meter.scanned(len(data))
        return normal(data)

    def _followed(self, path: str) -> Content | None:
        """What is in a file by a path that may hold links; None where it cannot be read."""
        try:
            with self._tree.open(path) as file:
                if file.size > self._max_bytes:
                    return file.size, b"", False
                if file.is_binary:
                    return file.size, b"", True
                return file.size, file.read(), False
        except (NotFound, NotAFile, OutsideRoot, PermissionDenied):
            return None
