"""Inputs of a run: files, folders and standard input as streams of bytes, and how their bytes are taken in."""

import errno
import hashlib
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from normalizer.errors import CannotRun
from normalizer.ledger.buckets import raw_bucket, raw_place
from normalizer.ledger.integrity import check_bytes
from normalizer.ledger.reader import STAGING, is_ledger

MAX_PIPED_BYTES = 1 << 32
"""Standard input is read up to here. A bundle may be 64 MiB long; files of other tools may be longer."""
_BLOCK = 1 << 22


def sources(named: list[str], apart: list[Path], globs: Sequence[str] = ("*.json",)) -> Iterator[str]:
    """Return the bundles that the arguments name.

    A file or `-` is itself; a folder means all files below it whose names match one of the globs. Files in `apart` or
    below it are not taken from a folder: the ledger itself, the manifest, the rubric.
    """
    set_apart = {identity for path in apart if (identity := _identity(path)) is not None}
    for name in named:
        if name == "-" or not os.path.isdir(name):
            yield name
            continue
        if _identity(name) in set_apart:
            raise CannotRun(f"{name} is the ledger itself: its raw bundles are in {Path(name, 'bundles')}")
        if is_ledger(Path(name)):
            raise CannotRun(f"{name} is a ledger already: `normalizer list {name}` shows what is in it")
        found = False
        for folder, folders, files in os.walk(name, onerror=_unreadable):
            folders[:] = sorted(inner for inner in folders if _identity(os.path.join(folder, inner)) not in set_apart)
            for file in sorted(files):
                if not any(fnmatchcase(file, glob) for glob in globs):
                    continue
                path = os.path.join(folder, file)
                if _identity(path, stat.S_ISREG) not in {None, *set_apart}:
                    found = True
                    yield path
        if not found:
            raise CannotRun(
                f"no {' or '.join(globs)} file is below {name}: name the files; of a file of another kind "
                "`normalizer guess FILE` says how it is read"
            )


def _identity(path: str | Path, kind: Callable[[int], bool] = lambda _: True) -> tuple[int, int] | None:
    """Device and inode of the file that a path leads to; None if there is none, or it is not of that kind."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return (about.st_dev, about.st_ino) if kind(about.st_mode) else None


@contextmanager
def open_bundle(name: str) -> Iterator[BinaryIO]:
    """Open a bundle as a stream of bytes."""
    if name == "-":
        if sys.stdin is None:
            raise CannotRun("standard input is closed, so there is no bundle to read; name a file")
        if _is_endless(sys.stdin.fileno()):
            raise CannotRun("standard input is a device without an end: give it a file or the output of a program")
        yield cast(BinaryIO, _Bounded(sys.stdin.buffer))
        return
    with _regular(name) as stream:
        yield stream


class _Bounded(io.RawIOBase):
    """A stream that ends with an error after `MAX_PIPED_BYTES`, so that an endless program cannot fill the disk."""

    name = "standard input"

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._room = MAX_PIPED_BYTES

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read like the stream. Raises CannotRun once it has given more than `MAX_PIPED_BYTES`."""
        data = self._stream.read(size)
        self._room -= len(data)
        if self._room < 0:
            raise CannotRun(
                f"standard input goes on after {MAX_PIPED_BYTES} bytes; write it to a file, split it and name the files"
            )
        return data


