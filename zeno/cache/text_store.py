"""Texts kept in memory: segments of whole files, and an index of the pieces that segments are cut into.

A segment holds about 256 KB of files that are neighbours in the tree, sorted by path. It never changes: a file that
changed is dropped from it and read into a later segment. When less than half of a segment is still in use, the rest of
its files is dropped too, so that its memory is freed.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zeno.cache.watch import NO_WATCH
from zeno.files.batch_open import NoBytes, Stamp
from zeno.index.requirements import Demand
from zeno.index.signatures import Block

# Large enough for the allocator to map each segment on its own, so that its pages are freed with it.
SEGMENT = 256 << 10
PIECE = SEGMENT // 3
# Pieces in one block of the index: a lookup costs about the same for each block, however many pieces it has.
BLOCK = 1024
# Blocks with fewer pieces are indexed again together with new segments.
SMALL_BLOCK = 64
# Memory for a cached file besides its text.
OVERHEAD = 512

Range = tuple[int, int]
"""Part of a text: where it begins and where it ends."""


UNKNOWN = -1
"""The size of a file of which nothing is known."""


class CachedFile:
    """A regular file and what is cached of it. Unless its size is `UNKNOWN` it has a watch or a stamp."""

    __slots__ = ("end", "no_text", "path", "segment", "size", "stamp", "start", "watch")

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = UNKNOWN
        """Size in bytes; `UNKNOWN` where nothing is known of the file, so that it is read from disk."""
        self.no_text: NoBytes | None = None
        """Why it is no text, if that is known."""
        self.watch = NO_WATCH
        self.stamp: Stamp | None = None
        """For a file without a watch: its status when it was read, to be compared before each use of its content."""
        self.segment: Segment | None = None
        """The segment that holds its text; None if its text is not in memory."""
        self.start = self.end = 0
        """Where its text begins and ends in the segment."""


class Piece(NamedTuple):
    """Whole lines of a segment; the unit of the index."""

    segment: "Segment"
    start: int
    end: int

    @property
    def text(self) -> bytes:
        """The text of the piece."""
        return self.segment.text[self.start : self.end]


class IndexedBlock(NamedTuple):
    """A block of the index and the pieces that its bits stand for."""

    bits: Block
    pieces: list[Piece]


class Segment:
    """The joined texts of some files, sorted by path."""

    __slots__ = ("block", "cuts", "entries", "first_bit", "live", "text")

    def __init__(self, texts: list[tuple[CachedFile, bytes]]) -> None:
        texts = sorted(texts, key=_path_of)
        self.text = b"".join(text for _, text in texts)
        self.entries: list[CachedFile] = []
        self.live = len(self.text)
        """Bytes of files that are still held here."""
        self.block: IndexedBlock | None = None
        """The block that indexes this segment; None while it is not indexed."""
        self.first_bit = 0
        """The bit of its first piece in that block."""
        self.cuts: list[Range] = []
        """Where its pieces begin and end, once it is indexed."""
        position = 0
        for entry, text in texts:
            entry.segment, entry.start, entry.end = self, position, position + len(text)
            position = entry.end
            self.entries.append(entry)

    def pieces(self) -> Iterator[Piece]:
        """Cut the text at line ends into pieces of about equal size."""
        start = 0
        while start < len(self.text):
            end = self.text.find(b"\n", min(start + PIECE, len(self.text) - 1)) + 1
            # A short rest becomes part of the piece before it.
            end = end if len(self.text) - end > PIECE // 2 else len(self.text)
            yield Piece(self, start, end)
            start = end


def _path_of(item: tuple[CachedFile, bytes]) -> str:
    return item[0].path


class Store:
    """All segments, and the index of those that are indexed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending: dict[CachedFile, bytes] = {}
        self._pending_size = 0
        self._fresh: dict[Segment, None] = {}
        """Segments without an index: they may match anything."""
        self._blocks: list[IndexedBlock] = []
        self.size = 0
        """Bytes of text, index and objects held."""

    @property
    def full(self) -> bool:
        """Whether no more text may be held. The index costs about an eighth of the text."""
        return self.size + self._pending_size * 9 // 8 >= self._limit

    @property
    def has_room(self) -> bool:
        """Whether there is room for more than a few files: a store that was full must not fill up after every edit."""
        return self.size + self._pending_size < self._limit * 7 // 8

    def hold(self, entry: CachedFile, text: bytes) -> None:
        """Take the text of a file. Searches use it once its segment is full, or after `seal`."""
        self._pending[entry] = text
        self._pending_size += len(text) + OVERHEAD
        if self._pending_size >= SEGMENT:
            self.seal()

    def seal(self) -> bool:
        """Make a segment of the pending texts; return whether there were any."""
        some = bool(self._pending)
        if some:
            segment = Segment(list(self._pending.items()))
            self._fresh[segment] = None
            self.size += len(segment.text) + OVERHEAD * len(segment.entries)
            self._pending.clear()
            self._pending_size = 0
        return some

    def forget(self, entry: CachedFile) -> list[CachedFile]:
        """Drop the text of a file; return the other files that are dropped because their segment is hardly used."""
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
        self._fresh.pop(segment, None)
        return others

    # The index

    @property
    def unindexed_size(self) -> int:
        """Bytes of text without an index."""
        return sum(len(segment.text) for segment in self._fresh)

    def collect_unindexed(self) -> list[list[Piece]]:
        """Return the pieces to be indexed next, in blocks.

        Small blocks, and those of which most segments are gone, are dissolved and indexed again: many edits must not
        leave many blocks.
        """
        kept = []
        for block in self._blocks:
            if sum(piece.segment.entries != [] for piece in block.pieces) >= max(SMALL_BLOCK, len(block.pieces) // 2):
                kept.append(block)
                continue
            for piece in block.pieces:
                if piece.segment.entries:
                    piece.segment.block = None
                    self._fresh[piece.segment] = None
            self.size -= block.bits.size
        self._blocks = kept
        blocks: list[list[Piece]] = [[]]
        for segment in self._fresh:
            if len(blocks[-1]) >= BLOCK:
                blocks.append([])
            blocks[-1] += segment.pieces()
        return blocks

    def add_block(self, bits: Block, pieces: list[Piece]) -> None:
        """Take the bits of a block. Segments of it that were emptied meanwhile match nothing."""
        block = IndexedBlock(bits, pieces)
        self._blocks.append(block)
        self.size += bits.size
        for number, (segment, start, end) in enumerate(pieces):
            if segment.block is not block:
                segment.block, segment.first_bit, segment.cuts = block, number, []
                self._fresh.pop(segment, None)
            segment.cuts.append((start, end))

    def narrow(self, demand: Demand) -> "Narrowed":
        """Look up which segments may hold a line that meets a demand."""
        return Narrowed(demand, self._blocks, self._fresh)


class Narrowed:
    """The parts of segments that may hold a line that meets a demand."""

    def __init__(self, demand: Demand, blocks: list[IndexedBlock], fresh: dict[Segment, None]) -> None:
        self._fresh = fresh
        self._met = {id(block): (block, _meet(demand, block.bits.row, (1 << block.bits.count) - 1)) for block in blocks}
        self.pieces = sum(bits.bit_count() for _, bits in self._met.values()) + len(fresh)
        """How many pieces may hold such a line; a segment without an index counts as one."""

    def segments(self) -> list[Segment]:
        """All segments with such a part, in no particular order."""
        found: dict[Segment, None] = dict.fromkeys(self._fresh)
        for block, bits in self._met.values():
            # The lowest bit comes first.
            flags = bin(bits)[:1:-1]
            at = flags.find("1")
            while at >= 0:
                found[block.pieces[at].segment] = None
                at = flags.find("1", at + 1)
        return list(found)

    def ranges(self, segment: Segment) -> list[Range]:
        """The parts of one segment, whole lines, in order; neighbours are joined."""
        if segment.block is None:
            return [(0, len(segment.text))]
        count = len(segment.cuts)
        bits = self._met[id(segment.block)][1] >> segment.first_bit & (1 << count) - 1
        if bits == (1 << count) - 1:
            return [(0, len(segment.text))]
        found: list[Range] = []
        for number, (start, end) in enumerate(segment.cuts):
            if bits >> number & 1:
                if found and found[-1][1] == start:
                    start = found.pop()[0]
                found.append((start, end))
        return found


def _meet(demand: Demand, row: Callable[[int], int], everything: int) -> int:
    """Return one bit for each piece: whether it meets the demand."""
    if demand.any_of:
        bits = 0
        for number in demand.rows:
            bits |= row(number)
        for inner in demand.inner:
            bits |= _meet(inner, row, everything)
        return bits
    bits = everything
    for number in demand.rows:
        bits &= row(number)
        if not bits:
            return 0
    for inner in demand.inner:
        bits &= _meet(inner, row, everything)
        if not bits:
            return 0
    return bits
