"""Deflated data, and differences between objects, as packs have them."""

import zlib

MAX_NUMBER = 1 << 62
"""No size or distance is larger."""


class Damaged(Exception):
    """A pack, an index or an object that is not as git writes it."""


def inflate(data: bytes | memoryview, size: int, *, at_most: bool = False) -> bytes:
    """Return the first `size` bytes of deflated data. Raises Damaged if there are fewer, unless with `at_most`."""
    try:
        found = zlib.decompressobj().decompress(data, size) if size else b""
    except zlib.error:
        raise Damaged("data that cannot be inflated") from None
    if len(found) != size and not at_most:
        raise Damaged("data of another size than stated")
    return found


def apply_difference(base: bytes, difference: bytes, most: int = MAX_NUMBER) -> bytes:
    """Return the object that a difference to another one describes. Raises Damaged, also if it is too large."""
    try:
        base_size, at = read_varint(difference, 0)
        size, at = read_varint(difference, at)
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
        return read_varint(difference, read_varint(difference, 0)[1])[0]
    except IndexError:
        raise Damaged("a difference that is cut off") from None


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, the lowest first, and where it ends. Raises IndexError and Damaged."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
        if number > MAX_NUMBER or shift > 63:
            raise Damaged("a number that is too large")
