"""Chunks of bytes become lines, whatever they come from: a pipe, an HTTP body, a server's answers."""


class Lines:
    """Splits at line feeds. Of a line over the limit only enough is kept to see that it is too long."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0

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
        self._held, self._size = [], 0
        return line

    def _hold(self, piece: bytes) -> None:
        if self._limit is not None:
            # One byte more than the limit tells that it was exceeded; the rest of the line is not needed for that.
            piece = piece[: max(0, self._limit + 1 - self._size)]
        if piece:
            self._held.append(piece)
            self._size += len(piece)
