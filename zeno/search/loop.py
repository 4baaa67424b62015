"""The search: one loop over the selected files, in the order of paths.

Texts that are in memory are scanned in large pieces, each a source of files that may match. All other files are read
from disk, one after the other. Cold and warm searches are this loop; a cold one has no source.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import islice
from typing import NamedTuple

from zeno.files.file_tree import SearchedTree
from zeno.meter import Meter
from zeno.search.corpus import Query, SearchedFile, Sink, Skipped, Wish
from zeno.search.disk_texts import DiskTexts
from zeno.search.line_view import LineView
from zeno.search.pattern_work import in_pieces
from zeno.search.plan import Plan, plan_for_text
from zeno.text.regex import Scan


class MayMatch(NamedTuple):
    """A file that may have a matching line."""

    path: str
    lines: LineView | None
    """Its text; None if it has to be read from disk."""
    first: int | None = None
    """Offset in the text around it of the first match of the scan; None if nothing was scanned."""
    ranges: Sequence[tuple[int, int]] | None = None
    """The parts of that text that may match."""


PendingMatches = tuple[str, Iterator[MayMatch]]
"""A source of files: a path that sorts no later than its first file, and an iterator over its files."""


class SearchFiles:
    """The files of a search, and what is known of them without the disk. By default that is nothing."""

    def __init__(self, unheld: Sequence[str] = ()) -> None:
        self.unheld = list(unheld)
        """Files that have to be read from disk, sorted."""
        self.known: set[str] = set()
        """Those of them that are known to be texts of at most `max_bytes`."""
        self.skipped = Skipped()
        """Files that are known not to be searched, by reason."""

    def scan(self, plan: Plan, query: Query, meter: Meter) -> tuple[Scan | None, Iterable[PendingMatches]]:
        """Return the scan for lines, and the sources of files in memory, sorted by their first paths."""
        return in_pieces(plan.scan, query.states, meter), ()


class Sharing(NamedTuple):
    """When a second process helps to read files."""

    least: int
    """From so many files on."""
    part: int
    """How many files a process claims at a time."""


def search(
    tree: SearchedTree, selected: SearchFiles, query: Query, sink: Sink, meter: Meter, sharing: Sharing | None = None
) -> Skipped:
    """Give the files that may match to the sink, in the order of paths. Return the files that cannot be searched.

    When the sink only counts, no more is read of a file than it takes to know whether it can be searched.
    """
    skipped = Skipped()
    skipped.add_all(selected.skipped)
    unheld = selected.unheld
    if sink.wish is not Wish.MORE and (sink.wish is Wish.STOP or not unheld):
        return skipped
    make_plan = plan_for_text if query.multiline else Plan
    plan = make_plan(query.pattern, regex=query.regex, case_sensitive=query.case_sensitive)
    scan, sources = selected.scan(plan, query, meter)
    read = 0
    with DiskTexts(tree, query.max_bytes, plan, meter, skipped) as disk:
        if sharing is not None:
            disk.share(unheld, sharing.least, sharing.part)
        for path, lines, first, ranges in merge(sources, unheld):
            if sink.wish is not Wish.MORE:
                break
            if lines is None:
                read += 1
                text = disk.find(path)
                if text is None:
                    continue
                lines = LineView(text)
            else:
                meter.count_file(lines.size)
            sink.take(SearchedFile(path, lines, lines.matching(query.matches, scan, ranges, first)))
        if sink.wish is Wish.COUNT:
            for path in unheld[read:]:
                disk.count(path, known=path in selected.known)
    return skipped


def merge(sources: Iterable[PendingMatches], unheld: Sequence[str]) -> Iterator[MayMatch]:
    """Merge sources that are sorted by their first paths, and the sorted paths of files that are not in memory.

    A source is opened when its first path is reached, so that a search that ends early looks at little text.
    """
    if sources == ():
        for path in unheld:
            yield MayMatch(path, None)
        return
    waiting: list[tuple[str, int, MayMatch, Iterator[MayMatch]]] = []
    if unheld:
        rest = (MayMatch(path, None) for path in islice(unheld, 1, None))
        waiting.append((unheld[0], -1, MayMatch(unheld[0], None), rest))
    for number, (first_path, source) in enumerate(sources):
        while waiting and waiting[0][0] < first_path:
            yield waiting[0][2]
            _advance(waiting)
        item = next(source, None)
        if item is not None:
            heappush(waiting, (item.path, number, item, source))
    while waiting:
        yield waiting[0][2]
        _advance(waiting)


def _advance(waiting: list[tuple[str, int, MayMatch, Iterator[MayMatch]]]) -> None:
    """Replace the first waiting file by the next one of its source."""
    _, number, _, source = waiting[0]
    item = next(source, None)
    if item is None:
        heappop(waiting)
    else:
        heapreplace(waiting, (item.path, number, item, source))
