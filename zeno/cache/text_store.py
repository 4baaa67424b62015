"""Texts kept in memory, joined to segments.

A segment holds about 256 KB of files that are neighbours in the tree, sorted by path. It never changes: a file that
changed is dropped from it and read into a later segment. When less than half of a segment is still in use, the rest of
its texts is copied into a new one, so that its memory is freed. A text may have several users: the working tree and
commits share those that are equal.
"""

from collections.abc import Callable, Iterator

from zeno.cache.watch import Watched
from zeno.files.batch_open import NoBytes, Stamp
from zeno.index.piece_index import IndexedText, PieceIndex

# Large enough for the allocator to map each segment on its own, so that its pages are freed with it.
SEGMENT = 256 << 10
# Memory for a cached file besides its text.
OVERHEAD = 512
# Larger files are searched only if a request raises grep's max_bytes above its default.
MAX_HELD_FILE = 2_000_000

UNKNOWN = -1
"""The size of a file of which nothing is known."""


class HeldText:
    """A text in memory."""

    __slots__ = ("digest", "end", "path", "segment", "start", "users", "words")

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
        self.digest = b""
        """The digest of the text; empty until someone asked for it."""

    def read(self) -> bytes:
        """Return the text; empty until it is in a segment."""
        return b"" if self.segment is None else self.segment.text[self.start : self.end]


class Segment(IndexedText):
    """The joined texts of some files, sorted by path."""

    __slots__ = ("held", "live")

    def __init__(self, texts: list[tuple[HeldText, bytes]]) -> None:
        texts = sorted(texts, key=lambda item: item[0].path)
        super().__init__(b"".join(text for _, text in texts))
        self.held = [held for held, _ in texts]
        self.live = len(self.text)
        """Bytes of texts that are still in use."""
        position = 0
        for held, text in texts:
            held.segment, held.start, held.end = self, position, position + len(text)
            position = held.end


class CachedFile(Watched):
    """A regular file and what is cached of it. Unless its size is `UNKNOWN` it has a watch or a stamp, or no need of
    them because it is in a commit."""

    __slots__ = ("no_text", "path", "size", "stamp", "text")

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.size = UNKNOWN
        """Size in bytes; `UNKNOWN` where nothing is known of the file, so that it is read from disk."""
        self.no_text: NoBytes | None = None
        """Why it is no text, if that is known."""
        self.stamp: Stamp | None = None
        """For a file without a watch: its status when it was read, to be compared before each use of its content."""
        self.text: HeldText | None = None
        """Its text; None if that is not in memory."""


class Store:
    """All segments, and their index."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.index = PieceIndex()
        self._segments: dict[Segment, None] = {}
        self._pending: dict[HeldText, bytes] = {}
        self._text_size = self._pending_size = 0
        self.moves = 0
        """Increases whenever texts are moved to another segment."""
        self.find_equal: Callable[[str, bytes], HeldText | None] = lambda _path, _content: None
        """Returns the text that another user, a commit, holds of a file with this path and content."""

    @property
    def size(self) -> int:
        """Bytes of text, index and objects held, without pending texts."""
        return self._text_size + self.index.size

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

    def share(self, path: str, content: bytes) -> HeldText | None:
        """Return the text of a file if another user holds it, as one that has a user more."""
        held = self.find_equal(path, content)
        if held is not None:
            held.users += 1
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
        self._segments[segment] = None
        self.index.add(segment)
        self._text_size += len(segment.text) + OVERHEAD * len(texts)

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
        self._text_size -= OVERHEAD
        if segment.live > len(segment.text) // 2:
            return
        others = [(other, other.read()) for other in segment.held if other.segment is segment]
        self._text_size -= len(segment.text) + OVERHEAD * len(others)
        del self._segments[segment]
        self.index.drop(segment)
        # The index may still be computed of it.
        segment.text, segment.held = b"", []
        if others:
            self._add_segment(others)
            self.moves += 1

    def list_texts(self) -> Iterator[HeldText]:
        """Yield all texts that are in segments."""
        for segment in self._segments:
            yield from (held for held in segment.held if held.segment is segment)
