"""The lines of files that the answers of a trace delivered to the agent.

A trace holds requests and digests, not texts. If a request run again gives the same digest, its result shows which
lines were delivered. If it does not, they are unknown. Where there is no tree to run requests on, the range of a
`read_file` can be shown as its event states it, which proves nothing.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import contract_spec as spec
from contract_models.zeno.ops.grep import GrepHit, GrepLine, GrepResult
from contract_models.zeno.ops.peek import PeekResult
from contract_models.zeno.ops.read_file import ReadFileResult, ReadFileSlice
from contract_models.zeno.ops.search import SearchResult
from contract_spec.model import Model
from pydantic import MISSING


class Span(NamedTuple):
    """Lines of a file, both ends included."""

    path: str
    first: int
    last: int


class Shown(NamedTuple):
    """The lines that a result delivers."""

    spans: tuple[Span, ...]
    """Lines whose whole text is in the result. Names and line numbers alone (symbols, lists) do not count."""
    whole: bool
    """Whether `spans` has all its lines. Clipped lines are not in `spans`."""


def find_shown(result: Model) -> Shown:
    """Return the lines of files that a result delivers."""
    if isinstance(result, ReadFileResult):
        # A clipped text does not say which of its lines are clipped.
        slices: list[ReadFileResult | ReadFileSlice] = [result, *([] if result.ranges is MISSING else result.ranges)]
        kept = [one for one in slices if one.clipped is MISSING]
        told = [span for one in kept for span in _span(one.path, one.start_line, one.end_line)]
        return Shown(tuple(told), len(kept) == len(slices))
    if isinstance(result, PeekResult):
        parts = [part for part in (result.head, result.tail) if part.clipped is MISSING]
        spans = [span for part in parts for span in _span(result.path, part.start_line, part.end_line)]
        return Shown(tuple(spans), len(parts) == 2)
    if isinstance(result, GrepResult):
        lines = [
            (hit.path, one) for hit in result.hits for one in (hit.context if hit.context is not MISSING else [hit])
        ]
        whole = [Span(path, one.line, _last_line(one)) for path, one in lines if one.clipped is MISSING]
        return Shown(tuple(_join(whole)), len(whole) == len(lines))
    if isinstance(result, SearchResult):
        shown = [(one.path, line) for one in result.results for line in one.lines]
        unclipped = [Span(path, line.line, line.line) for path, line in shown if line.clipped is MISSING]
        return Shown(tuple(_join(unclipped)), len(unclipped) == len(shown))
    return Shown((), True)


def _last_line(one: GrepHit | GrepLine) -> int:
    """The last line of a hit or of its context; a hit of a multiline search may have several lines."""
    return one.end_line if isinstance(one, GrepHit) and one.end_line is not MISSING else one.line


def _join(spans: list[Span]) -> Iterator[Span]:
    """Join neighbouring spans of one file."""
    held: Span | None = None
    for span in spans:
        if held and held.path == span.path and held.first <= span.first <= held.last + 1:
            held = Span(held.path, held.first, max(held.last, span.last))
            continue
        if held:
            yield held
        held = span
    if held:
        yield held


def _span(path: str, first: int, last: int) -> tuple[Span, ...]:
    return (Span(path, first, last),) if 1 <= first <= last else ()


def find_stated_span(op: str, args: dict[str, Any], summary: dict[str, Any]) -> Span | None:
    """Return the lines that an answer delivered as its event states it: only `read_file` counts its lines."""
    count = int(summary["metrics"].get("lines_returned", 0))
    if op != "read_file" or not count or not {"max_chars", "max_line_chars", "ranges"}.isdisjoint(args):
        return None
    # Anybody may have written the trace: ignore arguments that read_file would refuse.
    if spec.violations("zeno/ops/read_file.json#/$defs/args", args):
        return None
    first = int(args.get("start_line", 1))
    return Span(args["path"], first, first + count - 1)


class LineSet:
    """A set of line numbers, kept as sorted ranges that do not touch."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def add(self, first: int, last: int) -> None:
        """Add a range, both ends included."""
        low = bisect_left(self._lasts, first - 1)
        high = bisect_right(self._firsts, last + 1)
        if low < high:
            first, last = min(first, self._firsts[low]), max(last, self._lasts[high - 1])
        self._firsts[low:high] = [first]
        self._lasts[low:high] = [last]

    def covers(self, first: int, last: int) -> bool:
        """Whether all lines of a range are in the set."""
        at = bisect_right(self._firsts, first) - 1
        return at >= 0 and last <= self._lasts[at]

    def count(self, up_to: int | None = None) -> int:
        """Return the number of lines in the set, or of those up to line `up_to`."""
        ranges = self.ranges()
        if up_to is not None:
            ranges = [(first, min(last, up_to)) for first, last in ranges]
        return sum(max(0, last - first + 1) for first, last in ranges)

    def ranges(self) -> list[tuple[int, int]]:
        """Return the ranges in order, as (first, last)."""
        return list(zip(self._firsts, self._lasts, strict=True))


class Delivered:
    """The lines delivered up to the current step, by file."""

    def __init__(self) -> None:
        self.files: dict[str, LineSet] = {}

    def add(self, spans: Iterable[Span]) -> None:
        """Add the lines of an answer."""
        for path, first, last in spans:
            self.files.setdefault(path, LineSet()).add(first, last)

    def covers(self, path: str, first: int, last: int) -> bool:
        """Whether all these lines were delivered."""
        return path in self.files and self.files[path].covers(first, last)
