"""Zip archives of JSON documents, JSON lines or CSV. Members are read one after the other, never unpacked to disk.

Large members of lines or cells are streamed: once to compare their checksum, so that no row of a damaged member is
taken for a good one, and once for the rows.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import IO, Any, BinaryIO

from normalizer.containers.readers.rows import MAX_ROW_BYTES, JsonLinesReader, Row, UnreadableContainer, parse_row
from normalizer.containers.readers.tables import CsvReader
from normalizer.regular_files import READING_LIMITS

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


_ZSTANDARD = 93
"""The compression method that newer versions of Inspect use."""
_STANDARD = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
"""Not LZMA: a few bytes of a member can demand a dictionary of 4 GB before anything is unpacked."""
_DAMAGED = "the member cannot be unpacked: it is damaged or encrypted"
_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)


_STREAMED = 1 << 20
"""Members of lines or cells that have more bytes are streamed. Smaller members may be as dense as they like."""
_DENSEST = READING_LIMITS["max_unpacked"]
"""Bytes that one byte of a larger member may unpack to. Lines of text have less than fifty, bombs a thousand."""


class ArchiveReader:
    """Reads rows from the members of an archive that a glob names, in the order of the archive."""

    kind = "zip"

    def __init__(
        self, stream: BinaryIO, *, members: str, each: str = "document", document: list[str], nan: bool = False
    ) -> None:
        try:
            self._zip = ZipFile(stream)
        except _BROKEN:
            raise UnreadableContainer("it begins like a zip archive and is none, or is damaged") from None
        self._stream = stream
        listed = self._zip.infolist()
        _refuse_dense(sum(info.file_size for info in listed), stream)
        self._members = [info for info in listed if fnmatchcase(info.filename, members)]
        if not self._members:
            raise UnreadableContainer(f"no member of the archive is named like {members}")
        self.each, self._nan = each, nan
        self.tail = ""
        self.document: Any = self._read_description(document)

    def rows(self) -> Iterator[Row]:
        """The rows of all members. A member that cannot be read is one row that cannot be read."""
        for info in self._members:
            try:
                if self.each != "document":
                    yield from self._rows_of(info)
                    continue
                data = self._read(info)
            except UnreadableContainer as error:
                yield Row("", 1, "", b"", None, str(error), info.filename)
                continue
            value, problem = parse_row(data, nan=self._nan)
            yield Row("", 1, "", data, value, problem, info.filename)

    def _rows_of(self, info: zipfile.ZipInfo) -> Iterator[Row]:
        """The rows of a member that is JSON lines or CSV. Raises `UnreadableContainer`."""
        streamed = info.file_size > _STREAMED and info.compress_type in _STANDARD
        if streamed:
            self._compare_checksum(info)
        with self._unpack(info) if streamed else io.BytesIO(self._read(info)) as stream:
            reader = JsonLinesReader(stream, nan=self._nan) if self.each == "jsonl" else CsvReader(stream)
            for row in reader.rows():
                yield row._replace(member=info.filename)

    def _unpack(self, info: zipfile.ZipInfo) -> BinaryIO:
        try:
            # The reader of zipfile alone finds the ends of lines slowly.
            unpacked: Any = self._zip.open(info)
            return io.BufferedReader(unpacked, 1 << 16)
        except _BROKEN:
            raise UnreadableContainer(_DAMAGED) from None

    def _compare_checksum(self, info: zipfile.ZipInfo) -> None:
        """Read a member to its end, where zipfile compares its checksum. Raises `UnreadableContainer`."""
        _refuse_bomb(info)
        try:
            with self._zip.open(info) as file:
                while file.read(1 << 20):
                    pass
        except _BROKEN:
            raise UnreadableContainer(_DAMAGED) from None

    def member(self, name: str) -> bytes:
        """The bytes of a member. Raises `UnreadableContainer`."""
        return self._read(self._zip.getinfo(name))

    def _read_description(self, names: list[str]) -> Any:
        for name in names:
            if name not in self._zip.namelist():
                continue
            try:
                value, problem = parse_row(self.member(name), nan=self._nan, is_row=False)
            except UnreadableContainer as error:
                value, problem = None, str(error)
            if problem:
                raise UnreadableContainer(f"its member {name} cannot be read: {problem}")
            return value
        return None

    def _read(self, info: zipfile.ZipInfo) -> bytes:
        if info.file_size > MAX_ROW_BYTES:
            raise UnreadableContainer(
                f"the member has {info.file_size} bytes, more than the {MAX_ROW_BYTES} it may have"
            )
        if info.file_size > _STREAMED:
            _refuse_bomb(info)
        try:
            if info.compress_type == _ZSTANDARD and _ZSTANDARD not in getattr(zipfile, "compressor_names", {}):
                return self._zstandard(info)
            if info.compress_type not in (*_STANDARD, _ZSTANDARD):
                raise UnreadableContainer(
                    f"the member is compressed by method {info.compress_type}, which is not read: pack it by deflate"
                )
            with self._zip.open(info) as file:
                data = file.read(MAX_ROW_BYTES + 1)
        except _BROKEN:
            raise UnreadableContainer(_DAMAGED) from None
        if len(data) > MAX_ROW_BYTES:
            raise UnreadableContainer(f"the member has more than {MAX_ROW_BYTES} bytes")
        return data

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        """A member that zipfile cannot unpack before Python 3.14."""
        try:
            import zstandard
        except ImportError:
            raise UnreadableContainer(
                "the member is compressed by Zstandard: install the extra zstd, as `zeno doctor` says"
            ) from None
        self._stream.seek(self._zip.find_start(info))
        packed = self._stream.read(info.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
                data: bytes = reader.read(info.file_size + 1)
        except zstandard.ZstdError:
            raise UnreadableContainer(_DAMAGED) from None
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("its size or checksum is wrong")
        return data


def _refuse_dense(unpacked: int, stream: BinaryIO) -> None:
    """Raise UnreadableContainer for an archive whose members, many small or overlapping ones, unpack to far more."""
    size = stream.seek(0, io.SEEK_END)
    if unpacked > max(MAX_ROW_BYTES, _DENSEST * size):
        raise UnreadableContainer(
            f"the archive unpacks from {size} to {unpacked} bytes, more than {_DENSEST} times as many: unpack it and "
            "give the files themselves"
        )


def _refuse_bomb(info: zipfile.ZipInfo) -> None:
    """Raise UnreadableContainer for a member that is far larger unpacked: what is kept of it would fill the disk."""
    if info.file_size > _DENSEST * max(info.compress_size, 1):
        raise UnreadableContainer(
            f"the member unpacks from {info.compress_size} to {info.file_size} bytes, more than {_DENSEST} times "
            "as many: unpack it and give the file itself"
        )
