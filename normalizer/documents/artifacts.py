"""The evaluated files on disk: found below one folder, read whole, checked against the manifest's hashes."""

import errno
import hashlib
from pathlib import Path
from typing import Any

from normalizer.documents.lossless import dumps
from normalizer.errors import CannotRun
from normalizer.regular_files import regular_bytes


def read(folder: Path, file: dict[str, Any]) -> bytes:
    """Return the bytes of one evaluated file of a manifest. Raises CannotRun if they do not have the stated hash."""
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
        return regular_bytes(asked)
    except OSError as error:
        advice = "; is --artifacts the right folder?" if error.errno == errno.ENOENT else ""
        raise CannotRun(f"cannot read {asked}: {error.strerror}{advice}") from None
