"""Make files and folders that survive a power cut: synced to disk, and files that are whole at every moment."""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

_FEW = 64
"""Up to this many files and folders are synced one by one; for more, one call for the file system is faster."""


def sync_tree(root: Path) -> None:
    """Sync a folder and everything below it. Raises OSError if the disk does not take it."""
    paths = [root]
    for folder, folders, files in os.walk(root, onerror=_raise):
        paths += [Path(folder, name) for name in (*folders, *files)]
    whole = _syncfs() if len(paths) > _FEW else None
    if whole is None:
        for path in paths:
            sync(path)
        return
    descriptor = os.open(root, os.O_RDONLY)
    try:
        whole(descriptor)
    finally:
        os.close(descriptor)


def _raise(error: OSError) -> NoReturn:
    raise error


def sync(path: Path) -> None:
    """Sync one file's content, or the names in one folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def create_folder(folder: Path) -> Iterator[None]:
    """Make a folder with its parents, and sync their names. If the block fails, those left empty are removed again."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for place in missing:
            sync(place.parent)
        yield
    except BaseException:
        for place in missing:
            with suppress(OSError):
                place.rmdir()
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it has its old or its new content at every moment. A device or FIFO is just written to."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = path.resolve()
    scratch = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        with scratch.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(target)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise
    sync(target.parent)


@cache
def _syncfs() -> Callable[[int], None] | None:
    """syncfs(2), which waits for all data of a file system; None where the C library has none."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        return None

    def call(descriptor: int) -> None:
        if library.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return call
