"""Texts kept in memory: segments of whole files, and an index of the pieces that segments are cut into.

A segment holds about 256 KB of files that are neighbours in the tree, sorted by path. It never changes: a file that
changed is dropped from it and read into a later segment. When less than half of a segment is still in use, the rest of
its texts is copied into a new one, so that its memory is freed. A text may have several users: the working tree and
commits share those that are equal.
"""

from collections.abc import Callable, Iterator

from zeno.cache.index_builder import Builder
from zeno.cache.segments import SEGMENT, HeldText, IndexedBlock, Piece, Range, Segment
from zeno.cache.watch import NO_WATCH
from zeno.files.batch_open import NoBytes, Stamp
from zeno.index.requirements import Demand
from zeno.index.signatures import Block

# Pieces in one block of the index: a lookup costs about the same for each block, however many pieces it has.
BLOCK = 1024
# Blocks with fewer pieces are indexed again together with new segments.
SMALL_BLOCK = 64
# Memory for a cached file besides its text.
OVERHEAD = 512
# Larger files are searched only if a request raises grep's max_bytes above its default.
MAX_HELD_FILE = 2_000_000
# Below this amount of text an index does not make searches faster.
MIN_INDEXED = 1 << 20

UNKNOWN = -1
"""The size of a file of which nothing is known."""


class CachedFile:
    """A regular file and what is cached of it. Unless its size is `UNKNOWN` it has a watch or a stamp, or no need of
    them because it is in a commit."""

    __slots__ = ("no_text", "path", "size", "stamp", "text", "watch")

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = UNKNOWN
        """Size in bytes; `UNKNOWN` where nothing is known of the file, so that it is read from disk."""
        self.no_text: NoBytes | None = None
        """Why it is no text, if that is known."""
        self.watch = NO_WATCH
        self.stamp: Stamp | None = None
        """For a file without a watch: its status when it was read, to be compared before each use of its content."""
        self.text: HeldText | None = None
        """Its text; None if that is not in memory."""


class Store:
    """All segments, and the index of those that are indexed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._builder = Builder()
        self._pending: dict[HeldText, bytes] = {}
        self._pending_size = 0
        self._fresh: dict[Segment, None] = {}
        """Segments without an index: they may match anything."""
        self._blocks: list[IndexedBlock] = []
        self.size = 0
        """Bytes of text, index and objects held."""
        self.moves = 0
        """Increases whenever texts are moved to another segment."""

    def close(self) -> None:
        """Stop computing the index."""
        self._builder.close()

    @property
    def full(self) -> bool:
        """Whether no more text may be held. The index costs about an eighth of the text."""
        return self.size + self._pending_size * 9 // 8 >= self._limit

    @property
    def has_room(self) -> bool:
        """Whether there is room for more than a few files: a store that was full must not fill up after every edit."""
        return self.size + self._pending_size < self._limit * 7 // 8

    def hold(self, path: str, text: bytes) -> HeldText:
        """Take the text of a file. Searches use it once its segment is full, or after `seal`."""
        held = HeldText(path)
        self._pending[held] = text
        self._pending_size += len(text) + OVERHEAD
        if self._pending_size >= SEGMENT:
            self.seal()
        return held

    def seal(self) -> bool:
        """Make a segment of the pending texts; return whether there were any."""
        some = bool(self._pending)
        if some:
            self._add_segment(list(self._pending.items()))
            self._pending.clear()
            self._pending_size = 0
        return some

    def _add_segment(self, texts: list[tuple[HeldText, bytes]]) -> None:
        segment = Segment(texts)
        self._fresh[segment] = None
        self.size += len(segment.text) + OVERHEAD * len(texts)

    def release(self, held: HeldText) -> None:
        """End one use of a text. After the last one it is dropped."""
        held.users -= 1
        if held.users:
            return
        text = self._pending.pop(held, None)
        if text is not None:
            self._pending_size -= len(text) + OVERHEAD
        segment, held.segment = held.segment, None
        if segment is None:
            return
        segment.live -= held.end - held.start
        self.size -= OVERHEAD
        if segment.live > len(segment.text) // 2:
            return
        others = [(other, other.read()) for other in segment.held if other.segment is segment]
        self.size -= len(segment.text) + OVERHEAD * len(others)
        segment.text, segment.held = b"", []
        self._fresh.pop(segment, None)
        if others:
            self._add_segment(others)
            self.moves += 1

    def list_texts(self) -> Iterator[HeldText]:
        """Yield all texts that are in segments."""
        indexed = (piece.segment for block in self._blocks for piece in block.pieces)
        for segment in {**self._fresh, **dict.fromkeys(indexed)}:
            yield from (held for held in segment.held if held.segment is segment)

    # The index

    @property
    def unindexed_size(self) -> int:
        """Bytes of text without an index."""
        return sum(len(segment.text) for segment in self._fresh)

    @property
    def lacks_index(self) -> bool:
        """Whether an index of more texts is worth it, and can be computed now."""
        return self.unindexed_size > MIN_INDEXED and not self._builder.busy and not self._builder.broken

    def build_index(self) -> None:
        """Take what was computed of the index, and have the rest computed if that is worth it."""
        # Read `busy` before collecting: a block that finishes in between would be indexed twice.
        busy = self._builder.busy
        self.collect_blocks()
        if not busy and self.unindexed_size > MIN_INDEXED and not self._builder.broken:
            self._builder.start(self.collect_unindexed())

    def collect_blocks(self) -> None:
        """Take what was computed of the index."""
        for bits, pieces in self._builder.take_finished():
            self.add_block(bits, pieces)

    def collect_unindexed(self) -> list[list[Piece]]:
        """Return the pieces to be indexed next, in blocks.

        Small blocks, and those of which most segments are gone, are dissolved and indexed again: many edits must not
        leave many blocks.
        """
        kept = []
        for block in self._blocks:
            if sum(piece.segment.held != [] for piece in block.pieces) >= max(SMALL_BLOCK, len(block.pieces) // 2):
                kept.append(block)
                continue
            for piece in block.pieces:
                if piece.segment.held:
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
