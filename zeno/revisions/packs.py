"""Read objects out of a pack and its index.

Both are read with `pread`, never mapped: a mapped file that another process shortens would end this one. Ids are spread
evenly, so that an object is found in the index by reading a few kilobytes where it should be.
"""

import os
from collections import OrderedDict
from math import isqrt
from typing import NamedTuple

from zeno.revisions.differences import MAX_NUMBER, Damaged, inflate, read_varint

COMMIT, TREE, BLOB, TAG = "commit", "tree", "blob", "tag"
_KINDS = {1: COMMIT, 2: TREE, 3: BLOB, 4: TAG}
_BY_OFFSET, _BY_ID = 6, 7

_MAGIC = b"\xfftOc\x00\x00\x00\x02"
_FANOUT = 1024
# Most objects are smaller, and are read by one call, often with those behind them.
_FIRST_READ = 4096
# Enough for the head of an entry, with the id of what a difference is to.
_FIRST_HEAD = 64
# A longer part of a pack is not kept.
_MAX_KEPT_BLOCK = 1 << 16
# Of larger indexes, in bytes of ids, no parts are kept: one would be read for many an object. All parts together.
_MAX_INDEX, _MAX_PARTS = 1 << 23, 1 << 24


class PackedEntry(NamedTuple):
    """One entry of a pack: an object, or the difference to another one."""

    kind: str | None
    """The kind of object; None for a difference."""
    size: int
    """The number of bytes of the inflated data."""
    data: bytes
    base: int | bytes
    """The offset or id of the object that a difference is to be applied to."""


class IndexParts:
    """Parts of the indexes of packs that were looked at last: ids with the same first byte, and their offsets."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Pack, int], tuple[bytes, bytes]] = OrderedDict()
        self._size = 0

    def find(self, pack: "Pack", byte: int) -> tuple[bytes, bytes] | None:
        """Return a part that is kept."""
        return self._kept.get((pack, byte))

    def keep(self, pack: "Pack", byte: int, ids: bytes, offsets: bytes) -> tuple[bytes, bytes]:
        """Keep a part, in place of those that were kept first."""
        self._kept[pack, byte] = part = ids, offsets
        self._size += len(ids) + len(offsets)
        while self._size > _MAX_PARTS:
            self._size -= sum(map(len, self._kept.popitem(last=False)[1]))
        return part


class Pack:
    """An open pack. It closes its two descriptors with `close`. Raises Damaged if the index is of another version than
    1 and 2."""

    def __init__(self, index: int, data: int, id_bytes: int, parts: "IndexParts | None" = None) -> None:
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
        self._parts = parts if is_new and counts[-1] * self._stride <= _MAX_INDEX else None
        """Keeps parts of the index, unless that is too large."""
        self._block = 0, b""
        """Where the last part of the pack that was read begins, and its bytes."""
        if os.fstat(index).st_size < self._offsets_at + self._offset_stride * counts[-1] + 2 * id_bytes:
            raise Damaged("an index of a pack that is cut off")

    def close(self) -> None:
        """Close the files."""
        os.close(self._index)
        os.close(self._data)

    def find(self, object_id: bytes) -> int | None:
        """Return the offset of an object; None if it is not in this pack."""
        if self._parts is not None:
            return self._find_in_part(self._parts, object_id)
        number = self._number(object_id)
        return None if number is None else self._offset(number)

    def _find_in_part(self, parts: "IndexParts", object_id: bytes) -> int | None:
        byte, stride = object_id[0], self._stride
        low, high = self._fanout[byte], self._fanout[byte + 1]
        part = parts.find(self, byte)
        if part is None:
            ids = os.pread(self._index, (high - low) * stride, self._ids_at + low * stride)
            part = parts.keep(self, byte, ids, os.pread(self._index, 4 * (high - low), self._offsets_at + 4 * low))
        ids, offsets = part
        expected, deviation = _expect(object_id, high - low)
        first = (expected - deviation) * stride
        if first < 0 or ids[first : first + stride] > object_id:
            first = max(0, first - 3 * deviation * stride)
        last = (expected + 4 * deviation) * stride
        at = _find_id(ids, object_id, first, last)
        behind = ids[last : last + stride]
        if at < 0 and (ids[first : first + stride] > object_id or (behind and behind <= object_id)):
            at = _find_id(ids, object_id, 0, len(ids))
        if at < 0:
            return None
        place = at // stride
        offset = int.from_bytes(offsets[4 * place : 4 * place + 4], "big")
        return offset if offset < 1 << 31 else self._offset(low + place)

    def find_by_prefix(self, prefix: str) -> list[bytes]:
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
        expected, deviation = _expect(object_id, high - low)
        first = max(low, low + expected - 4 * deviation)
        last = min(high, low + expected + 4 * deviation)
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

    def _read(self, offset: int, count: int) -> tuple[bytes, int]:
        """Return a block with at least so many bytes of the pack, if it has them, and where in it they begin."""
        start, block = self._block
        if start <= offset <= start + len(block) - count:
            return block, offset - start
        block = os.pread(self._data, max(count, _FIRST_READ), offset)
        if len(block) <= _MAX_KEPT_BLOCK:
            self._block = offset, block
        return block, 0

    def entry(self, offset: int, *, most: int | None = None) -> PackedEntry:
        """Return the entry at an offset; with `most`, only so many bytes of its data. Raises Damaged."""
        try:
            block, begin = self._read(offset, _FIRST_HEAD)
            first, at = block[begin], begin + 1
            number, size = first >> 4 & 7, first & 15
            if first >> 7:
                more, at = read_varint(block, at)
                size |= more << 4
            base: int | bytes = 0
            if number == _BY_OFFSET:
                back, at = _distance(block, at)
                base = offset - back
                if not 0 < back < offset:
                    raise Damaged("a difference to an object before its pack")
            elif number == _BY_ID:
                base = block[at : at + self._id_bytes]
                at += self._id_bytes
            elif number not in _KINDS:
                raise Damaged("an entry of a pack of an unknown kind")
            wanted = size if most is None else min(size, most)
            # Deflated data is hardly ever longer than inflated.
            bound = wanted + (wanted >> 10) + 64
            if at + bound > len(block):
                block, at = self._read(offset + at - begin, bound)
            data = inflate(block[at : at + bound], wanted)
        except (IndexError, OverflowError, OSError):
            raise Damaged("an entry of a pack that is cut off") from None
        return PackedEntry(_KINDS.get(number), size, data, base)


def _expect(object_id: bytes, count: int) -> tuple[int, int]:
    """Return the place of an id among so many with the same first byte, if they are spread evenly, and its deviation.

    Hardly any is four standard deviations away.
    """
    return count * int.from_bytes(object_id[1:5], "big") >> 32, isqrt(count) // 2 + 1


def _find_id(ids: bytes, object_id: bytes, first: int, last: int) -> int:
    """Return where an id stands among others of its length; -1 if it does not. Ids have no bytes between them."""
    at = ids.find(object_id, first, last)
    while at > 0 and at % len(object_id):
        at = ids.find(object_id, at + 1, last)
    return at


def _distance(data: bytes, at: int) -> tuple[int, int]:
    """Return how far back the base of a difference is, and where that number ends. Raises IndexError and Damaged."""
    byte = data[at]
    number = byte & 0x7F
    while byte >= 0x80:
        at += 1
        byte = data[at]
        number = number + 1 << 7 | byte & 0x7F
        if number > MAX_NUMBER:
            raise Damaged("a number that is too large")
    return number, at + 1
