"""Open a file as the container that its dialect declares, the first one that the file's beginning fits."""

import gzip
import io
import zlib
from typing import Any, BinaryIO, cast

from normalizer.containers.readers.archives import ArchiveReader
from normalizer.containers.readers.documents import JsonReader, leads
from normalizer.containers.readers.rows import (
    MAX_ROW_BYTES,
    ContainerReader,
    JsonLinesReader,
    UnreadableContainer,
    parse_row,
)
from normalizer.containers.readers.tables import CsvReader
from normalizer.regular_files import READING_LIMITS

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_DENSEST = READING_LIMITS["max_unpacked"]
_PIECE = 1 << 10
"""Packed bytes that are unpacked at once: four of them may become 128 KiB."""
_DAMAGED = (OSError, EOFError, zlib.error)


def find_packing(stream: BinaryIO) -> str:
    """Return how a file is packed, `gzip` or `zstd`; empty if it is not."""
    stream.seek(0)
    start = stream.read(4)
    stream.seek(0)
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), "")


def unpack(stream: BinaryIO) -> BinaryIO:
    """Return a stream of the unpacked bytes, or the stream itself if it is not packed. Raises UnreadableContainer."""
    name = find_packing(stream)
    return cast(BinaryIO, io.BufferedReader(_Unpacked(stream, name), 1 << 16)) if name else stream


def unpack_bytes(data: bytes) -> bytes:
    """Return the unpacked bytes, or the data themselves if they are not packed. Raises UnreadableContainer."""
    return unpack(io.BytesIO(data)).read()


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a stream. They can be read again from the beginning."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._most = max(MAX_ROW_BYTES, _DENSEST * stream.seek(0, io.SEEK_END))
        """Bytes that may come out: lines of text unpack to less than fifty times their size, bombs to a thousand."""
        self._inner = self._begin()
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go back to the beginning, and from there on to the offset."""
        if whence == io.SEEK_SET:
            self._inner, self._at = self._begin(), 0
            while self._at < offset and self._take(min(offset - self._at, 1 << 16)):
                pass
        elif whence == io.SEEK_END:
            while self._take(1 << 16):
                pass
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self._take(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _take(self, size: int) -> bytes:
        try:
            data: bytes = self._inner.read(size)
        except _DAMAGED:
            raise UnreadableContainer(f"it is packed by {self._name}, and damaged or cut off") from None
        self._at += len(data)
        if self._at > self._most:
            raise UnreadableContainer(f"it unpacks to more than {self._most} bytes: unpack it and give the file itself")
        return data

    def _begin(self) -> Any:
        self._stream.seek(0)
        if self._name == "gzip":
            return gzip.GzipFile(fileobj=self._stream)
        try:
            import zstandard
        except ImportError:
            raise UnreadableContainer(
                "it is packed by Zstandard: install the extra zstd, as `zeno doctor` says"
            ) from None
        return _Zstandard(zstandard, self._stream)


class _Zstandard:
    """Reads frames to their ends: the library's own stream does not tell a file that was cut off."""

    def __init__(self, library: Any, stream: BinaryIO) -> None:
        self._library, self._stream = library, stream
        self._frame: Any = None
        self._packed = self._ready = b""

    def read(self, size: int) -> bytes:
        """Read like a file. Raises EOFError where a frame is damaged or has no end."""
        while not self._ready:
            if not (packed := self._packed or self._stream.read(_PIECE)):
                if self._frame is not None:
                    raise EOFError
                return b""
            if self._frame is None:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            try:
                self._ready = self._frame.decompress(packed)
            except self._library.ZstdError:
                raise EOFError from None
            self._packed = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        data, self._ready = self._ready[:size], self._ready[size:]
        return data


_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_LINES = 100
"""Lines that are looked at."""
_MARK = b"\xef\xbb\xbf"


