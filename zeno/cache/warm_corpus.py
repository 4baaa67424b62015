"""The tree held in memory: the same answers as from disk, sooner.

Everything is prepared in moments in which nobody asks: first the listing, then the texts, then the index, which a
process of its own computes. What is not prepared yet, or no longer, is read from disk; so is everything where changes
cannot be seen as they happen.
"""

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from zeno.cache.cached_selection import Chosen, walked
from zeno.cache.errors import Lost, Unwatchable
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.search.cold import ColdCorpus
from zeno.search.corpus import Found, Query, planned_for
from zeno.search.disk_reader import Reader
from zeno.search.line_view import Lines
from zeno.search.selection import Candidates, Rules, select
from zeno.text.path_names import Paths
from zeno.text.regex import Scan

if TYPE_CHECKING:
    from zeno.cache.text_store import Entry, Segment
    from zeno.cache.tree_cache import Holding

# How long somebody who asks may have to wait for what is being prepared.
SLICE = 0.002
# So much text is looked through at once, to learn which of its files have a match; more only as hits are asked for.
LITTLE = 1 << 20
# Clients repeat few combinations of rules.
MAX_SELECTIONS = 8
# So do they with what they pick of the files that the rules leave.
MAX_PICKED = 4


class WarmCorpus:
    """Answers from memory where it can. `idle` is what makes it warm."""

    def __init__(self, tree: Tree, cache_bytes: int) -> None:
        self.tree = tree
        self._cold = ColdCorpus(tree)
        self._cache_bytes = cache_bytes
        self._holding: Holding | None = None
        # What ignore rules deny can change with the text of any ignore file: it is read anew for every request.
        self._possible = not tree.policy.ignored
        self._selections: dict[object, Chosen] = {}
        self._picked: list[Chosen] = []
        self._imports = ["zeno.cache.tree_cache", "zeno.cache.index_builder", "struct", "ctypes"]

    def close(self) -> None:
        """Let go of everything."""
        self._selections.clear()
        self._picked.clear()
        if self._holding is not None:
            self._holding.close()
            self._holding = None

    def idle(self) -> bool:
        """Prepare for a moment."""
        if not self._possible:
            return False
        try:
            if self._holding is None:
                if self._imports:
                    # What only this needs is imported where there is time for it, a few milliseconds at once.
                    import_module(self._imports.pop())
                    return True
                from zeno.cache.tree_cache import Holding

                self.tree.quicken()
                self._holding = Holding(self.tree, self._cache_bytes)
            until = time.monotonic() + SLICE
            while self._holding.prepare():
                if time.monotonic() > until:
                    return True
        except Unwatchable:
            self._possible = False
            self.close()
        return False

    def candidates(self, rules: Rules, start: str = "") -> Candidates:
        """From the held listing, brought up to now."""
        holding = self._current()
        # Only a walk tells which directories cannot be listed.
        if holding is None or holding.opaque:
            return self._cold.candidates(rules, start)
        if rules.include_hidden:
            holding.want_hidden()
        key = (
            rules.include_hidden,
            rules.gitignore,
            *rules.exclude_dirs,
            None,
            *rules.exclude_globs,
            rules.max_files,
            start,
        )
        selection = self._selections.get(key)
        if selection is None or selection.version != holding.version:
            self._selections.pop(key, None)
            while len(self._selections) >= MAX_SELECTIONS:
                del self._selections[next(iter(self._selections))]
            runs = walked(holding, rules)
            if runs is None:
                return self._cold.candidates(rules, start)
            selection = Chosen(holding.version, select(runs, rules, start))
            self._selections[key] = selection
        return selection.candidates

    def search(self, paths: Sequence[str], query: Query, meter: Meter, skipped: "Counter[str]") -> Iterator[Found]:
        """From the held texts that the index does not rule out, and from disk what is not held."""
        holding = self._holding
        if holding is None or not holding.ready:
            yield from self._cold.search(paths, query, meter, skipped)
            return
        planned = planned_for(query)
        selection = self._chosen(paths, holding)
        selection.look_up(holding, query.max_bytes)
        skipped.update(selection.skipped)
        parts = selection.narrow(holding.candidates(planned.demand))
        size = sum(high - low for ranges in parts.values() for low, high in ranges)
        scan = planned.scan if selection.unheld else planned.scan_of(size) if parts else None
        little = scan is not None and size <= LITTLE
        todo: list[tuple[str, Entry | None]] = [(path, None) for path in selection.unheld]
        for segment, ranges in parts.items():
            held = selection.held[segment]
            entries = _hit(held, segment.text, ranges, scan) if scan is not None and little else _touched(held, ranges)
            todo += [(entry.path, entry) for entry in entries]
        if not todo:
            return
        todo.sort(key=_path)
        enough = False
        reached: dict[Segment, int] = {}
        with Reader(self.tree, query.max_bytes, planned, meter, skipped) as reader:
            for path, entry in todo:
                if entry is None:
                    text = reader.text(path, whole=not enough)
                    if text is None:
                        continue
                    lines = Lines(text)
                    found = Found(path, lines, lines.matching(query.matches, scan))
                elif enough or entry.segment is None:
                    continue
                else:
                    segment = entry.segment
                    ranges = parts[segment]
                    if scan is not None and not little:
                        # One look at the whole segment mostly settles it for all its files.
                        if segment not in reached:
                            reached[segment] = _first(scan, segment.text, ranges)
                        if entry.end <= reached[segment]:
                            continue
                    lines = Lines(segment.text, entry.start, entry.end)
                    meter.scanned(entry.end - entry.start)
                    found = Found(path, lines, lines.matching(query.matches, scan, ranges))
                yield found
                enough = not lines.asked

    def _chosen(self, paths: Sequence[str], holding: "Holding") -> Chosen:
        """All that the rules leave, or what was picked of that: the same as before wherever it is the same."""
        for one in self._selections.values():
            if one.candidates.paths is paths:
                return one
        for one in self._picked:
            if one.candidates.paths == paths:
                return one
        chosen = Chosen(holding.version, Candidates(Paths(paths), cut=False, problems=[], left_out={}))
        self._picked = [chosen, *self._picked[: MAX_PICKED - 1]]
        return chosen

    def _current(self) -> "Holding | None":
        """What is held, brought up to now; None where that is not possible."""
        holding = self._holding
        if holding is None or not holding.ready:
            return None
        try:
            holding.refresh()
        except Lost:
            self.close()
            return None
        except Unwatchable:
            self._possible = False
            self.close()
            return None
        return holding


