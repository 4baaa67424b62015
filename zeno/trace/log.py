"""The file of a trace: several processes may append to it, and no line is ever torn by another.

Each line goes out in one write to a descriptor opened for appending, so the system puts lines one after the other,
whoever writes them. What a full disk or a killed writer left half written is closed with a line feed first, so that
the next line is not glued to it.
"""

import os
import stat
import time
from datetime import datetime


def timestamp(seconds: float) -> str:
    """A point in time as events tell it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def seconds_of(moment: str) -> int | None:
    """The seconds of a timestamp; None for what the schema lets pass but no calendar has, such as February 31."""
    try:
        return int(datetime.fromisoformat(moment).timestamp())
    except ValueError:
        return None


# Not to wait for a reader: without one a pipe is refused, and a line that does not fit into it is not written.
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


class Log:
    """A log open for appending."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, _FLAGS, 0o600)
        self._torn = _ends_in_mid_line(self.descriptor, path)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.descriptor)

    def append(self, line: bytes) -> None:
        """Append a line, given without its end, or raise OSError."""
        data = (b"\n" if self._torn else b"") + line + b"\n"
        written = 0
        try:
            while written < len(data):
                written += os.write(self.descriptor, data[written:])
        except OSError:
            self._torn = self._torn or written > 0
            raise
        self._torn = False


def _ends_in_mid_line(descriptor: int, path: str) -> bool:
    """Whether the file's last byte is no line feed. A log that can only be written to is taken to be whole."""
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
