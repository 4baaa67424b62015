"""Searches of texts in memory: where the texts of some files are, and how to scan them for a pattern."""

import heapq
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Protocol

from zeno.cache.kept_words import HeldWords
from zeno.cache.text_store import MAX_HELD_FILE, UNKNOWN, CachedFile, HeldText, Segment, Store
from zeno.code.table import FactTable
from zeno.files.batch_open import NoBytes
from zeno.files.file_tree import SearchedTree
from zeno.index.piece_index import IndexedText, Narrowed, Range
from zeno.meter import Meter, Scan
from zeno.search.corpus import Snapshot
from zeno.search.loop import SearchFiles
from zeno.search.query import Query
from zeno.search.selection import MAX_SELECTIONS, Candidates, Recent, Selection
from zeno.search.sink import LineView, SearchedFile
from zeno.search.word_counts import WordCounts
from zeno.text.regex import Matches

# Scanning a gap of this many bytes costs less than starting a new scan behind it.
GAP = 4096
_START = attrgetter("start")

Source = tuple[str, Iterator[SearchedFile]]
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

    def review(self, located: "Located", meter: Meter, /) -> None:
        """Called before a search of files of which some have no watch, or no text in memory."""
        ...


class Located(SearchFiles):
    """Selected files: those to read from disk, and the segments with the texts of the others.

    It describes what is known at one time, and is used as long as that stays.
    """

    def __init__(self, files: KnownFiles, paths: Sequence[str], max_bytes: int) -> None:
        super().__init__()
        self.paths = paths
        self._store = files.store
        self._words: HeldWords | None = None
        self.stamped: list[CachedFile] = []
        """Files without a watch of which something is known, sorted: compare their stamps before each search."""
        self._linked: list[tuple[str, HeldText]] = []
        """Files with the text of a file at another path, such as links, sorted, with these texts."""
        self._held: dict[Segment, list[HeldText]] = {}
        """The other files that are to be searched, sorted, by segment; segments are sorted by their first file."""
        for path in paths:
            self._divide(path, files.find(path), max_bytes)
        # To look a file up may make it known.
        self.version = _version(files, max_bytes)
        """The state that it describes."""
        self._in_order = list(self._held)
        self._ranks: dict[IndexedText, int] = {segment: rank for rank, segment in enumerate(self._in_order)}
        self._shared: set[Segment] = set()
        """Segments that also hold texts of other files."""
        for segment, held in self._held.items():
            if len(held) == len(segment.held):
                # All files of the segment are selected: share its list.
                self._held[segment] = segment.held
            elif sum(other.segment is segment for other in segment.held) > len(held):
                self._shared.add(segment)

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

    def find_words(self, facts: FactTable) -> HeldWords:
        """Return which of their words are kept now."""
        if self._words is None or self._words.version != facts.words.count:
            self._words = HeldWords(self.paths, self.unheld, self._list_held(), facts)
        return self._words

    def _list_held(self) -> Iterator[tuple[str, HeldText]]:
        """Return the paths of all files whose texts are held, in no particular order, with these."""
        held = (one for some in self._held.values() for one in some if one.segment is not None)
        return chain(((one.path, one) for one in held), self._linked)

    def scan(self, query: Query, meter: Meter) -> Iterator[SearchedFile | str]:
        """Return the files that the index does not rule out, looked for with the scan that is likely the fastest."""
        narrowed = self._store.index.narrow(query.plan.demand)
        segments = self._segments(narrowed)
        if not segments and not self._linked:
            return iter(self.unheld)
        scan = meter.guard_scan(query.plan.scan_of([segment.text for segment in segments]), query.states)
        sources: Iterable[Source] = (
            (held[0].path, scan_segment(segment.text, held, ranges, scan, query.matches))
            for segment in meter.check_each(segments)
            if (ranges := self._ranges(narrowed, segment, held := self._held[segment]))
        )
        if self._linked:
            sources = heapq.merge(sources, self._scan_links(narrowed, scan, query.matches), key=itemgetter(0))
        return merge(sources, self.unheld)

    def _segments(self, narrowed: Narrowed) -> list[Segment]:
        """Return the segments of these files that the index does not rule out, sorted by their first file.

        Where it rules out little, all of them: their ranges may turn out empty.
        """
        if narrowed.pieces > len(self._held):
            return self._in_order
        ranks = self._ranks
        return [self._in_order[rank] for rank in sorted([ranks[text] for text in narrowed.texts() if text in ranks])]

    def _ranges(self, narrowed: Narrowed, segment: Segment, held: list[HeldText]) -> list[Range]:
        """Return the parts of a segment that have text of these files and may match."""
        ranges = narrowed.ranges(segment)
        return clip_ranges(ranges, held) if ranges and segment in self._shared else ranges

    def _scan_links(self, narrowed: Narrowed, scan: Scan | None, matches: Matches) -> Iterator[Source]:
        """Yield files with a text of another path that may match. Many may have one text, which is ruled out once."""
        parts: dict[HeldText, list[Range]] = {}
        # Where the index rules out much, one look at it serves all of them.
        some = set(narrowed.texts()) if narrowed.pieces < len(self._linked) else None
        for path, held in self._linked:
            if held.segment is None or (some is not None and held.segment not in some):
                continue
            text = held.segment.text
            if held not in parts:
                ranges = clip_ranges(narrowed.ranges(held.segment), [held])
                parts[held] = ranges if any(scan_segment(text, [held], ranges, scan, matches)) else []
            if parts[held]:
                found = scan_segment(text, [held], parts[held], scan, matches)
                yield path, map(partial(SearchedFile._replace, path=path), found)


