"""The file of a trace. Several processes may append to it at once without mixing their lines.

Each line is one write to a descriptor opened with O_APPEND, so the system keeps lines apart. If a full disk or a
killed writer left a partial last line, a line feed is written first.
"""

import os
import stat
import time
from collections.abc import Iterator
from datetime import datetime


def timestamp(seconds: float) -> str:
    """Format seconds since the epoch as events do: UTC, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def seconds_of(moment: str) -> int | None:
    """Return a timestamp as seconds since the epoch; None for a date that does not exist, such as February 31."""
    try:
        return int(datetime.fromisoformat(moment).timestamp())
    except ValueError:
        return None


_BLOCK = 1 << 20
"""Bytes of a trace that are read at a time."""

# O_NONBLOCK: opening a pipe without a reader fails instead of waiting, and so does writing to a full pipe.
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


class Log:
    """A trace file open for appending. Raises OSError if it cannot be opened."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, _FLAGS, 0o600)
        self._torn = _ends_in_mid_line(self.descriptor, path)

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)

    def append(self, line: bytes) -> None:
        """Append a line, given without its line feed. Raises OSError if it cannot be written."""
        data = (b"\n" if self._torn else b"") + line + b"\n"
        written = 0
        try:
            while written < len(data):
                written += os.write(self.descriptor, data[written:])
        except OSError:
            self._torn = self._torn or written > 0
            raise
        self._torn = False


def lines_backwards(path: str) -> Iterator[bytes]:
    """Yield the lines of a file without their line feeds, the last one first. Only some of them are held at a time."""
    with open(path, "rb") as file:
        end, rest = file.seek(0, os.SEEK_END), b""
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            first, *lines = (file.read(end - start) + rest).split(b"\n")
            yield from reversed(lines)
            end, rest = start, first
        yield rest


def _ends_in_mid_line(descriptor: int, path: str) -> bool:
    """Whether the file ends without a line feed. False if it cannot be read."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
        return False
    try:
        reading = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.pread(reading, 1, status.st_size - 1) != b"\n"
    finally:
        os.close(reading)
