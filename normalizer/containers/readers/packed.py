"""Files packed by gzip or Zstandard, unpacked while they are read. No text file begins like one of them."""

import gzip
import io
import zlib
from typing import Any, BinaryIO, cast

from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.regular_files import READING_LIMITS

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_DENSEST = READING_LIMITS["max_unpacked"]
_PIECE = 1 << 10
"""Packed bytes that are unpacked at once: four of them may become 128 KiB."""
_DAMAGED = (OSError, EOFError, zlib.error)


def packing(stream: BinaryIO) -> str:
    """Return how a file is packed, `gzip` or `zstd`; empty if it is not."""
    stream.seek(0)
    start = stream.read(4)
    stream.seek(0)
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), "")


def unpack(stream: BinaryIO) -> BinaryIO:
    """Return a stream of the unpacked bytes, or the stream itself if it is not packed. Raises UnreadableContainer."""
    name = packing(stream)
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
