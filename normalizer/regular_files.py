"""Open files of other people. A FIFO must not block, a device may have no end, and a sparse file may seem to have none.

`rules/reading_limits.json` says how much is read of them.
"""

import errno
import os
import shlex
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

import contract_spec as spec

from normalizer.errors import CannotRun

READING_LIMITS: dict[str, int] = spec.resource("rules/reading_limits.json")
_PIECE = 1 << 20


def shell_word(path: Path | str) -> str:
    """Return a path as one word of a command that people paste, whatever is in it: no option, nothing invisible."""
    text = str(path)
    if text.startswith("-") and text != "-":  # standard input keeps its name
        text = f"./{text}"
    if text.isprintable():
        return shlex.quote(text)
    codes = {
        ord(char): "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
        for char in text
        if not char.isprintable() or char in "'\\"
    }
    return f"$'{text.translate(codes)}'"


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file to read its bytes. Links are followed. Raises OSError, also for anything but a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        is_folder = stat.S_ISDIR(mode)
        raise OSError(
            0, "it is a folder, where a file is wanted" if is_folder else "it is not a regular file", str(path)
        )
    return os.fdopen(descriptor, "rb")


def regular_bytes(path: Path, limit: str = "max_document_bytes") -> bytes:
    """Return the bytes of a regular file. Raises OSError as `open_regular` does, and for a file beyond the limit."""
    most = READING_LIMITS[limit]
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(size + 1) if size <= most else b""
        if data is None:  # a file of /proc that would make its reader wait
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path))
        # A file that is written to, or one of /proc, may have more bytes than its size says.
        while size <= most and (more := file.read(_PIECE)):
            data += more
            size = len(data)
    if size > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes, which is more than can be read", str(path))
    return data


def document_bytes(path: Path, limit: str = "max_document_bytes") -> bytes:
    """Return the bytes of a regular file that a user names. Raises CannotRun with what is wrong."""
    try:
        return regular_bytes(path, limit)
    except OSError as error:
        raise CannotRun(f"cannot read {path}: {error.strerror}") from None


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of an open file. Raises OSError at one that is longer than any line of ours."""
    most = READING_LIMITS["max_line_bytes"]
    while line := file.readline(_PIECE):
        pieces, size = [line], len(line)
        while len(pieces[-1]) == _PIECE and not pieces[-1].endswith(b"\n"):
            pieces.append(file.readline(_PIECE))
            size += len(pieces[-1])
            if size > most:
                raise OSError(errno.EFBIG, f"it has a line of more than {most} bytes", file.name)
        yield line if len(pieces) == 1 else b"".join(pieces)