def _path(item: "tuple[str, Entry | None]") -> str:
    return item[0]


def _touched(held: "list[Entry]", ranges: list[tuple[int, int]]) -> "list[Entry]":
    """Of files in the order of their texts those from the first of some parts to the last."""
    low, high = ranges[0][0], ranges[-1][1]
    return [entry for entry in held if entry.start < high and entry.end > low]


def _hit(held: "list[Entry]", text: bytes, ranges: list[tuple[int, int]], scan: Scan) -> "Iterator[Entry]":
    """Of files in the order of their texts those with a match in some parts; between them may be text of none."""
    position = 0
    for low, high in ranges:
        position = max(position, low)
        while position < high:
            found = scan(text, position, high)[0]
            # What matches the empty text also matches behind the last line.
            if found < 0 or found >= high:
                break
            after = bisect_right(held, found, key=_start)
            if after and found < held[after - 1].end:
                yield held[after - 1]
                position = held[after - 1].end
            else:
                position = held[after].start if after < len(held) else high


def _start(entry: "Entry") -> int:
    return entry.start


def _first(scan: Scan, text: bytes, ranges: list[tuple[int, int]]) -> int:
    """Where the first match in some parts of a text starts; the text's end where there is none."""
    for low, high in ranges:
        start = scan(text, low, high)[0]
        if start >= 0:
            return start
    return len(text)
