"""Text held in memory: segments of whole files, blocks of indexed segments, and what may match in them.

Files are held in segments of some tens of kilobytes, joined in the order of their paths. A segment never changes: a file
that changed is forgotten, and read into a later segment. When too little of a segment is still of use, the rest of its
files are forgotten too, so that the memory comes back.
"""

from collections.abc import Callable, Iterator

from zeno.search.expression import Demand
from zeno.search.signatures import Block

SEGMENT = 96 << 10
BLOCK = 256
# What a held file costs beside its text: the objects that know it.
OVERHEAD = 512


class Entry:
    """A regular file, and what is known of it. What is known is also watched."""

    __slots__ = ("binary", "end", "name", "path", "segment", "size", "start", "watch")

    def __init__(self, path: str, name: bytes) -> None:
        self.path = path
        self.name = name
        """The path in the bytes of the file system."""
        self.size = -1
        """Its size; below 0 where nothing is known of it, so that it is read from disk."""
        self.binary = False
        self.watch = -1
        self.segment: Segment | None = None
        """Where its text is; None where its text is not held."""
        self.start = self.end = 0


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


class Store:
    """All segments, and the bits of those that are indexed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending: dict[Entry, bytes] = {}
        self._pending_size = 0
        self._fresh: list[Segment] = []
        """Not indexed yet: they may match anything."""
        self._blocks: list[tuple[Block, list[Segment]]] = []
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

    def unindexed(self) -> list[Segment]:
        """The segments without bits."""
        return list(self._fresh)

    @property
    def unindexed_size(self) -> int:
        """How much text has no bits yet."""
        return sum(len(segment.text) for segment in self._fresh)

    def indexed(self, block: Block, segments: list[Segment]) -> None:
        """Take the bits of segments. Some may have been emptied meanwhile: they match nothing any more."""
        taken = set(map(id, segments))
        self._fresh = [segment for segment in self._fresh if id(segment) not in taken]
        self._blocks.append((block, segments))
        self.size += block.size

    def merge(self) -> None:
        """Give small and thinned blocks back to be indexed anew, so that many edits do not leave many blocks."""
        kept = []
        for block, segments in self._blocks:
            live = [segment for segment in segments if segment.entries]
            if len(live) * 2 >= BLOCK or (len(live) * 2 > len(segments) and len(self._blocks) <= 1):
                kept.append((block, segments))
            else:
                self._fresh += live
                self.size -= block.size
        self._blocks = kept

    def candidates(self, demand: Demand) -> Iterator[Segment]:
        """The segments that may hold a line that meets a demand."""
        for block, segments in self._blocks:
            bits = _met(demand, block.row, (1 << block.count) - 1)
            while bits:
                lowest = bits & -bits
                yield segments[lowest.bit_length() - 1]
                bits ^= lowest
        yield from self._fresh


def _met(demand: Demand, row: Callable[[int], int], everything: int) -> int:
    """A bit for each segment that meets a demand."""
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
