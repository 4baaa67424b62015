"""Select cached files: those that a request's rules leave, and where in memory their texts are."""

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from zeno.files.batch_open import NoBytes
from zeno.files.walk import NOT_REGULAR, Walked, WalkedNames
from zeno.search.selection import SelectionRules
from zeno.search.skipped import Skipped
from zeno.text.path_names import is_hidden

if TYPE_CHECKING:
    from zeno.cache.text_store import CachedFile, Narrowed, Range, Segment
    from zeno.cache.tree_cache import TreeCache

# Scanning a gap of this many bytes costs less than starting a new scan behind it.
GAP = 4096


def walked(cache: "TreeCache", rules: SelectionRules) -> Iterable[WalkedNames] | None:
    """Return what a walk by these rules would find; None if that is known only by walking."""
    excluded = frozenset(rules.exclude_dirs)
    if rules.gitignore:
        met = cache.not_ignored(include_hidden=rules.include_hidden, exclude_dirs=excluded)
        if met is None:
            return None
        files, problems, left_out = met
    else:

        def visible(path: str) -> bool:
            return (rules.include_hidden or not is_hidden(path)) and not (
                excluded and not excluded.isdisjoint(path.split("/")[:-1])
            )

        files = [path for path in cache.paths if visible(path)]
        problems = [path for path in cache.problems if visible(path)]
        left_out = cache.left_out(include_hidden=rules.include_hidden, exclude_dirs=excluded)
    names = merge((Walked(path, None) for path in files), (Walked(path, NOT_REGULAR) for path in problems))
    found = (
        (WalkedNames([path for path, _ in names], problem) for problem, names in groupby(names, itemgetter(1)))
        if problems
        else [WalkedNames(files, None)]
    )
    return chain(left_out, found)


class Located:
    """Some files by where their texts are. Kept between requests; `look_up` has to be called before each use."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._for: tuple[int, int] | None = None
        self.unheld: list[str] = []
        """Files that have to be read from disk, sorted."""
        self.known: set[str] = set()
        """The files of `unheld` that are known to be texts of at most `max_bytes`."""
        self.stamped: list[CachedFile] = []
        """Files without a watch of which something is known, sorted: compare their stamps before each search."""
        self.linked: list[tuple[str, CachedFile]] = []
        """Links to files whose texts are held, sorted, with these files."""
        self.held: dict[Segment, list[CachedFile]] = {}
        """The other files that are to be searched, sorted, by segment; segments are sorted by their first file."""
        self._shared: set[Segment] = set()
        """Segments that also hold texts of other files."""
        self._ranks: dict[Segment, int] = {}
        self.skipped = Skipped()
        """Files that are not searched, by reason."""

    def look_up(self, cache: "TreeCache", max_bytes: int) -> None:
        """Compute all attributes again if the content version or `max_bytes` changed."""
        if self._for == (cache.content_version, max_bytes):
            return
        from zeno.cache.text_store import UNKNOWN  # not needed to start

        self._for = (cache.content_version, max_bytes)
        self.unheld, self.held, self.skipped = [], {}, Skipped()
        entries = cache.entries
        self.linked, self.known, self.stamped = [], set(), []
        for path in self._paths:
            entry = entries.get(path)
            is_link = entry is None
            if entry is None:
                entry = cache.target(path)
            if entry is not None and entry.stamp is not None:
                self.stamped.append(entry)
            if entry is None or entry.size == UNKNOWN:
                self.unheld.append(path)
            elif entry.size > max_bytes:
                self.skipped.add(path, "large")
            elif entry.no_text is not None:
                self.skipped.add(path, "binary" if entry.no_text == NoBytes.BINARY else "unreadable")
            elif entry.segment is None:
                self.unheld.append(path)
                self.known.add(path)
            elif is_link:
                self.linked.append((path, entry))
            else:
                self.held.setdefault(entry.segment, []).append(entry)
        self._ranks = {segment: rank for rank, segment in enumerate(self.held)}
        self._shared = set()
        for segment, held in self.held.items():
            if len(held) == len(segment.entries):
                # All files of the segment are selected: share its list.
                self.held[segment] = segment.entries
            elif sum(entry.segment is segment for entry in segment.entries) > len(held):
                self._shared.add(segment)

    def segments(self, narrowed: "Narrowed") -> "list[Segment]":
        """Return the segments of these files that the index does not rule out, sorted by their first file.

        Where it rules out little, all of them: their ranges may turn out empty.
        """
        if narrowed.pieces > len(self.held):
            return list(self.held)
        ranks = self._ranks
        return sorted([segment for segment in narrowed.segments() if segment in ranks], key=ranks.__getitem__)

    def ranges(self, narrowed: "Narrowed", segment: "Segment") -> "list[Range]":
        """Return the parts of a segment that have text of these files and may match."""
        ranges = narrowed.ranges(segment)
        return within(ranges, self.held[segment]) if ranges and segment in self._shared else ranges


def within(ranges: "list[Range]", held: "list[CachedFile]") -> "list[Range]":
    """Clip parts of a text to the texts of some sorted files, with short gaps between them included."""
    within: list[Range] = []
    for entry in held:
        for low, high in ranges:
            start, end = max(low, entry.start), min(high, entry.end)
            if start < end:
                if within and start - within[-1][1] <= GAP:
                    start = within.pop()[0]
                within.append((start, end))
    return within
