"""Read objects out of a pack and its index.

Both are read with `pread`, never mapped: a mapped file that another process shortens would end this one. Ids are spread
evenly, so that an object is found in the index by reading a few kilobytes where it should be.
"""

import os
import zlib
from typing import NamedTuple

COMMIT, TREE, BLOB, TAG = "commit", "tree", "blob", "tag"
_KINDS = {1: COMMIT, 2: TREE, 3: BLOB, 4: TAG}
_BY_OFFSET, _BY_ID = 6, 7

_MAGIC = b"\xfftOc\x00\x00\x00\x02"
_FANOUT = 1024
# Ids on either side of the place where an id should be: four standard deviations in a bucket of 16,000.
_NEIGHBOURS = 256
# Most objects are smaller, and are read by one call.
_FIRST_READ = 4096
_NUMBER = 1 << 62


class Damaged(Exception):
    """A pack, an index or an object that is not as git writes it."""


class PackedEntry(NamedTuple):
    """One entry of a pack: an object, or the difference to another one."""

    kind: str | None
    """The kind of object; None for a difference."""
    size: int
    """The number of bytes of the inflated data."""
    data: bytes
    base: int | bytes
    """The offset or id of the object that a difference is to be applied to."""


class Pack:
    """An open pack. It closes its two descriptors with `close`. Raises Damaged if the index is of another version than
    1 and 2."""

    def __init__(self, index: int, data: int, id_bytes: int) -> None:
        self._index, self._data, self._id_bytes = index, data, id_bytes
        head = os.pread(index, len(_MAGIC) + _FANOUT, 0)
        is_new = head.startswith(_MAGIC)
        if not is_new and head.startswith(_MAGIC[:4]):
            raise Damaged("an index of a pack of an unknown version")
        begin = len(_MAGIC) if is_new else 0
        if len(head) < begin + _FANOUT:
            raise Damaged("an index of a pack that is cut off")
        counts = [int.from_bytes(head[at : at + 4], "big") for at in range(begin, begin + _FANOUT, 4)]
        if counts != sorted(counts):
            raise Damaged("an index of a pack whose counts do not rise")
        self._fanout = [0, *counts]
        # In version 2 all ids, checksums and offsets follow each other; in version 1 each offset is before its id.
        self._ids_at = begin + _FANOUT if is_new else _FANOUT + 4
        self._stride = id_bytes if is_new else id_bytes + 4
        self._offsets_at = begin + _FANOUT + counts[-1] * (id_bytes + 4) if is_new else _FANOUT
        self._offset_stride = 4 if is_new else id_bytes + 4
        if os.fstat(index).st_size < self._offsets_at + self._offset_stride * counts[-1] + 2 * id_bytes:
            raise Damaged("an index of a pack that is cut off")

    def close(self) -> None:
        """Close the files."""
        os.close(self._index)
        os.close(self._data)

    def find(self, object_id: bytes) -> int | None:
        """Return the offset of an object; None if it is not in this pack."""
        number = self._number(object_id)
        return None if number is None else self._offset(number)

    def starting_with(self, prefix: str) -> list[bytes]:
        """Return the ids that begin with these hexadecimal digits, two of them at most."""
        low = bytes.fromhex(prefix.ljust(2 * self._id_bytes, "0"))
        number = self._first_from(low)
        found: list[bytes] = []
        while len(found) < 2 and number < self._fanout[256]:
            one = self._id(number)
            if not one.hex().startswith(prefix):
                break
            found.append(one)
            number += 1
        return found

    def _id(self, number: int) -> bytes:
        return os.pread(self._index, self._id_bytes, self._ids_at + number * self._stride)

    def _number(self, object_id: bytes) -> int | None:
        stride = self._stride
        low, high = self._fanout[object_id[0]], self._fanout[object_id[0] + 1]
        expected = low + ((high - low) * int.from_bytes(object_id[1:5], "big") >> 32)
        first = max(low, expected - _NEIGHBOURS)
        last = min(high, expected + _NEIGHBOURS)
        ids = os.pread(self._index, (last - first) * stride, self._ids_at + first * stride)
        at = ids.find(object_id)
        while at > 0 and at % stride:
            at = ids.find(object_id, at + 1)
        if at >= 0:
            return first + at // stride
        if first == low and last == high:
            return None
        number = self._first_from(object_id)
        return number if number < high and self._id(number) == object_id else None

    def _first_from(self, object_id: bytes) -> int:
        """Return the number of the first id that is not below this one."""
        low, high = self._fanout[object_id[0]], self._fanout[object_id[0] + 1]
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._id(middle) < object_id else (low, middle)
        return low

    def _offset(self, number: int) -> int:
        place = self._offsets_at + self._offset_stride * number
        offset = int.from_bytes(os.pread(self._index, 4, place), "big")
        # Version 1 has no larger ones.
        if offset >> 31 and self._offset_stride == 4:
            large = self._offsets_at + 4 * self._fanout[256] + 8 * (offset & 0x7FFFFFFF)
            offset = int.from_bytes(os.pread(self._index, 8, large), "big")
        return offset

    def entry(self, offset: int, *, most: int | None = None) -> PackedEntry:
        """Return the entry at an offset; with `most`, only so many bytes of its data. Raises Damaged."""
        try:
            head = os.pread(self._data, _FIRST_READ, offset)
            first = head[0]
            number, size, at = first >> 4 & 7, first & 15, 1
            if first >> 7:
                more, at = _varint(head, 1)
                size |= more << 4
            base: int | bytes = 0
            if number == _BY_OFFSET:
                back, at = _distance(head, at)
                base = offset - back
                if not 0 < back < offset:
                    raise Damaged("a difference to an object before its pack")
            elif number == _BY_ID:
                base = head[at : at + self._id_bytes]
                at += self._id_bytes
            elif number not in _KINDS:
                raise Damaged("an entry of a pack of an unknown kind")
            wanted = size if most is None else min(size, most)
            # Deflated data is hardly ever longer than inflated.
            bound = at + wanted + (wanted >> 10) + 64
            if bound > len(head):
                head = os.pread(self._data, bound, offset)
            data = inflate(memoryview(head)[at:], wanted)
        except (IndexError, OverflowError, OSError):
            raise Damaged("an entry of a pack that is cut off") from None
        return PackedEntry(_KINDS.get(number), size, data, base)


