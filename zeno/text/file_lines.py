"""Split bytes into lines, decode lines, and detect binary content. No file is opened here.

A line ends at a line feed; a carriage return just before it is not part of the text; a last line without line feed
counts. A byte order mark at the start of a file belongs to no line. Bytes that are not UTF-8 become U+FFFD.
"""

import hashlib
from collections.abc import Callable, Iterable

from stringzilla import count as count_bytes  # up to ten times as fast as the method of bytes

BOM = b"\xef\xbb\xbf"
BINARY_WINDOW = 8192
# UTF-16 of either byte order, UTF-32 of either.
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")


def is_binary(head: bytes) -> bool:
    """Whether a file that begins with these bytes is binary: a NUL in its first 8192 bytes."""
    return head.find(b"\0", 0, BINARY_WINDOW) >= 0


def has_wide_mark(head: bytes | bytearray) -> bool:
    """Whether a file that begins with these bytes says that it is UTF-16 or UTF-32."""
    return head.startswith(_WIDE_MARKS)


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a whole file as text."""
    return [decode(line) for line in raw_lines(data)]


def raw_lines(data: bytes, *, is_normal: bool = False) -> list[bytes]:
    """Return the lines of a whole file as bytes, without line ends and byte order mark.

    In normal form they are gone already; a carriage return before a line feed is part of the line then.
    """
    lines = (data if is_normal else data.removeprefix(BOM)).split(b"\n")
    last = lines.pop()
    if not is_normal:
        lines = [line.removesuffix(b"\r") for line in lines]
    return [*lines, last] if last else lines


def normal(data: bytes) -> bytes:
    """Return a whole file in normal form: valid UTF-8, every line ended by a line feed without carriage return."""
    data = data.removeprefix(BOM)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if not data.isascii():
        # No UTF-8 sequence contains a line feed or a carriage return, so decoding the whole equals decoding each line.
        data = data.decode("utf-8", "replace").encode()
    return data if data.endswith(b"\n") or not data else data + b"\n"


def decode(line: bytes) -> str:
    """Decode a line, with one U+FFFD for each maximal subpart that is not UTF-8."""
    return line.decode("utf-8", "replace")


def _decode_all(lines: list[bytes], *, is_normal: bool) -> list[str]:
    """Decode lines all at once. No UTF-8 sequence contains a line feed, so the result is that of decoding each."""
    text = b"\n".join(lines)
    if not is_normal and b"\r" in text:
        text = b"\n".join([line.removesuffix(b"\r") for line in lines])
    return decode(text).split("\n")


def receipt(text: str) -> str:
    """Return the SHA-256 by which lines, joined by line feeds, are cited."""
    return hashlib.sha256(text.encode()).hexdigest()


class Window:
    """Collects the lines `first` to `last` of a stream of chunks and counts all lines, holding only the wanted ones.

    With `max_chars`, longer lines may be held in part: their beginning, which is longer than `max_chars`. `keep` is
    called with the number of bytes held; it may raise to stop.
    """

    def __init__(self, first: int, last: int, keep: Callable[[int], None], max_chars: int | None = None) -> None:
        self._first = first
        self._last = last
        self._keep = keep
        # A character has at most four bytes; the last one may be torn or taken for a line's end.
        self._limit = None if max_chars is None else 4 * max_chars + 8
        self._held = 0
        self._is_normal = False
        self._line = 1  # the line that the next byte belongs to
        self._ended = True  # whether the last byte seen was a line feed, or there was none
        self._parts: list[bytes] = []  # the current line so far, if it is wanted
        self.lines: list[str] = []

    def feed(self, chunks: Iterable[bytes], *, is_normal: bool = False) -> None:
        """Read the whole stream, which may be in normal form already."""
        self._is_normal = is_normal
        for chunk in chunks if is_normal else _without_bom(chunks):
            self._take(chunk)
        if not self._ended:
            if self._parts:
                self.lines.append(decode(b"".join(self._parts)))
            self._line += 1

    @property
    def total(self) -> int:
        """Number of lines, once the stream has ended."""
        return self._line - 1

    def _take(self, chunk: bytes) -> None:
        self._ended = chunk.endswith(b"\n")
        position = self._skip(chunk) if self._line < self._first else 0
        if not self._first <= self._line <= self._last:
            # `_skip` has counted the lines before the first wanted one; after the last, lines are only counted.
            self._line += count_bytes(chunk, b"\n", position)
            return
        *whole, rest = chunk[position:].split(b"\n", self._last - self._line + 1)
        self._line += len(whole)
        if whole:
            whole[0] = self._piece(whole[0])
            if self._limit is not None:
                whole = [line[: self._limit] for line in whole]
            self._keep(sum(map(len, whole)) + len(whole))
            if self._parts:
                whole[0] = b"".join([*self._parts, whole[0]])
                self._parts.clear()
                self._held = 0
            self.lines += _decode_all(whole, is_normal=self._is_normal)
        if self._line > self._last:
            self._line += count_bytes(rest, b"\n")
        elif rest:
            piece = self._piece(rest)
            self._held += len(piece)
            self._keep(len(piece))
            self._parts.append(piece)

    def _piece(self, piece: bytes) -> bytes:
        """Return the part of a piece of the current line that is still within the limit."""
        return piece if self._limit is None else piece[: self._limit - self._held]

    def _skip(self, chunk: bytes) -> int:
        """Count lines up to the first wanted one. Return the offset where it begins, or the length of the chunk."""
        after = self._line + count_bytes(chunk, b"\n")
        if after < self._first:
            self._line = after
            return len(chunk)
        position = 0
        while self._line < self._first:
            position = chunk.index(b"\n", position) + 1
            self._line += 1
        return position


def _without_bom(chunks: Iterable[bytes]) -> Iterable[bytes]:
    """Yield a stream without its byte order mark, which may be spread over several chunks."""
    head = b""
    started = False
    for chunk in chunks:
        if started:
            yield chunk
            continue
        head += chunk
        if len(head) >= len(BOM):
            started = True
            if rest := head.removeprefix(BOM):
                yield rest
    if not started and head:
        yield head


def last_lines(
    chunks: Iterable[bytes], count: int, keep: Callable[[int], None], *, is_normal: bool = False
) -> list[str]:
    """Return the last `count` lines of a file read in chunks from its end, reading no more chunks than needed."""
    pieces: list[bytes] = []
    before = 0  # line feeds that stand before the last line
    for chunk in chunks:
        if pieces:
            # All the text after this chunk is returned; halved, because carriage returns are not.
            keep(len(pieces[-1]) // 2)
            before += count_bytes(chunk, b"\n")
        else:
            before += count_bytes(chunk, b"\n", 0, len(chunk) - 1)
        pieces.append(chunk)
        if before >= count:
            break
    # If the read stopped before the start of the file, the first line is partial and not among the last `count`.
    return [decode(line) for line in raw_lines(b"".join(reversed(pieces)), is_normal=is_normal)[-count:]]