def _regular(name: str) -> BinaryIO:
    """Open a regular file. A FIFO would block, and a device may have no end."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise CannotRun(f"cannot read {name}: {error.strerror}") from None
    stream = os.fdopen(descriptor, "rb")
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return stream
    stream.close()
    if stat.S_ISDIR(mode):
        raise CannotRun(f"cannot read {name}: {os.strerror(errno.EISDIR)}")
    raise CannotRun(f"cannot read {name}: it is not a regular file; give - to read a bundle from standard input")


def _is_endless(descriptor: int) -> bool:
    try:
        about = os.fstat(descriptor)
    except OSError:
        return False
    return stat.S_ISCHR(about.st_mode) and not os.isatty(descriptor) and about.st_rdev != os.stat(os.devnull).st_rdev


def _unreadable(error: OSError) -> None:
    raise CannotRun(f"cannot read {error.filename}: {error.strerror}")


def take(stream: BinaryIO, folder: Path, *, replace: bool) -> tuple[Literal["new", "again", "known"], str]:
    """Copy a bundle's bytes into the staging folder under their hash, unless this run or the ledger has them.

    Returns the outcome and the hash. Safe for several processes at once: the one that creates the file has taken the
    bundle.
    """
    root = folder / STAGING
    data = _read(stream)
    digest = hashlib.sha256(data)
    scratch = None
    if len(data) == _BLOCK:  # there may be more, perhaps more than fits into memory
        scratch = root / f"taking-{os.getpid()}"
        with scratch.open("wb") as file:
            while data:
                file.write(data)
                data = _read(stream)
                digest.update(data)
    sha256 = digest.hexdigest()
    kept = raw_place(folder, sha256)
    known = not replace and kept.exists()
    if known:
        check_bytes(kept, sha256)
    place = _place(root, "known" if known else "incoming", sha256)
    try:
        with _new(place) as file:
            file.write(b"" if known else data)
    except FileExistsError:
        return "known" if known else "again", sha256
    if scratch is not None and not known:
        scratch.replace(place)
    return "known" if known else "new", sha256


def _read(stream: BinaryIO) -> bytes:
    try:
        data: bytes | None = stream.read(_BLOCK)
    except OSError as error:
        raise CannotRun(f"cannot read {stream.name}: {error.strerror or error}") from None
    if data is None:  # a file of /proc that would make its reader wait
        raise CannotRun(f"cannot read {stream.name}: {os.strerror(errno.EAGAIN)}")
    return data


def _new(place: Path) -> BinaryIO:
    try:
        return place.open("xb")
    except FileNotFoundError:
        place.parent.mkdir(exist_ok=True)
        return place.open("xb")


def _place(root: Path, part: str, sha256: str) -> Path:
    """Return the path of a bundle in the staging folder."""
    return root / part / raw_bucket(sha256) / f"{sha256}.json"


ProgressCallback = Callable[[str, int, int], None]
"""Told how many of how many things of a kind are done."""
LARGE = 1 << 24
"""Bytes of a file from which on it is told how many of them are read."""
_WATCHED_BLOCK = 1 << 20


def open_watched(path: Path, size: int, progress: ProgressCallback | None) -> BinaryIO:
    """Open a file for reading; if it is large, `progress` is told how many of its bytes are read."""
    if progress is None or size < LARGE:
        return path.open("rb")
    return io.BufferedReader(_WatchedFile(path, size, progress), _WATCHED_BLOCK)


class _WatchedFile(io.FileIO):
    def __init__(self, path: Path, size: int, progress: ProgressCallback) -> None:
        super().__init__(path)
        self._size, self._progress = size, progress

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        self._progress("bytes normalized", self.tell(), self._size)
        return count


_SUFFIXES = {"json": ["*.json"], "jsonl": ["*.jsonl", "*.json"], "csv": ["*.csv"], "zip": ["*.zip"]}


_PACKED = ("", ".gz", ".zst")


def file_globs(dialect: dict[str, Any] | None) -> list[str]:
    """Return globs for the names of the files in a folder that the dialect reads."""
    if dialect is None or "container" not in dialect:
        return ["*.json"]
    if "names" in dialect:
        return list(dialect["names"])
    found = [
        glob + packed
        for container in dialect["container"]
        for glob in _SUFFIXES[container["kind"]]
        for packed in (_PACKED if container["kind"] != "zip" else ("",))
    ]
    return list(dict.fromkeys(found))
