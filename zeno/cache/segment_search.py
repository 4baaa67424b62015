"""Search segments lazily and in the order of paths.

Every segment is a source of files that may match, sorted by path.
`merged` opens a source only when its first path is reached, so that a search that is cut short looks at little text.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import islice
from typing import NamedTuple

from zeno.cache.text_store import CachedFile, Range
from zeno.text.regex import Scan


class MayMatch(NamedTuple):
    """A file that may have a matching line."""

    path: str
    entry: CachedFile | None
    """The cached file with its text; None if it has to be read from disk."""
    first: int | None = None
    """Offset in the segment of the first match of the scan; None if nothing was scanned."""
    ranges: Sequence[Range] | None = None
    """The parts of the segment that may match."""


PendingMatches = tuple[str, Iterator[MayMatch]]
"""A source of files: a path that sorts no later than its first file, and an iterator over its files."""


def in_segment(text: bytes, held: list[CachedFile], ranges: Sequence[Range], scan: Scan | None) -> Iterator[MayMatch]:
    """Yield the files of a segment in which the scan finds something within the ranges.

    `held` are the files to look at, sorted; between their texts may be texts of other files. Without a scan all files
    that the ranges touch are yielded.
    """
    position = at = 0
    for low, high in ranges:
        position = max(position, low)
        while position < high:
            found = scan(text, position, high)[0] if scan is not None else position
            # A pattern that matches the empty text also matches behind the last line.
            if found < 0 or found >= high:
                break
            at = bisect_right(held, found, at, key=_start)
            if at and found < held[at - 1].end:
                entry = held[at - 1]
                yield MayMatch(entry.path, entry, found if scan is not None else None, ranges)
                position = entry.end
            else:
                position = held[at].start if at < len(held) else high


def in_file(path: str, entry: CachedFile, ranges: Sequence[Range], scan: Scan | None) -> Iterator[MayMatch]:
    """Yield the file of one entry, under another path, if the scan finds something in it within the ranges."""
    if entry.segment is not None:
        for found in in_segment(entry.segment.text, [entry], ranges, scan):
            yield found._replace(path=path)


def merged(sources: Iterable[PendingMatches], unheld: Sequence[str]) -> Iterator[MayMatch]:
    """Merge sources that are sorted by their first paths, and the sorted paths of files that are not in memory.

    A source is opened when its first path is reached.
    """
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


def _start(entry: CachedFile) -> int:
    return entry.start
