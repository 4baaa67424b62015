"""Which short byte sequences a text holds, as bits: the index that tells where a pattern cannot match.

For every piece of text there is one bit for each three and each five bytes in a row with ASCII case folded (hashed to
16 bits), one for each four and each six bytes by their kind (digit, upper case, space, ...; hashed to 13 bits), and
some that tell how long its longest runs of digits, letters and the like are. Bits of 8 pieces share a byte; all bits
for one sequence stand together, so that a question costs one slice for each sequence in it.

Run as a program this module computes the bits: it reads blocks of pieces on standard input and writes each block's
bits on standard output. It is a process of its own because numpy costs time to load and memory to keep, and a server
needs it only while it builds. It imports nothing of zeno, and knows nothing of files.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import BinaryIO

GRAMS = 1 << 16
# Measured on source code: these two rule out more, for words of any length, than any other pair that was tried.
SHORT_GRAM, LONG_GRAM = 3, 5

KINDS = 12
SHAPES = 1 << 13
SHAPE_LENGTHS = (4, 6)

FACTOR = 0x9E3779B97F4A7C15

_LOWER, _UPPER, _DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
RUN_SETS = (_LOWER, _UPPER, _DIGITS, _LOWER + _DIGITS, _UPPER + _DIGITS + b"_", _LOWER + _UPPER + _DIGITS + b"_")
RUN_LENGTHS = (8, 12, 16, 20, 24, 32, 40, 64)

ROWS = GRAMS + SHAPES + len(RUN_SETS) * len(RUN_LENGTHS)

FOLD = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))
# Letters that RE2 takes for `k` and `s` when it ignores case: so rare that a text with one is always a candidate.
FOLDED_TO_ASCII = ("\u212a".encode(), "\u017f".encode())


def _kind(byte: int) -> int:
    for kind, members in enumerate((_LOWER, _UPPER, _DIGITS, b"_", b" ", b"\t\r\f", b"()[]{}")):
        if byte in members:
            return kind
    for kind, members in enumerate((b"\"'`", b".,:;", b"-+/*\\", b"=<>!&|"), 7):
        if byte in members:
            return kind
    return 11


KIND = bytes(_kind(byte) for byte in range(256))


def gram(bytes_: Sequence[int]) -> int:
    """The row of three or five folded bytes."""
    value = len(bytes_) << 8 * len(bytes_) | int.from_bytes(bytes_, "big")
    return (value * FACTOR & 0xFFFFFFFFFFFFFFFF) >> 48


def shape(kinds: Sequence[int]) -> int:
    """The row of four or six kinds."""
    value = len(kinds)
    for kind in kinds:
        value = value * KINDS + kind
    return GRAMS + ((value * FACTOR & 0xFFFFFFFFFFFFFFFF) >> 51)


def run(members: int, length: int) -> int | None:
    """The row of at least so many bytes in a row that are all in one of `RUN_SETS`; None for too few to tell."""
    reached = sum(limit <= length for limit in RUN_LENGTHS)
    return GRAMS + SHAPES + members * len(RUN_LENGTHS) + reached - 1 if reached else None


class Block:
    """The bits of a block of pieces."""

    def __init__(self, count: int, bits: bytes) -> None:
        self.count = count
        self._width = (count + 7) // 8
        self._bits = bits

    @property
    def size(self) -> int:
        """Bytes held."""
        return len(self._bits)

    def row(self, number: int) -> int:
        """One bit for each piece, the first lowest: whether it may hold the sequence of that row."""
        start = number * self._width
        return int.from_bytes(self._bits[start : start + self._width], "little")


def send(block: Iterable[bytes], count: int, sink: BinaryIO) -> None:
    """Ask for the bits of a block."""
    sink.write(count.to_bytes(4, "little"))
    for text in block:
        sink.write(len(text).to_bytes(4, "little"))
        sink.write(text)
    sink.flush()


def receive(count: int, source: BinaryIO) -> Block | None:
    """The bits of a block; None where the other side has gone."""
    size = ROWS * ((count + 7) // 8)
    bits = source.read(size)
    return Block(count, bits) if len(bits) == size else None


def _number(source: BinaryIO) -> int:
    return int.from_bytes(source.read(4), "little")


def main(source: BinaryIO, sink: BinaryIO) -> int:
    """Compute the bits of blocks until there are no more."""
    import numpy as np

    def hashed(symbols: bytes, length: int, base: int, shift: int) -> np.typing.NDArray[np.uint64]:
        each = np.frombuffer(symbols, dtype=np.uint8)
        count = max(len(each) - length + 1, 0)
        rows = np.full(count, length, dtype=np.uint64)
        for offset in range(length):
            rows *= np.uint64(base)
            rows += each[offset : offset + count]
        return rows * np.uint64(FACTOR) >> np.uint64(shift)

    while count := _number(source):
        # Eight pieces at a time in one line, and turned round in the end: so each is written in one go.
        matrix = np.zeros(((count + 7) // 8, ROWS), dtype=np.uint8)
        for number in range(count):
            text = source.read(_number(source))
            held = np.zeros(ROWS, dtype=np.uint8)
            folded, kinds = text.translate(FOLD), text.translate(KIND)
            for length in (SHORT_GRAM, LONG_GRAM):
                held[hashed(folded, length, 256, 48)] = 1
            for length in SHAPE_LENGTHS:
                held[np.uint64(GRAMS) + hashed(kinds, length, KINDS, 51)] = 1
            for members, chars in enumerate(RUN_SETS):
                breaks = np.flatnonzero(np.frombuffer(text.translate(_member_table(chars)), dtype=np.uint8))
                longest = int(np.diff(breaks, prepend=-1, append=len(text)).max()) - 1
                row = run(members, longest)
                if row is not None:
                    first = GRAMS + SHAPES + members * len(RUN_LENGTHS)
                    held[first : row + 1] = 1
            if any(letter in text for letter in FOLDED_TO_ASCII):
                held[:] = 1
            matrix[number // 8] |= held << (number % 8)
        sink.write(matrix.T.tobytes())
        sink.flush()
    return 0


def _member_table(chars: bytes) -> bytes:
    return bytes(byte not in chars for byte in range(256))


if __name__ == "__main__":
    # Whoever asks the server has precedence.
    os.nice(5)
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