def open_container(stream: BinaryIO, dialect: dict[str, Any]) -> ContainerReader:
    """The reader of a stream's rows. Raises `UnreadableContainer` where the bytes are not the container declared."""
    packed = find_packing(stream)
    stream = unpack(stream)
    start = stream.read(6)
    stream.seek(0)
    is_zip = start[:4] in _ZIP
    if is_zip and packed:
        raise UnreadableContainer(f"it is a zip archive that is packed by {packed} as well: unpack it first")
    given = [container for container in dialect["container"] if (container["kind"] == "zip") == is_zip]
    for magic, name in _COMPRESSED.items():
        if start.startswith(magic):
            raise UnreadableContainer(f"it is compressed by {name}: unpack it first, or pack it by gzip")
    if not given:
        kinds = " or ".join(container["kind"] for container in dialect["container"])
        raise UnreadableContainer(f"it is {'a' if is_zip else 'no'} zip archive, and the dialect declares {kinds}")
    nan = dialect.get("nan", False)
    container, document = (given[0], None) if len(given) == 1 else _choose_container(stream, given, nan=nan)
    stream.seek(0)
    match container["kind"]:
        case "zip":
            described = container.get("document", [])
            each = container.get("each", "document")
            return ArchiveReader(stream, members=container.get("members", "*"), each=each, document=described, nan=nan)
        case "csv":
            mark, short = container.get("delimiter", ","), container.get("short_rows", False)
            return CsvReader(stream, delimiter=mark, columns=container.get("columns"), short=short)
        case "jsonl":
            return JsonLinesReader(stream, nan=nan, document_row=dialect.get("document_row"))
    reader = document or JsonReader(stream, nan=nan)
    reader.places = _places(container)
    return reader


def _choose_container(
    stream: BinaryIO, given: list[dict[str, Any]], *, nan: bool
) -> tuple[dict[str, Any], JsonReader | None]:
    """The first container that fits, and the document where it was read for that."""
    kinds = [container["kind"] for container in given]
    line, *others = _first_lines(stream)
    beginnings = {other[:1] for other in others}
    if line[:1] not in (b"{", b"["):
        if "csv" in kinds or ("jsonl" in kinds and b"{" in beginnings):
            return given[kinds.index("csv" if "csv" in kinds else "jsonl")], None
        raise UnreadableContainer(
            f"it does not begin like JSON, and the dialect declares {' or '.join(dict.fromkeys(kinds))}: "
            "a table of cells needs --container csv and a dialect that names its columns"
            if line
            else "it is empty"
        )
    lines = line not in (b"{", b"[") and (line[:1] == b"{" or b"{" in beginnings)
    """Whether the file may be JSON lines."""
    complete = parse_row(line, nan=True)[1] == ""
    document = None
    if "json" in kinds and not (lines and complete and others and "jsonl" in kinds):
        stream.seek(0)
        try:
            document = JsonReader(stream, nan=nan)
        except UnreadableContainer:
            if not (lines and "jsonl" in kinds):
                raise
    for container in given:
        if container["kind"] == "json" and document is not None and leads(document.document, _places(container)):
            return container, document
        if container["kind"] == "jsonl" and lines and (complete or document is None):
            return container, None
    if document is None:
        return given[0], None
    places = " or ".join(place for one in given if one["kind"] == "json" for place in _places(one))
    raise UnreadableContainer(f"no row stands at {places}: name the place with --container, such as json:/data/*")


def _first_lines(stream: BinaryIO) -> list[bytes]:
    """The first lines that hold something, without white space around them; at least one, which may be empty."""
    found: list[bytes] = []
    size = 0
    while len(found) < _LINES and size <= MAX_ROW_BYTES and (line := stream.readline(MAX_ROW_BYTES + 1)):
        size += len(line)
        if line := line.removeprefix(_MARK).strip():
            found.append(line if not found else line[:1])
    return found or [b""]


def _places(container: dict[str, Any]) -> list[str]:
    return [container.get("rows", "/*"), *container.get("more_rows", [])]
