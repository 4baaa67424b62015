"""The sink, which takes the results of a search: files with their lines. Files that cannot be searched are counted."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Literal, NamedTuple, Protocol, overload

from stringzilla import count as count_bytes  # up to ten times as fast as the method of bytes

from zeno.code.pool import Holder, SourceText
from zeno.meter import Scan
from zeno.text.regex import Matches

SkipReason = Literal["binary", "large", "unreadable"]

MAX_NAMED = 5
"""How many files a result names."""
# Names are sorted and cut when so many have come together.
_ROOM = 256


class Skipped(Counter[SkipReason]):
    """Numbers of files by reason. A search adds to it until it has been iterated to its end."""

    def __init__(self) -> None:
        super().__init__()
        self._named: list[tuple[str, SkipReason]] = []

    def add(self, path: str, reason: SkipReason) -> None:
        self[reason] += 1
        # A binary file has no lines: that it was not searched is no gap.
        if reason != "binary":
            self._named.append((path, reason))
            if len(self._named) > _ROOM:
                self._named = self.first_paths

    def add_all(self, others: "Skipped", prefix: str = "") -> None:
        """Count files that were counted elsewhere, with a prefix before their paths."""
        self.update(others)
        self._named += [(prefix + path, reason) for path, reason in others._named]

    @property
    def first_paths(self) -> list[tuple[str, SkipReason]]:
        """The first files that make an answer incomplete, sorted by path, with their reasons."""
        return sorted(self._named)[:MAX_NAMED]


class MatchedLines(NamedTuple):
    """The lines of a match that may run over several lines, or of matches that share lines."""

    first: int
    """Index of the first line."""
    last: int
    """Index of the last line."""
    match: tuple[int, int]
    """Where the first match begins and ends, in bytes from the start of the first line."""


class LineView:
    """Part of a text in normal form (see `zeno.text.file_lines.normal`) as a sequence of lines without their ends.

    It remembers the line that was asked for last, so that lines in order and their neighbours are not counted again,
    and where the lines that match begin.
    """

    __slots__ = ("_begins", "_count", "_end", "_from", "_index", "_start", "_text", "_to", "holder")

    def __init__(self, text: bytes, start: int = 0, end: int | None = None, holder: Holder | None = None) -> None:
        self._text = text
        self.holder = holder
        """Holds the text, if it is kept in memory between requests."""
        self._start = start
        self._end = len(text) if end is None else end
        self._count: int | None = None
        self._begins: dict[int, int] = {}
        """Where lines that matched begin, by index."""
        self._index, self._from = 0, start
        self._to = text.find(b"\n", start, self._end)

    @property
    def size(self) -> int:
        """Bytes of text."""
        return self._end - self._start

    def __len__(self) -> int:
        # Counted once: every hit with context asks for it.
        if self._count is None:
            self._count = count_bytes(self._text, b"\n", self._start, self._end)
        return self._count

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, int):
            if index == self._index and self._from < self._end:
                return self._text[self._from : self._to]
            if not self._seek(index if index >= 0 else index + len(self)):
                raise IndexError(index)
            return self._text[self._from : self._to]
        if index.step is None and index.start is not None and index.stop is not None and 0 <= index.start <= index.stop:
            return self._slice(index.start, index.stop)
        return self._slice(0, len(self))[index]

    @property
    def text(self) -> bytes:
        """All lines, each with its line feed."""
        return self._text[self._start : self._end]

    def offset(self, index: int) -> int:
        """Return where a line begins in `text`."""
        self._seek(index)
        return self._from - self._start

    def find_matches(
        self,
        matches: Matches,
        scan: Scan | None,
        ranges: Sequence[tuple[int, int]] | None = None,
        first: int | None = None,
    ) -> Iterator[int]:
        """Yield the indexes of the lines that match: `matches` decides about the lines that `scan` does not rule out.

        Lines outside the `ranges` of the text are known not to match. `first` is where the scan finds something first,
        if that is known already.
        """
        text = self._text
        for low, high in ranges or ((self._start, self._end),):
            position, end = max(low, self._start), min(high, self._end)
            while position < end:
                if first is not None and position <= first < end:
                    found, first = first, None
                else:
                    found = scan(text, position, end)[0] if scan is not None else position
                # A pattern that matches the empty text also matches behind the last line.
                if found < 0 or found >= end:
                    break
                start = text.rfind(b"\n", position, found) + 1 or position
                if start < self._from:
                    # A neighbour further down was asked for meanwhile.
                    self._move(0, self._start)
                # As `_move`, without a call: this is for every line of an answer.
                index = self._index = self._index + count_bytes(text, b"\n", self._from, start)
                self._from, self._to = start, text.find(b"\n", start, self._end)
                position = self._to + 1
                if matches(text[start : self._to]):
                    self._begins[index] = start
                    yield index

    def spans(self, scan: Scan, spend: Callable[[int], None]) -> Iterator[MatchedLines]:
        """Yield the lines of each match of `scan` in the whole text, in order; matches that share a line are one.

        A search for the next match begins where the last one ended, and may look at everything behind it. `spend` is
        called before each search with the number of bytes that are left; it may raise to stop.
        """
        # A copy where the text is part of a segment: `\b` and `\A` look at what stands before and behind.
        text = self._text[self._start : self._end]
        held: MatchedLines | None = None
        position = counted = lines = 0
        while position < len(text):
            spend(len(text) - position)
            start, end = scan(text, position, len(text))
            # A pattern that matches the empty text also matches behind the last line.
            if start < 0 or start >= len(text):
                break
            lines += count_bytes(text, b"\n", counted, start)
            counted = start
            last = lines + count_bytes(text, b"\n", start, max(start, end - 1))
            if held is not None and lines <= held.last:
                held = held._replace(last=last)
            else:
                if held is not None:
                    yield held
                offset = text.rfind(b"\n", 0, start) + 1
                held = MatchedLines(lines, last, (start - offset, end - offset))
            position = max(end, start + 1)
        if held is not None:
            yield held

    def _slice(self, first: int, last: int) -> list[bytes]:
        if first >= last or not self._seek(first):
            return []
        stop = self._to
        for _ in range(first + 1, last):
            if stop + 1 >= self._end:
                break
            stop = self._text.index(b"\n", stop + 1)
        return self._text[self._from : stop].split(b"\n")

    def _seek(self, index: int) -> bool:
        """Move to a line, from the last one unless its place is known; return False where there is no such line."""
        if index != self._index and self._start < self._end:
            text = self._text
            known = self._begins.get(index)
            at, begin = (self._index, self._from) if known is None else (index, known)
            while at < index and (stop := text.index(b"\n", begin)) + 1 < self._end:
                at, begin = at + 1, stop + 1
            while at > index and begin > self._start:
                at, begin = at - 1, text.rfind(b"\n", self._start, begin - 1) + 1 or self._start
            self._move(at, begin)
        return index == self._index and self._from < self._end

    def _move(self, index: int, position: int) -> None:
        self._index = index
        self._from = position
        self._to = self._text.find(b"\n", position, self._end)


class SearchedFile(NamedTuple):
    """One file that may have matching lines."""

    path: str
    lines: LineView
    """All lines of the file as valid UTF-8, without their ends; index and slice it like a list."""
    matching: Iterator[int]
    """Indexes into `lines` of the lines that match, in order, found as they are asked for. There may be none.

    Matches of several lines are found by `lines.spans`."""

    @property
    def source(self) -> SourceText:
        return SourceText(self.path, lambda: self.lines.text, self.lines.holder)


class Wish(Enum):
    """A wish of the consumer of a search."""

    MORE = "more files"
    COUNT = "only the number of files that cannot be searched"
    STOP = "nothing"


class Sink(Protocol):
    """The consumer of a search. It is asked for its wish before each file."""

    @property
    def wish(self) -> Wish:
        """Its wish for the next file."""
        ...

    def take(self, found: SearchedFile) -> None:
        """Take a file that may have matching lines. Files come sorted by path."""
        ...
