"""The seam between operations and the way files are found: one small interface, and the plain way behind it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from zeno.errors import PermissionDenied
from zeno.meter import Meter
from zeno.patterns import Matches
from zeno.search.selection import Candidates, Rules, select
from zeno.text import raw_lines
from zeno.tree import File, Tree
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
    lines: list[bytes]
    """All lines of the file as valid UTF-8, without their ends."""
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

        A file may be yielded whose `matching` turns out empty. The caller may stop at any point: counted are then the
        files up to the one yielded last.
        """
        ...

    def survey(self, paths: Iterable[str], max_bytes: int, meter: Meter, skipped: "Counter[str]") -> None:
        """Count by reason which of the files a search would skip, without searching them."""
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
        """Read each file and ask RE2 about each of its lines."""
        for path, file in self.tree.each(paths):
            data = _content(file, query.max_bytes, meter, skipped, read=True)
            lines = [line if line.isascii() else line.decode("utf-8", "replace").encode() for line in raw_lines(data)]
            yield Found(path, lines, (index for index, line in enumerate(lines) if query.matches(line)))

    def survey(self, paths: Iterable[str], max_bytes: int, meter: Meter, skipped: "Counter[str]") -> None:
        """Look at the beginning of each file."""
        for _, file in self.tree.each(paths):
            _content(file, max_bytes, meter, skipped, read=False)


def _content(file: File | None, max_bytes: int, meter: Meter, skipped: "Counter[str]", *, read: bool) -> bytes:
    """The content of a file if it is to be searched and wanted, or nothing, with the reason counted."""
    data = b""
    reason = None
    try:
        if file is None:
            reason = "unreadable"
        elif file.size > max_bytes:
            reason = "large"
        elif file.is_binary if read else file.looks_binary():
            reason = "binary"
        else:
            data = file.read() if read else b""
            meter.scanned(file.bytes_read)
    except PermissionDenied:
        reason = "unreadable"
    if reason:
        skipped[reason] += 1
    return data
