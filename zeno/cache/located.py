"""Some cached files by where their texts are in memory, and how to scan them for a pattern."""

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import islice
from operator import itemgetter
from typing import Protocol

from zeno.cache.segments import HeldText, Range, Segment
from zeno.cache.text_store import MAX_HELD_FILE, UNKNOWN, CachedFile, Narrowed, Store
from zeno.files.batch_open import NoBytes
from zeno.meter import Meter, Scan
from zeno.search.loop import MayMatch, SearchFiles
from zeno.search.query import Query
from zeno.search.sink import LineView

# Scanning a gap of this many bytes costs less than starting a new scan behind it.
GAP = 4096

PendingMatches = tuple[str, Iterator[MayMatch]]
"""A source of files: a path that sorts no later than its first file, and an iterator over its files."""


class KnownFiles(Protocol):
    """The files of a tree, as far as they are known."""

    store: Store

    @property
    def content_version(self) -> int:
        """Increases whenever more or less is known."""
        ...

    def find(self, path: str, /) -> CachedFile | None:
        """Return what is known of the file at a path, or of the one that a link leads to."""
        ...


class Located(SearchFiles):
    """Selected files: those to read from disk, and the segments with the texts of the others.

    It describes what is known at one time, and is used as long as that stays.
    """

    def __init__(self, files: KnownFiles, paths: Sequence[str], max_bytes: int) -> None:
        super().__init__()
        self._files = files
        self.stamped: list[CachedFile] = []
        """Files without a watch of which something is known, sorted: compare their stamps before each search."""
        self._linked: list[tuple[str, HeldText]] = []
        """Files with the text of a file at another path, such as links, sorted, with these texts."""
        self._held: dict[Segment, list[HeldText]] = {}
        """The other files that are to be searched, sorted, by segment; segments are sorted by their first file."""
        find = files.find
        for path in paths:
            self._divide(path, find(path), max_bytes)
        # To look a file up may make it known.
        self.version = _version(files, max_bytes)
        """The state that it describes."""
        self._ranks = {segment: rank for rank, segment in enumerate(self._held)}
        self._shared: set[Segment] = set()
        """Segments that also hold texts of other files."""
        for segment, held in self._held.items():
            if len(held) == len(segment.held):
                # All files of the segment are selected: share its list.
                self._held[segment] = segment.held
            elif sum(other.segment is segment for other in segment.held) > len(held):
                self._shared.add(segment)

    def is_current(self, max_bytes: int) -> bool:
        """Whether it still describes what is known."""
        return self.version == _version(self._files, max_bytes)

    def _divide(self, path: str, entry: CachedFile | None, max_bytes: int) -> None:
        if entry is not None and entry.stamp is not None:
            self.stamped.append(entry)
        if entry is None or entry.size == UNKNOWN:
            self.unheld.append(path)
        elif entry.size > max_bytes:
            self.skipped.add(path, "large")
        elif entry.no_text is not None:
            self.skipped.add(path, "binary" if entry.no_text is NoBytes.BINARY else "unreadable")
        elif (held := entry.text) is None or held.segment is None:
            self.unheld.append(path)
            if entry.size <= MAX_HELD_FILE:
                self.known.add(path)
        elif held.path != path:
            self._linked.append((path, held))
        else:
            self._held.setdefault(held.segment, []).append(held)

    def list_held(self) -> Iterator[tuple[str, HeldText]]:
        """Yield the paths of all files whose texts are held, in no particular order, with these."""
        for some in self._held.values():
            for held in some:
                if held.segment is not None:
                    yield held.path, held
        yield from self._linked

    def scan(self, query: Query, meter: Meter) -> tuple[Scan | None, Iterator[MayMatch]]:
        """Return the scan that is likely the fastest here, and the files that the index does not rule out."""
        narrowed = self._files.store.narrow(query.plan.demand)
        segments = self._segments(narrowed)
        if not segments and not self._linked:
            return super().scan(query, meter) if self.unheld else (None, iter(()))
        scan = meter.guard_scan(query.plan.scan_of([segment.text for segment in segments]), query.states)
        sources: Iterable[PendingMatches] = (
            (self._held[segment][0].path, scan_segment(segment.text, self._held[segment], ranges, scan))
            for segment in meter.check_each(segments)
            if (ranges := self._ranges(narrowed, segment))
        )
        if self._linked:
            sources = heapq.merge(sources, self._scan_links(narrowed, scan), key=itemgetter(0))
        return scan, merge(sources, self.unheld)

    def _segments(self, narrowed: Narrowed) -> list[Segment]:
        """Return the segments of these files that the index does not rule out, sorted by their first file.

        Where it rules out little, all of them: their ranges may turn out empty.
        """
        if narrowed.pieces > len(self._held):
            return list(self._held)
        ranks = self._ranks
        return sorted([segment for segment in narrowed.segments() if segment in ranks], key=ranks.__getitem__)

    def _ranges(self, narrowed: Narrowed, segment: Segment) -> list[Range]:
        """Return the parts of a segment that have text of these files and may match."""
        ranges = narrowed.ranges(segment)
        return clip_ranges(ranges, self._held[segment]) if ranges and segment in self._shared else ranges

    def _scan_links(self, narrowed: Narrowed, scan: Scan | None) -> Iterator[PendingMatches]:
        """Yield files with a text of another path that may match. Many may have one text, which is scanned once."""
        scanned: dict[HeldText, MayMatch | None] = {}
        # Where the index rules out much, one look at it serves all of them.
        some = set(narrowed.segments()) if narrowed.pieces < len(self._linked) else None
        for path, held in self._linked:
            if held.segment is None or (some is not None and held.segment not in some):
                continue
            if held not in scanned:
                ranges = clip_ranges(narrowed.ranges(held.segment), [held])
                scanned[held] = next(scan_segment(held.segment.text, [held], ranges, scan), None)
            found = scanned[held]
            if found is not None:
                lines = LineView(held.segment.text, held.start, held.end)
                yield path, iter([found._replace(path=path, lines=lines)])


def _version(files: KnownFiles, max_bytes: int) -> tuple[int, int, int]:
    return files.content_version, files.store.moves, max_bytes


def scan_segment(text: bytes, held: list[HeldText], ranges: Sequence[Range], scan: Scan | None) -> Iterator[MayMatch]:
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
                one = held[at - 1]
                lines = LineView(text, one.start, one.end)
                yield MayMatch(one.path, lines, found if scan is not None else None, ranges)
                position = one.end
            else:
                position = held[at].start if at < len(held) else high


def clip_ranges(ranges: list[Range], held: list[HeldText]) -> list[Range]:
    """Clip parts of a text to the texts of some sorted files, with short gaps between them included."""
    clipped: list[Range] = []
    for one in held:
        for low, high in ranges:
            start, end = max(low, one.start), min(high, one.end)
            if start < end:
                if clipped and start - clipped[-1][1] <= GAP:
                    start = clipped.pop()[0]
                clipped.append((start, end))
    return clipped


def _start(held: HeldText) -> int:
    return held.start


def merge(sources: Iterable[PendingMatches], unheld: Sequence[str]) -> Iterator[MayMatch]:
    """Merge sources that are sorted by their first paths, and the sorted paths of files that are not in memory.

    A source is opened when its first path is reached, so that a search that ends early looks at little text.
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
