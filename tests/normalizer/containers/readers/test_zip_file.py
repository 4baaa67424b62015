"""Archives that versions of Python read differently are read in one way."""

import io
import struct
import zipfile
import zlib

import pytest

from normalizer.containers.readers.archives import ZipFile


def archive_of(names, extra=b""):
    """An archive of stored members that hold their names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.extra = extra
            file.writestr(info, name * 9)
    return packed.getvalue()


def field(name, version=1, of="a"):
    data = bytes([version]) + zlib.crc32(of.encode()).to_bytes(4, "little") + name
    return struct.pack("<HH", 0x7075, len(data)) + data


def test_a_member_that_reaches_into_the_next_one_is_damaged():
    data = bytearray(archive_of(["a", "b"]))
    listed = data.index(b"PK\1\2")
    data[listed + 20] += 1  # the packed size of the first member
    with ZipFile(io.BytesIO(data)) as file:
        with pytest.raises(zipfile.BadZipFile):
            file.open(file.infolist()[0])
        with file.open(file.infolist()[1]) as member:
            assert member.read() == b"b" * 9


@pytest.mark.parametrize(
    "extra", [field(b"other"), field(b""), field(b"\xff", version=2), field(b"\xff", of="b"), b"", b"ab\0\0"]
)
def test_names_are_those_of_the_directory(extra):
    with ZipFile(io.BytesIO(archive_of(["a"], extra))) as file:
        assert file.namelist() == ["a"]
        with file.open(file.getinfo("a")) as member:
            assert member.read() == b"a" * 9


@pytest.mark.parametrize("extra", [field(b"\xff"), struct.pack("<HH", 0x7075, 3) + b"abc"], ids=["no UTF-8", "cut"])
def test_a_bad_name_in_an_extra_field_is_damage(extra):
    with pytest.raises(zipfile.BadZipFile):
        ZipFile(io.BytesIO(archive_of(["a"], extra)))
