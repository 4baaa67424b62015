"""Which short byte sequences a text holds, as bits: the index that tells where a pattern cannot match.

For every segment of text there is one bit for each trigram of its bytes with ASCII case folded (hashed to 16 bits), one
for each four and each six bytes in a row by their kind (digit, upper case, space, ...; hashed to 15 bits), and some that
tell how long its longest runs of digits, letters and the like are. Bits of 8 segments share a byte; all segments' bits
for one sequence stand together, so that a question costs one slice for each sequence in it.

Run as a program this module computes the bits: it reads blocks of segments on standard input and writes each block's
bits on standard output. It is a process of its own because numpy costs time to load and memory to keep, and a server
needs it only while it builds. It imports nothing of zeno, and knows nothing of files.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

TRIGRAMS = 1 << 16
FACTORS = (0x9E37, 0x79B1, 0x2545)

KINDS = 12
SHAPES = 1 << 15
SHAPE_LENGTHS = (4, 6)
SHAPE_FACTOR = 0x9E3779B1

_LOWER, _UPPER, _DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
RUN_SETS = (_LOWER, _UPPER, _DIGITS, _LOWER + _DIGITS, _UPPER + _DIGITS + b"_", _LOWER + _UPPER + _DIGITS + b"_")
RUN_LENGTHS = (8, 12, 16, 20, 24, 32, 40, 64)

ROWS = TRIGRAMS + SHAPES + len(RUN_SETS) * len(RUN_LENGTHS)

FOLD = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))
# Letters that RE2 takes for `k` and `s` when it ignores case. They are so rare that a text with one is always a candidate.
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


def trigram(first: int, second: int, third: int) -> int:
    """The row of three folded bytes."""
    return (first * FACTORS[0] + second * FACTORS[1] + third * FACTORS[2]) & (TRIGRAMS - 1)


def shape(kinds: Sequence[int]) -> int:
    """The row of four or six kinds."""
    value = len(kinds)
    for kind in kinds:
        value = value * KINDS + kind
    return TRIGRAMS + ((value * SHAPE_FACTOR & 0xFFFFFFFF) >> 17)


def run(members: int, length: int) -> int | None:
    """The row of at least so many bytes in a row that are all in one of `RUN_SETS`; None for too few to tell."""
    reached = sum(limit <= length for limit in RUN_LENGTHS)
    return TRIGRAMS + SHAPES + members * len(RUN_LENGTHS) + reached - 1 if reached else None


class Block:
    """The bits of a block of segments."""

    def __init__(self, count: int, bits: bytes) -> None:
        self.count = count
        self._width = (count + 7) // 8
        self._bits = bits

    @property
    def size(self) -> int:
        """Bytes held."""
        return len(self._bits)

    def row(self, number: int) -> int:
        """One bit for each segment, the first lowest: whether it may hold the sequence of that row."""
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


def _received(source: BinaryIO) -> Iterator[bytes]:
    for _ in range(int.from_bytes(source.read(4), "little")):
        yield source.read(int.from_bytes(source.read(4), "little"))


def main(source: BinaryIO, sink: BinaryIO) -> int:
    """Compute the bits of blocks until there are no more."""
    import numpy as np

    factors = [np.uint16(factor) for factor in FACTORS]
    while block := list(_received(source)):
        matrix = np.zeros((ROWS, (len(block) + 7) // 8), dtype=np.uint8)
        for number, text in enumerate(block):
            held = np.zeros(ROWS, dtype=np.uint8)
            folded = np.frombuffer(text.translate(FOLD), dtype=np.uint8).astype(np.uint16)
            held[folded[:-2] * factors[0] + folded[1:-1] * factors[1] + folded[2:] * factors[2]] = 1
            kinds = np.frombuffer(text.translate(KIND), dtype=np.uint8).astype(np.uint32)
            for length in SHAPE_LENGTHS:
                count = len(kinds) - length + 1
                rows = np.full(max(count, 0), length, dtype=np.uint32)
                for offset in range(length if count > 0 else 0):
                    rows = rows * np.uint32(KINDS) + kinds[offset : offset + count]
                held[TRIGRAMS + (rows * np.uint32(SHAPE_FACTOR) >> np.uint32(17))] = 1
            for members, chars in enumerate(RUN_SETS):
                breaks = np.flatnonzero(np.frombuffer(text.translate(_member_table(chars)), dtype=np.uint8))
                longest = int(np.diff(breaks, prepend=-1, append=len(text)).max()) - 1
                row = run(members, longest)
                if row is not None:
                    first = TRIGRAMS + SHAPES + members * len(RUN_LENGTHS)
                    held[first : row + 1] = 1
            if any(letter in text for letter in FOLDED_TO_ASCII):
                held[:] = 1
            matrix[:, number // 8] |= held << (number % 8)
        sink.write(matrix.tobytes())
        sink.flush()
    return 0


def _member_table(chars: bytes) -> bytes:
    return bytes(byte not in chars for byte in range(256))


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