def _version(files: KnownFiles, max_bytes: int) -> tuple[int, int, int]:
    return files.content_version, files.store.moves, max_bytes


def scan_segment(
    text: bytes, held: list[HeldText], ranges: Sequence[Range], scan: Scan | None, matches: Matches
) -> Iterator[SearchedFile]:
    """Yield the files of a segment in which the scan finds something within the ranges.

    `held` are the files to look at, sorted; between their texts may be texts of other files. Without a scan all files
    that the ranges touch are yielded. `matches` decides about each line.
    """
    position = at = 0
    for low, high in ranges:
        position = max(position, low)
        while position < high:
            found = scan(text, position, high)[0] if scan is not None else position
            # A pattern that matches the empty text also matches behind the last line.
            if found < 0 or found >= high:
                break
            at = bisect_right(held, found, at, key=_START)
            if at and found < held[at - 1].end:
                one = held[at - 1]
                lines = LineView(text, one.start, one.end, one)
                first = found if scan is not None else None
                yield SearchedFile(one.path, lines, lines.find_matches(matches, scan, ranges, first))
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


def merge(sources: Iterable[Source], unheld: Sequence[str]) -> Iterator[SearchedFile | str]:
    """Merge sources that are sorted by their first paths, and the sorted paths of files that are not in memory.

    A source is opened when its first path is reached, so that a search that ends early looks at little text.
    """
    opened = [head] if (head := _read_head(-1, iter(unheld))) is not None else []
    for number, (first_path, source) in enumerate(chain(sources, [(None, iter(()))])):
        while opened and (first_path is None or opened[0][0] < first_path):
            _, least, item, rest = opened[0]
            yield item
            if (head := _read_head(least, rest)) is None:
                heapq.heappop(opened)
            else:
                heapq.heapreplace(opened, head)
        if (head := _read_head(number, source)) is not None:
            heapq.heappush(opened, head)


def _read_head(
    number: int, source: Iterator[SearchedFile | str]
) -> tuple[str, int, SearchedFile | str, Iterator[SearchedFile | str]] | None:
    """Return the next file of a source, behind its path and the number of the source; None at its end."""
    item = next(source, None)
    return None if item is None else (item if isinstance(item, str) else item.path, number, item, source)


class HeldSnapshot(Snapshot):
    """Candidates of which texts may be in memory, with recent selections of them. Kept between requests."""

    def __init__(self, tree: SearchedTree, known: KnownFiles, facts: FactTable, candidates: Candidates) -> None:
        super().__init__(candidates, tree)
        self._known = known
        self._facts = facts
        self._located: Recent[tuple[str, ...], Located] = Recent(MAX_SELECTIONS)
        """Recent selections, by their entries."""

    def _files(self, selection: Selection, query: Query, meter: Meter) -> Located:
        """Return where their texts are: those in memory that the index does not rule out are searched there."""
        located = self._locate(selection, query.max_bytes)
        if not located.stamped and not located.unheld:
            return located
        self._known.review(located, meter)
        return self._locate(selection, query.max_bytes, located)

    def _locate(self, selection: Selection, max_bytes: int, last: Located | None = None) -> Located:
        entries = selection.entries
        kept = last if entries is None else self._located.get(entries)
        if kept is not None and kept.version == _version(self._known, max_bytes):
            return kept
        located = Located(self._known, self.paths(selection), max_bytes)
        return located if entries is None else self._located.keep(entries, located)

    def count_words(self, selection: Selection, query: Query, words: Collection[bytes], meter: Meter) -> WordCounts:
        """Take the words that are kept, and count those of the other files."""
        located = self._files(selection, query, meter)
        held = located.find_words(self._facts)
        counts = WordCounts(located.paths, words, meter)
        held.add_to(counts, meter)
        if held.uncounted:
            uncounted = frozenset(held.uncounted)
            rest = Selection(uncounted.__contains__, lambda _: True, lambda _: sorted(uncounted))
            counts.skipped = self.search(rest, query, counts, meter)
        counts.skipped.add_all(located.skipped)
        return counts