def inflate(data: bytes | memoryview, size: int, *, at_most: bool = False) -> bytes:
    """Return the first `size` bytes of deflated data. Raises Damaged if there are fewer, unless with `at_most`."""
    try:
        found = zlib.decompressobj().decompress(data, size) if size else b""
    except zlib.error:
        raise Damaged("data that cannot be inflated") from None
    if len(found) != size and not at_most:
        raise Damaged("data of another size than stated")
    return found


def apply_difference(base: bytes, difference: bytes, most: int = _NUMBER) -> bytes:
    """Return the object that a difference to another one describes. Raises Damaged, also if it is too large."""
    try:
        base_size, at = _varint(difference, 0)
        size, at = _varint(difference, at)
        if base_size != len(base):
            raise Damaged("a difference to an object of another size")
        if size > most:
            raise Damaged(f"it has over {most} bytes")
        end, from_bytes = len(difference), int.from_bytes
        # Not a list of parts, which may be of one byte each.
        found = bytearray()
        left = size
        while at < end:
            code = difference[at]
            at += 1
            if code >= 0x80:
                after, mask, shift = _COPY[code]
                if mask:
                    # Nearly always: the bytes of place and length that are there are the lowest ones.
                    number = from_bytes(difference[at : at + after], "little")
                    place, length = number & mask, number >> shift or 0x10000
                    at += after
                else:
                    place, length, at = _read_copy(difference, code, at)
                left -= length
                # A byte may copy 64 KiB: too much is not copied.
                if left < 0 or place + length > base_size:
                    raise Damaged("a difference that gives another size than stated, or copies what is not there")
                found += base[place : place + length]
            elif code:
                found += difference[at : at + code]
                at += code
            else:
                raise Damaged("a difference with an unknown step")
    except IndexError:
        raise Damaged("a difference that is cut off") from None
    if at != end or len(found) != size:
        raise Damaged("a difference that gives another size than stated")
    return bytes(found)


def _read_copy(difference: bytes, code: int, at: int) -> tuple[int, int, int]:
    """Return place and length of a copy, and where its step ends. Raises IndexError."""
    place = length = 0
    for bit in range(4):
        if code >> bit & 1:
            place |= difference[at] << 8 * bit
            at += 1
    for bit in range(3):
        if code >> 4 + bit & 1:
            length |= difference[at] << 8 * bit
            at += 1
    return place, length or 0x10000, at


def _lay_out_copy(code: int) -> tuple[int, int, int]:
    """Return the number of bytes behind a step that copies, the mask of its place, and the shift of its length.

    The mask is 0 where the bytes that are there are not the lowest ones.
    """
    places, lengths = (code & 15).bit_count(), (code >> 4 & 7).bit_count()
    is_plain = places > 0 and code & 15 == (1 << places) - 1 and code >> 4 & 7 == (1 << lengths) - 1
    return places + lengths, (1 << 8 * places) - 1 if is_plain else 0, 8 * places


_COPY = [_lay_out_copy(code) for code in range(256)]


def size_after(difference: bytes) -> int:
    """Return the size of the object that a difference describes, given its first bytes. Raises Damaged."""
    try:
        return _varint(difference, _varint(difference, 0)[1])[0]
    except IndexError:
        raise Damaged("a difference that is cut off") from None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, the lowest first, and where it ends. Raises IndexError and Damaged."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
        if number > _NUMBER or shift > 63:
            raise Damaged("a number that is too large")


def _distance(data: bytes, at: int) -> tuple[int, int]:
    """Return how far back the base of a difference is, and where that number ends. Raises IndexError and Damaged."""
    byte = data[at]
    number = byte & 0x7F
    while byte >= 0x80:
        at += 1
        byte = data[at]
        number = number + 1 << 7 | byte & 0x7F
        if number > _NUMBER:
            raise Damaged("a number that is too large")
    return number, at + 1
