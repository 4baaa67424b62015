"""Packed files: what is read is what was packed, whole or not at all."""

import gzip
import io

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.readers import opening
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer

PACKERS = {"gzip": lambda data: gzip.compress(data, mtime=0), "zstd": zstandard.ZstdCompressor().compress}


@given(parts=st.lists(st.binary(max_size=3000), min_size=1, max_size=3), name=st.sampled_from(sorted(PACKERS)))
def test_what_is_unpacked_is_what_was_packed_in_one_piece_or_several(parts, name):
    data = b"".join(map(PACKERS[name], parts))
    stream = opening.unpack(io.BytesIO(data))
    assert opening.find_packing(io.BytesIO(data)) == name
    assert stream.read() == b"".join(parts)
    stream.seek(0)
    assert stream.read(5) == b"".join(parts)[:5], "it can be read again"


@pytest.mark.parametrize("name", sorted(PACKERS))
def test_a_file_that_was_cut_off_anywhere_is_refused(name):
    data = PACKERS[name](bytes(range(256)) * 4)
    for end in range(5, len(data)):
        with pytest.raises(UnreadableContainer, match="damaged or cut off"):
            opening.unpack_bytes(data[:end])


def test_a_file_that_unpacks_to_far_more_is_refused_before_it_fills_the_memory():
    bomb = zstandard.ZstdCompressor().compress(bytes(MAX_ROW_BYTES + 1))
    stream = opening.unpack(io.BytesIO(bomb))
    with pytest.raises(UnreadableContainer, match="it unpacks to more than"):
        stream.seek(0, io.SEEK_END)


@given(data=st.binary(max_size=50).filter(lambda data: data[:2] != b"\x1f\x8b" and data[:4] != b"\x28\xb5\x2f\xfd"))
def test_what_is_not_packed_is_the_stream_itself(data):
    stream = io.BytesIO(data)
    assert opening.unpack(stream) is stream
