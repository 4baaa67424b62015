"""Zip archives that are read alike by every version of Python.

Versions differ on names in an extra field, which some of them read and some do not, and on members that reach into the
next one. Here names are those of the directory, a bad name in an extra field makes the archive a damaged one, and no
member may reach into another.
"""

import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

_LOCAL_HEADER = 30
"""Bytes of a member's own header, before its name and its extra fields."""
_UNICODE_PATH = 0x7075
_IS_UTF8 = 0x800
"""The flag of a member whose name is UTF-8; others are in code page 437."""


class ZipFile(zipfile.ZipFile):
    """An archive to be read. Raises BadZipFile and whatever else the standard library raises for a damaged one."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._stream = stream
        listed = self.infolist()
        for info in listed:
            info.filename = info.orig_filename.partition("\0")[0]
            _check_other_names(info)
        self.NameToInfo = {info.filename: info for info in listed}
        starts = sorted({info.header_offset for info in listed})
        self._next = dict(zip(starts, [*starts[1:], self.start_dir], strict=True))

    def open(self, name: Any, *arguments: Any, **more: Any) -> IO[bytes]:
        """Open a member, given by its entry in the directory."""
        self.find_start(name)
        return super().open(name, *arguments, **more)

    def find_start(self, info: zipfile.ZipInfo) -> int:
        """Return where the packed bytes of a member begin. Raises BadZipFile if they reach into the next member."""
        self._stream.seek(info.header_offset)
        head = self._stream.read(_LOCAL_HEADER)
        if head[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("its local header is missing")
        name, extra = (int.from_bytes(head[at : at + 2], "little") for at in (26, 28))
        start = info.header_offset + _LOCAL_HEADER + name + extra
        if start + info.compress_size > self._next[info.header_offset]:
            raise zipfile.BadZipFile("it reaches into the next member")
        return start


def _check_other_names(info: zipfile.ZipInfo) -> None:
    """Raise BadZipFile if a name in an extra field would be taken by some versions of Python, and is none."""
    name = info.orig_filename.encode("utf-8" if info.flag_bits & _IS_UTF8 else "cp437")
    for kind, data in _extra_fields(info.extra):
        if kind != _UNICODE_PATH:
            continue
        if len(data) < 5:
            raise zipfile.BadZipFile("a name in an extra field is cut")
        if data[0] == 1 and int.from_bytes(data[1:5], "little") == zlib.crc32(name):
            try:
                data[5:].decode("utf-8")
            except UnicodeDecodeError:
                raise zipfile.BadZipFile("a name in an extra field is not UTF-8") from None


def _extra_fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    while len(extra) >= 4:
        kind, size = (int.from_bytes(extra[at : at + 2], "little") for at in (0, 2))
        yield kind, extra[4 : 4 + size]
        extra = extra[4 + size :]
