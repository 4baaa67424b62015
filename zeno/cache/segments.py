"""Segments: the joined texts of some files that are neighbours in the tree, cut into the pieces that are indexed."""

from collections.abc import Iterator
from typing import NamedTuple

from zeno.index.signatures import Block

# Large enough for the allocator to map each segment on its own, so that its pages are freed with it.
SEGMENT = 256 << 10
PIECE = SEGMENT // 3

Range = tuple[int, int]
"""Part of a text: where it begins and where it ends."""


class HeldText:
    """A text in memory."""

    __slots__ = ("end", "path", "segment", "start", "users", "words")

    def __init__(self, path: str) -> None:
        self.path = path
        """The path of the file that it was read for: the texts of a segment are sorted by it."""
        self.segment: Segment | None = None
        """The segment that holds it; None until that is made."""
        self.start = self.end = 0
        """Where it begins and ends in the segment."""
        self.users = 1
        """How many files have this text."""
        self.words = -1
        """Its number among the texts whose words are kept; -1 where they are not."""

    def read(self) -> bytes:
        """Return the text; empty until it is in a segment."""
        return b"" if self.segment is None else self.segment.text[self.start : self.end]


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

    __slots__ = ("block", "cuts", "first_bit", "held", "live", "text")

    def __init__(self, texts: list[tuple[HeldText, bytes]]) -> None:
        texts = sorted(texts, key=_path_of)
        self.text = b"".join(text for _, text in texts)
        self.held: list[HeldText] = []
        self.live = len(self.text)
        """Bytes of texts that are still in use."""
        self.block: IndexedBlock | None = None
        """The block that indexes this segment; None while it is not indexed."""
        self.first_bit = 0
        """The bit of its first piece in that block."""
        self.cuts: list[Range] = []
        """Where its pieces begin and end, once it is indexed."""
        position = 0
        for held, text in texts:
            held.segment, held.start, held.end = self, position, position + len(text)
            position = held.end
            self.held.append(held)

    def pieces(self) -> Iterator[Piece]:
        """Cut the text at line ends into pieces of about equal size."""
        start = 0
        while start < len(self.text):
            end = self.text.find(b"\n", min(start + PIECE, len(self.text) - 1)) + 1
            # A short rest becomes part of the piece before it.
            end = end if len(self.text) - end > PIECE // 2 else len(self.text)
            yield Piece(self, start, end)
            start = end


def _path_of(item: tuple[HeldText, bytes]) -> str:
    return item[0].path
