"""The index: bits that show which short byte sequences a piece of text holds, and so where a pattern cannot match.

Every piece of text has one bit for each three and each five bytes in a row with ASCII case folded (hashed to 16 bits),
one for each four and each six bytes by their kind (digit, upper case, space, ...; hashed to 13 bits), and some for the
length of its longest runs of digits, letters and the like. Bits of 8 pieces share a byte; all bits for one sequence
stand together, so that a lookup costs one slice for each sequence.

Run as a program this module computes the bits: it reads blocks of pieces on standard input and writes each block's bits
on standard output. It is a process of its own because numpy costs time to load and memory to keep, and a server needs
it only while it builds. It imports nothing of zeno and opens no files. With `--nice` it runs at low priority.
"""

import os
import sys
from collections.abc import Iterable
from typing import BinaryIO

GRAMS = 1 << 16
# Measured on source code: these two rule out more, for words of any length, than any other pair that was tried.
SHORT_GRAM, LONG_GRAM = 3, 5

SHAPES = 1 << 13
SHAPE_LENGTHS = (4, 6)

# Hashes are of 32 bits: numpy computes them nearly twice as fast as those of 64.
FACTORS = FACTOR, OTHER_FACTOR = 0x9E3779B1, 0x85EBCA6B

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


def run_row(members: int, length: int) -> int | None:
    """Return the row for `length` consecutive bytes of one of `RUN_SETS`; None if so short a run has no row."""
    reached = sum(limit <= length for limit in RUN_LENGTHS)
    return GRAMS + SHAPES + members * len(RUN_LENGTHS) + reached - 1 if reached else None


def send(block: Iterable[bytes], count: int, sink: BinaryIO) -> None:
    """Send a block of pieces to the process that computes its bits."""
    sink.write(count.to_bytes(4, "little"))
    for text in block:
        sink.write(len(text).to_bytes(4, "little"))
        sink.write(text)
    sink.flush()


def receive(count: int, source: BinaryIO) -> bytes | None:
    """Read the bits of a block, all pieces of a row together; None if the other process has ended."""
    size = ROWS * ((count + 7) // 8)
    bits = source.read(size)
    return bits if len(bits) == size else None


def _number(source: BinaryIO) -> int:
    return int.from_bytes(source.read(4), "little")


def main(source: BinaryIO, sink: BinaryIO) -> int:
    """Compute the bits of blocks until there are no more."""
    import numpy as np

    def row_of(hashed: np.typing.NDArray[np.uint32], shift: int) -> np.typing.NDArray[np.intp]:
        return (hashed >> np.uint32(shift)).astype(np.intp)

    def grams(folded: bytes, held: np.typing.NDArray[np.uint8]) -> None:
        each = np.frombuffer(folded, dtype=np.uint8).astype(np.uint32)
        pairs = each[:-1] | each[1:] << np.uint32(8)
        short = (pairs[:-1] | each[2:] << np.uint32(16)) * np.uint32(FACTOR)
        held[row_of(short, 16)] = 1
        long = short[:-2] + pairs[3:] * np.uint32(OTHER_FACTOR)
        held[row_of((long ^ long >> np.uint32(15)) * np.uint32(FACTOR), 16)] = 1

    def shapes(kinds: bytes, held: np.typing.NDArray[np.uint8]) -> None:
        each = np.frombuffer(kinds, dtype=np.uint8).astype(np.uint32)
        pairs = each[:-1] | each[1:] << np.uint32(4)
        four = pairs[:-2] | pairs[2:] << np.uint32(8)
        held[GRAMS + row_of(four * np.uint32(FACTOR), 19)] = 1
        six = four[:-2] | pairs[4:] << np.uint32(16)
        held[GRAMS + row_of(six * np.uint32(OTHER_FACTOR), 19)] = 1

    tables = [_member_table(chars) for chars in RUN_SETS]
    while count := _number(source):
        # Eight pieces share a row, which is transposed at the end: each piece is written in one step.
        matrix = np.zeros(((count + 7) // 8, ROWS), dtype=np.uint8)
        for number in range(count):
            text = source.read(_number(source))
            held = np.zeros(ROWS, dtype=np.uint8)
            grams(text.translate(FOLD), held)
            shapes(text.translate(KIND), held)
            for members, table in enumerate(tables):
                row = run_row(members, max(map(len, text.translate(table).split()), default=0))
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
    """Return a translation table that keeps the members of a set and maps everything else to a space."""
    return bytes(byte if byte in chars else 32 for byte in range(256))


if __name__ == "__main__":
    if "--nice" in sys.argv:
        os.nice(5)
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
