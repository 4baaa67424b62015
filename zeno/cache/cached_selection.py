"""The files that a request is about, of all that is held: by its rules, and by where their texts are."""

from collections import Counter
from collections.abc import Iterable
from heapq import merge
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from zeno.files.walk import NOT_REGULAR, Run, Walked
from zeno.search.selection import Candidates, Rules
from zeno.text.path_names import is_hidden

if TYPE_CHECKING:
    from zeno.cache.text_store import Entry, Segment
    from zeno.cache.tree_cache import Holding

    Parts = dict[Segment, list[tuple[int, int]]]

# To look through so much text of other files costs less than to begin anew behind it.
GAP = 4096


def walked(holding: "Holding", rules: Rules) -> Iterable[Run] | None:
    """What a walk by these rules would meet; None where one has to walk to see."""
    excluded = frozenset(rules.exclude_dirs)
    if rules.gitignore:
        met = holding.not_ignored(include_hidden=rules.include_hidden, exclude_dirs=excluded)
        if met is None:
            return None
        files, problems, left_out = met
    else:

        def visible(path: str) -> bool:
            return (rules.include_hidden or not is_hidden(path)) and not (
                excluded and not excluded.isdisjoint(path.split("/")[:-1])
            )

        files = [path for path in holding.paths if visible(path)]
        problems = [path for path in holding.problems if visible(path)]
        left_out = holding.left_out(include_hidden=rules.include_hidden, exclude_dirs=excluded)
    names = merge((Walked(path, None) for path in files), (Walked(path, NOT_REGULAR) for path in problems))
    found = (
        (Run([path for path, _ in names], problem) for problem, names in groupby(names, itemgetter(1)))
        if problems
        else [Run(files, None)]
    )
    return chain(left_out, found)


class Chosen:
    """The candidates of some rules, with what is worth keeping between requests."""

    def __init__(self, version: int, candidates: Candidates) -> None:
        self.version = version
        self.candidates = candidates
        self._for: tuple[int, int] | None = None
        self.unheld: list[str] = []
        """The files to be read from disk."""
        self.held: dict[Segment, list[Entry]] = {}
        """The others that are to be searched, by where their text is, in its order."""
        self._shared: set[Segment] = set()
        """Segments that hold files which are none of these."""
        self.skipped: Counter[str] = Counter()

    def look_up(self, holding: "Holding", max_bytes: int) -> None:
        """Bring all that up to now."""
        if self._for == (holding.content_version, max_bytes):
            return
        self._for = (holding.content_version, max_bytes)
        self.unheld, self.held, self.skipped = [], {}, Counter()
        for path in self.candidates.paths:
            entry = holding.entry(path)
            if entry is None or entry.size < 0:
                self.unheld.append(path)
            elif entry.size > max_bytes:
                self.skipped["large"] += 1
            elif entry.binary:
                self.skipped["binary"] += 1
            elif entry.segment is None:
                self.unheld.append(path)
            else:
                self.held.setdefault(entry.segment, []).append(entry)
        self._shared = set()
        for segment, held in self.held.items():
            if len(held) == len(segment.entries):
                # All of them, which are in order there.
                self.held[segment] = segment.entries
                continue
            # An empty one starts where the next one does, and comes before it.
            held.sort(key=attrgetter("start", "end"))
            if sum(entry.segment is segment for entry in segment.entries) > len(held):
                self._shared.add(segment)

    def narrow(self, parts: "Parts") -> "Parts":
        """Of parts of segments those that hold text of these files."""
        narrowed = {}
        for segment, ranges in parts.items():
            if segment in self._shared:
                ranges = _within(ranges, self.held[segment])
            if ranges and segment in self.held:
                narrowed[segment] = ranges
        return narrowed


def _within(ranges: list[tuple[int, int]], held: "list[Entry]") -> list[tuple[int, int]]:
    """Of some parts of a text what belongs to some files in the order of their texts, and short gaps between."""
    within: list[tuple[int, int]] = []
    for entry in held:
        for low, high in ranges:
            start, end = max(low, entry.start), min(high, entry.end)
            if start < end:
                if within and start - within[-1][1] <= GAP:
                    start = within.pop()[0]
                within.append((start, end))
    return within
