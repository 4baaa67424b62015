"""Split a stream of chunks into lines: for pipes, HTTP bodies and answers of servers."""

_WHITE = b" \t\r"


class LineSplitter:
    """Splits at line feeds. A line over the limit is cut to one byte more than the limit; it stays blank or not."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._beyond = b""  # the first byte beyond the limit that is no white space

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in this chunk, without line feeds."""
        *ended, rest = chunk.split(b"\n")
        lines = []
        for piece in ended:
            self._hold(piece)
            lines.append(self.rest())
        self._hold(rest)
        return lines

    def rest(self) -> bytes:
        """Return the bytes after the last line feed, and forget them."""
        line = b"".join(self._held)
        if self._beyond and not line.strip(_WHITE):
            line = line[:-1] + self._beyond
        self._held, self._size, self._beyond = [], 0, b""
        return line

    def _hold(self, piece: bytes) -> None:
        if self._limit is not None:
            # One byte over the limit is enough to show that it was exceeded.
            room = max(0, self._limit + 1 - self._size)
            self._beyond = self._beyond or piece[room:].lstrip(_WHITE)[:1]
            piece = piece[:room]
        if piece:
            self._held.append(piece)
            self._size += len(piece)
