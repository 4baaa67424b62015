"""Some cached files by where their texts are in memory, and how to scan them for a pattern."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING

from zeno.cache.text_store import UNKNOWN, CachedFile, Narrowed, Range, Segment
from zeno.files.batch_open import NoBytes
from zeno.meter import Meter
from zeno.search.corpus import Query
from zeno.search.line_view import LineView
from zeno.search.loop import MayMatch, PendingMatches, SearchFiles
from zeno.search.pattern_work import in_pieces
from zeno.search.plan import Plan
from zeno.text.regex import Scan

if TYPE_CHECKING:
    from zeno.cache.tree_cache import TreeCache

# Scanning a gap of this many bytes costs less than starting a new scan behind it.
GAP = 4096


class Located(SearchFiles):
    """Selected files: those to read from disk, and the segments with the texts of the others.

    It describes the cache at one `content_version`, and is used as long as that stays.
    """

    def __init__(self, cache: "TreeCache", paths: Sequence[str], max_bytes: int) -> None:
        super().__init__()
        self._cache = cache
        self.version = (cache.content_version, max_bytes)
        self.stamped: list[CachedFile] = []
        """Files without a watch of which something is known, sorted: compare their stamps before each search."""
        self._linked: list[tuple[str, CachedFile]] = []
        """Links to files whose texts are held, sorted, with these files."""
        self._held: dict[Segment, list[CachedFile]] = {}
        """The other files that are to be searched, sorted, by segment; segments are sorted by their first file."""
        entries, target = cache.entries, cache.target
        for path in paths:
            entry = entries.get(path)
            if entry is None:
                self._divide(path, target(path), max_bytes, is_link=True)
            else:
                self._divide(path, entry, max_bytes, is_link=False)
        self._ranks = {segment: rank for rank, segment in enumerate(self._held)}
        self._shared: set[Segment] = set()
        """Segments that also hold texts of other files."""
        for segment, held in self._held.items():
            if len(held) == len(segment.entries):
                # All files of the segment are selected: share its list.
                self._held[segment] = segment.entries
            elif sum(entry.segment is segment for entry in segment.entries) > len(held):
                self._shared.add(segment)

    def _divide(self, path: str, entry: CachedFile | None, max_bytes: int, *, is_link: bool) -> None:
        if entry is not None and entry.stamp is not None:
            self.stamped.append(entry)
        if entry is None or entry.size == UNKNOWN:
            self.unheld.append(path)
        elif entry.size > max_bytes:
            self.skipped.add(path, "large")
        elif entry.no_text is not None:
            self.skipped.add(path, "binary" if entry.no_text is NoBytes.BINARY else "unreadable")
        elif entry.segment is None:
            self.unheld.append(path)
            self.known.add(path)
        elif is_link:
            self._linked.append((path, entry))
        else:
            self._held.setdefault(entry.segment, []).append(entry)

    def scan(self, plan: Plan, query: Query, meter: Meter) -> tuple[Scan | None, Iterable[PendingMatches]]:
        """Return the scan that is likely the fastest here, and the segments that the index does not rule out."""
        narrowed = self._cache.store.narrow(plan.demand)
        segments = self._segments(narrowed)
        if not segments and not self._linked and not self.unheld:
            return None, ()
        scan = in_pieces(plan.scan_of([segment.text for segment in segments]), query.states, meter)
        sources = (
            (self._held[segment][0].path, scan_segment(segment.text, self._held[segment], ranges, scan))
            for segment in meter.check_each(segments)
            if (ranges := self._ranges(narrowed, segment))
        )
        if self._linked:
            return scan, merge(sources, self._scan_links(narrowed, scan), key=itemgetter(0))
        return scan, sources if segments else ()

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
        """Yield links to files that may match. Many links may lead to one file, which is scanned once."""
        scanned: dict[CachedFile, MayMatch | None] = {}
        for path, entry in self._linked:
            if entry.segment is None:
                continue
            if entry not in scanned:
                ranges = clip_ranges(narrowed.ranges(entry.segment), [entry])
                scanned[entry] = next(scan_segment(entry.segment.text, [entry], ranges, scan), None)
            found = scanned[entry]
            if found is not None:
                lines = LineView(entry.segment.text, entry.start, entry.end)
                yield path, iter([found._replace(path=path, lines=lines)])


def scan_segment(text: bytes, held: list[CachedFile], ranges: Sequence[Range], scan: Scan | None) -> Iterator[MayMatch]:
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
                lines = LineView(text, entry.start, entry.end)
                yield MayMatch(entry.path, lines, found if scan is not None else None, ranges)
                position = entry.end
            else:
                position = held[at].start if at < len(held) else high


def clip_ranges(ranges: list[Range], held: list[CachedFile]) -> list[Range]:
    """Clip parts of a text to the texts of some sorted files, with short gaps between them included."""
    clipped: list[Range] = []
    for entry in held:
        for low, high in ranges:
            start, end = max(low, entry.start), min(high, entry.end)
            if start < end:
                if clipped and start - clipped[-1][1] <= GAP:
                    start = clipped.pop()[0]
                clipped.append((start, end))
    return clipped


def _start(entry: CachedFile) -> int:
    return entry.start
