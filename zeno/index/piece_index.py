"""The index of texts in memory: which pieces of them may hold a match. Another process computes it.

The holder of texts adds them and drops them again. Each is cut into pieces of whole lines, which are indexed in blocks.
Texts without an index may match anything, so an answer never depends on how far the index is.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from zeno.index import signatures
from zeno.index.requirements import Demand

if TYPE_CHECKING:
    import subprocess
    from threading import Thread

PIECE = 85 << 10
"""About how many bytes of text have one bit for each row."""
# Pieces in one block of the index: a lookup costs about the same for each block, however many pieces it has.
BLOCK = 1024
# Blocks with fewer pieces are indexed again together with new texts.
SMALL_BLOCK = 64
# Below this amount of text an index does not make searches faster.
MIN_INDEXED = 1 << 20
# One helper process may be killed, for instance when memory is short; where all fail there is no numpy or no process.
MAX_FAILURES = 3

Range = tuple[int, int]
"""Part of a text: where it begins and where it ends."""


class IndexedText:
    """A text that can be indexed. It does not change while it is."""

    __slots__ = ("place", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.place: PlaceInIndex | None = None
        """Where its bits are, once it is indexed."""


class Piece(NamedTuple):
    """Whole lines of a text; the unit of the index."""

    owner: IndexedText
    start: int
    end: int

    @property
    def text(self) -> bytes:
        return self.owner.text[self.start : self.end]


class Block:
    """Some pieces and their bits."""

    def __init__(self, pieces: list[Piece], bits: bytes) -> None:
        self.pieces = pieces
        self._bits = bits
        self._width = (len(pieces) + 7) // 8
        self.size = len(bits)
        """Bytes held."""

    def row(self, number: int) -> int:
        """One bit for each piece, the first lowest: whether it may hold the sequence of that row."""
        start = number * self._width
        return int.from_bytes(self._bits[start : start + self._width], "little")

    def find(self, demand: Demand) -> int:
        """Return one bit for each piece: whether it meets a demand."""
        if demand.any_of:
            bits = 0
            for number in demand.rows:
                bits |= self.row(number)
            for inner in demand.inner:
                bits |= self.find(inner)
            return bits
        bits = (1 << len(self.pieces)) - 1
        for number in demand.rows:
            bits &= self.row(number)
            if not bits:
                return 0
        for inner in demand.inner:
            bits &= self.find(inner)
            if not bits:
                return 0
        return bits


class PlaceInIndex(NamedTuple):
    """Where the bits of a text are, and the pieces that they stand for."""

    block: Block
    first: int
    ranges: list[Range]


class PieceIndex:
    """The index of the texts that were added. `build` has it computed; `close` ends that."""

    def __init__(self) -> None:
        self._builder = Builder()
        self._unindexed: dict[IndexedText, None] = {}
        self._blocks: list[Block] = []
        self.size = 0
        """Bytes held."""

    def close(self) -> None:
        self._builder.close()

    def add(self, text: IndexedText) -> None:
        self._unindexed[text] = None

    def drop(self, text: IndexedText) -> None:
        self._unindexed.pop(text, None)
        text.place = None

    @property
    def is_wanted(self) -> bool:
        """Whether so much text has no index that one is worth it, and can be computed now."""
        much = sum(len(one.text) for one in self._unindexed) > MIN_INDEXED
        return much and not self._builder.is_busy and not self._builder.is_broken

    def build(self) -> None:
        """Take what was computed, and have the rest computed if that is worth it."""
        # Asked before blocks are taken: one that finishes in between would be indexed twice.
        is_busy = self._builder.is_busy
        self._take_finished()
        if not is_busy and self.is_wanted:
            self._builder.start(self.cut_unindexed())

    def _take_finished(self) -> None:
        for block in self._builder.take_finished():
            self.add_block(block)

    def cut_unindexed(self) -> list[list[Piece]]:
        """Return the pieces to be indexed next, in blocks.

        Small blocks, and those of which most texts are gone, are dissolved and indexed again: many edits must not
        leave many blocks.
        """
        for block in self._blocks[:]:
            live = [piece.owner for piece in block.pieces if piece.owner.place is not None]
            if len(live) < max(SMALL_BLOCK, len(block.pieces) // 2):
                self._blocks.remove(block)
                self.size -= block.size
                for owner in dict.fromkeys(live):
                    owner.place = None
                    self._unindexed[owner] = None
        blocks: list[list[Piece]] = [[]]
        for one in self._unindexed:
            if len(blocks[-1]) >= BLOCK:
                blocks.append([])
            blocks[-1] += _cut(one)
        return blocks

    def add_block(self, block: Block) -> None:
        """Take a block that was computed. Texts that were dropped meanwhile stay dropped."""
        self._blocks.append(block)
        self.size += block.size
        for number, (owner, start, end) in enumerate(block.pieces):
            if owner in self._unindexed:
                del self._unindexed[owner]
                owner.place = PlaceInIndex(block, number, [])
            if owner.place is not None and owner.place.block is block:
                owner.place.ranges.append((start, end))

    def narrow(self, demand: Demand) -> "Narrowed":
        """Look up which texts may hold a line that meets a demand."""
        self._take_finished()
        return Narrowed(demand, self._blocks, self._unindexed)


class Narrowed:
    """The parts of texts that may hold a line that meets a demand."""

    def __init__(self, demand: Demand, blocks: list[Block], unindexed: dict[IndexedText, None]) -> None:
        self._unindexed = unindexed
        self._met = {block: block.find(demand) for block in blocks}
        self.pieces = sum(bits.bit_count() for bits in self._met.values()) + len(unindexed)
        """How many pieces may hold such a line; a text without an index counts as one."""

    def texts(self) -> list[IndexedText]:
        """All texts with such a part, in no particular order; those that were dropped may be among them."""
        found: dict[IndexedText, None] = dict.fromkeys(self._unindexed)
        for block, bits in self._met.items():
            # The lowest bit comes first.
            flags = bin(bits)[:1:-1]
            at = flags.find("1")
            while at >= 0:
                found[block.pieces[at].owner] = None
                at = flags.find("1", at + 1)
        return list(found)

    def ranges(self, text: IndexedText) -> list[Range]:
        """The parts of one text, whole lines, in order; neighbours are joined."""
        place = text.place
        if place is None:
            return [(0, len(text.text))]
        all_bits = (1 << len(place.ranges)) - 1
        bits = self._met[place.block] >> place.first & all_bits
        if bits == all_bits:
            return [(0, len(text.text))]
        found: list[Range] = []
        for number, (start, end) in enumerate(place.ranges):
            if bits >> number & 1:
                if found and found[-1][1] == start:
                    start = found.pop()[0]
                found.append((start, end))
        return found


def _cut(one: IndexedText) -> Iterator[Piece]:
    """Cut a text at line ends into pieces of about equal size."""
    text, start = one.text, 0
    while start < len(text):
        end = text.find(b"\n", min(start + PIECE, len(text) - 1)) + 1
        # A short rest becomes part of the piece before it.
        end = end if len(text) - end > PIECE // 2 else len(text)
        yield Piece(one, start, end)
        start = end


class Builder:
    """Computes the bits of pieces in another process; a thread feeds it, so that no request waits.

    Without numpy, or without processes, there is no index.
    """

    def __init__(self) -> None:
        self._failures = 0
        """Number of helper processes that failed since one succeeded."""
        self._closed = False
        self._thread: Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._finished: list[Block] = []

    @property
    def is_broken(self) -> bool:
        """Whether too many helper processes failed, so that no other is started."""
        return self._failures >= MAX_FAILURES

    @property
    def is_busy(self) -> bool:
        """Whether a computation is under way."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, blocks: list[list[Piece]]) -> None:
        """Compute the bits of these blocks: the first time at normal priority, because every search waits for it."""
        from threading import Thread

        self._thread = Thread(target=self._run, args=(blocks, [] if self._thread is None else ["--nice"]), daemon=True)
        self._thread.start()

    def take_finished(self) -> list[Block]:
        """Return the blocks that were computed since the last call."""
        done, self._finished = self._finished, []
        return done

    def close(self) -> None:
        self._closed = True
        if self._thread is not None:
            if self._process is not None:
                self._process.kill()
            self._thread.join()

    def _run(self, blocks: list[list[Piece]], flags: list[str]) -> None:
        import subprocess

        # In isolated mode no module is imported from the current directory.
        command = [sys.executable, "-I", signatures.__file__, *flags]
        try:
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as process:
                self._process = process
                if self._closed:
                    process.kill()
                sink, source = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
                for pieces in blocks:
                    signatures.send((piece.text for piece in pieces), len(pieces), sink)
                    bits = signatures.receive(len(pieces), source)
                    if bits is None:
                        self._failures += 1
                        break
                    self._failures = 0
                    self._finished.append(Block(pieces, bits))
        except OSError:
            self._failures += 1
