"""Text held in memory: segments of whole files, and an index of the pieces they are cut into.

Files are held in segments of some tens of kilobytes, joined about in the order of their paths. A segment never changes:
a file that changed is forgotten, and read into a later segment. When too little of a segment is still of use, the rest
of its files are forgotten too, so that the memory comes back.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zeno.index.requirements import Demand
from zeno.index.signatures import Block

# Large enough for the allocator to give each its own pages, which then come back when it goes.
SEGMENT = 256 << 10
PIECE = SEGMENT // 3
# As many pieces are indexed together: a question costs about the same for each block, however many pieces it has.
BLOCK = 1024
# Blocks of fewer are indexed anew together with what is new.
SMALL_BLOCK = 64
# What a held file costs beside its text: the objects that know it.
OVERHEAD = 512


class Entry:
    """A regular file, and what is known of it. What is known is also watched."""

    __slots__ = ("binary", "end", "path", "segment", "size", "start", "watch")

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = -1
        """Its size; below 0 where nothing is known of it, so that it is read from disk."""
        self.binary = False
        self.watch = -1
        self.segment: Segment | None = None
        """Where its text is; None where its text is not held."""
        self.start = self.end = 0


class Piece(NamedTuple):
    """A part of a segment, whole lines; what the index tells apart."""

    segment: "Segment"
    start: int
    end: int

    @property
    def text(self) -> bytes:
        """Its text."""
        return self.segment.text[self.start : self.end]


class Segment:
    """The joined texts of some files."""

    __slots__ = ("entries", "live", "text")

    def __init__(self, texts: list[tuple[Entry, bytes]]) -> None:
        self.text = b"".join(text for _, text in texts)
        self.entries: list[Entry] = []
        self.live = len(self.text)
        """How much of the text is of files that are still held here."""
        position = 0
        for entry, text in texts:
            entry.segment, entry.start, entry.end = self, position, position + len(text)
            position = entry.end
            self.entries.append(entry)

    def pieces(self) -> Iterator[Piece]:
        """The text cut at ends of lines into about equal pieces."""
        start = 0
        while start < len(self.text):
            end = self.text.find(b"\n", min(start + PIECE, len(self.text) - 1)) + 1
            # A short rest is better part of the piece before it.
            end = end if len(self.text) - end > PIECE // 2 else len(self.text)
            yield Piece(self, start, end)
            start = end


class Store:
    """All segments, and the bits of those that are indexed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending: dict[Entry, bytes] = {}
        self._pending_size = 0
        self._fresh: list[Segment] = []
        """Not indexed yet: they may match anything."""
        self._blocks: list[tuple[Block, list[Piece]]] = []
        self.size = 0
        """Bytes of text, index and objects held."""

    @property
    def full(self) -> bool:
        """Whether no more text may be held. The index costs about an eighth of the text."""
        return self.size + self._pending_size * 9 // 8 >= self._limit

    def hold(self, entry: Entry, text: bytes) -> None:
        """Take the text of a file. It serves searches once its segment is full, or `seal` was called."""
        self._pending[entry] = text
        self._pending_size += len(text) + OVERHEAD
        if self._pending_size >= SEGMENT:
            self.seal()

    def seal(self) -> bool:
        """Make a segment of what is pending, if anything is."""
        some = bool(self._pending)
        if some:
            segment = Segment(list(self._pending.items()))
            self._fresh.append(segment)
            self.size += len(segment.text) + OVERHEAD * len(segment.entries)
            self._pending.clear()
            self._pending_size = 0
        return some

    def forget(self, entry: Entry) -> list[Entry]:
        """Let go of a file's text; returns the files that have to go with it, because their segment is not worth it."""
        text = self._pending.pop(entry, None)
        if text is not None:
            self._pending_size -= len(text) + OVERHEAD
        segment, entry.segment = entry.segment, None
        if segment is None:
            return []
        segment.live -= entry.end - entry.start
        self.size -= OVERHEAD
        if segment.live > len(segment.text) // 2:
            return []
        others = [other for other in segment.entries if other.segment is segment]
        for other in others:
            other.segment = None
        self.size -= len(segment.text) + OVERHEAD * len(others)
        segment.text, segment.entries = b"", []
        if segment in self._fresh:
            self._fresh.remove(segment)
        return others

    # The index

    @property
    def unindexed_size(self) -> int:
        """How much text has no bits yet."""
        return sum(len(segment.text) for segment in self._fresh)

    def unindexed(self) -> list[list[Piece]]:
        """The pieces to be indexed next, in blocks. Small and thinned blocks are dissolved and indexed anew, so that
        many edits do not leave many blocks."""
        kept = []
        for bits, pieces in self._blocks:
            live = {id(piece.segment): piece.segment for piece in pieces if piece.segment.entries}
            if sum(piece.segment.entries != [] for piece in pieces) >= max(SMALL_BLOCK, len(pieces) // 2):
                kept.append((bits, pieces))
            else:
                self._fresh += live.values()
                self.size -= bits.size
        self._blocks = kept
        blocks: list[list[Piece]] = [[]]
        for segment in self._fresh:
            if len(blocks[-1]) >= BLOCK:
                blocks.append([])
            blocks[-1] += segment.pieces()
        return blocks

    def indexed(self, bits: Block, pieces: list[Piece]) -> None:
        """Take the bits of a block. Some of its segments may have been emptied meanwhile: they match nothing now."""
        self._blocks.append((bits, pieces))
        self.size += bits.size
        taken = {id(piece.segment) for piece in pieces}
        self._fresh = [segment for segment in self._fresh if id(segment) not in taken]

    def candidates(self, demand: Demand) -> dict[Segment, list[tuple[int, int]]]:
        """Where a line that meets a demand may be: parts of segments, whole lines, in order."""
        found: dict[Segment, list[tuple[int, int]]] = {}
        for block, pieces in self._blocks:
            bits = _met(demand, block.row, (1 << block.count) - 1)
            while bits:
                lowest = bits & -bits
                segment, start, end = pieces[lowest.bit_length() - 1]
                found.setdefault(segment, []).append((start, end))
                bits ^= lowest
        for segment in self._fresh:
            found[segment] = [(0, len(segment.text))]
        return found


def _met(demand: Demand, row: Callable[[int], int], everything: int) -> int:
    """A bit for each piece that meets a demand."""
    if demand.any_of:
        bits = 0
        for number in demand.rows:
            bits |= row(number)
        for inner in demand.inner:
            bits |= _met(inner, row, everything)
        return bits
    bits = everything
    for number in demand.rows:
        bits &= row(number)
        if not bits:
            return 0
    for inner in demand.inner:
        bits &= _met(inner, row, everything)
        if not bits:
            return 0
    return bits
