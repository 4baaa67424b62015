"""Chunks of bytes become lines, whatever they come from: a pipe, an HTTP body, a server's answers."""

_WHITE = b" \t\r"


class Lines:
    """Splits at line feeds. Of a line over the limit only enough is kept to see that it is too long, and not blank."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._beyond = b""  # the first byte beyond the limit that is no white space

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk, without their ends."""
        *ended, rest = chunk.split(b"\n")
        lines = []
        for piece in ended:
            self._hold(piece)
            lines.append(self.rest())
        self._hold(rest)
        return lines

    def rest(self) -> bytes:
        """What came after the last line feed; it is handed over and forgotten."""
        line = b"".join(self._held)
        if self._beyond and not line.strip(_WHITE):
            line = line[:-1] + self._beyond
        self._held, self._size, self._beyond = [], 0, b""
        return line

    def _hold(self, piece: bytes) -> None:
        if self._limit is not None:
            # One byte more than the limit tells that it was exceeded; the rest of the line is not needed for that.
            room = max(0, self._limit + 1 - self._size)
            self._beyond = self._beyond or piece[room:].lstrip(_WHITE)[:1]
            piece = piece[:room]
        if piece:
            self._held.append(piece)
            self._size += len(piece)
