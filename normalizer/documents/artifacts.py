"""The evaluated files on disk: found below one folder, read whole, checked against the manifest's hashes."""

import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

from normalizer.documents.lossless import dumps
from normalizer.errors import CannotRun


def read(folder: Path, file: dict[str, Any]) -> bytes:
    """The bytes of one evaluated file of a manifest, which must be those it means."""
    name = file.get("path", file["file"])
    data = content(folder, name)
    found = hashlib.sha256(data).hexdigest()
    if file.get("sha256", found) != found:
        raise CannotRun(
            f"{folder / name} is not the file the manifest means: its sha256 is {found}, not {file['sha256']}"
        )
    return data


def content(folder: Path, name: str) -> bytes:
    """The bytes of a file below the folder. A path that leaves it is refused."""
    asked = folder / name
    if "\0" in name or name.startswith("/") or ".." in name.split("/"):
        raise CannotRun(f"the path {dumps(name)} does not stay below the artifacts folder: give one that does")
    try:
        if not asked.resolve().is_relative_to(folder.resolve()):
            raise CannotRun(f"the path {dumps(name)} leads out of the artifacts folder through a link")
        # A FIFO must not block, and a device must not be read.
        descriptor = os.open(asked, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise CannotRun(f"cannot read {asked}: {error.strerror}; is --artifacts the right folder?") from None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CannotRun(f"{asked} is not a regular file")
        return stream.read()


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
