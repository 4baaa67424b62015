"""Open files of other people. A FIFO must not block, and a device may have no end."""

import os
import stat
from io import BufferedReader
from pathlib import Path


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file to read its bytes. Links are followed. Raises OSError, also for anything but a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def regular_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises OSError as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()
