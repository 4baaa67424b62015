"""Inputs of a run: files, folders and standard input as streams of bytes."""

import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from normalizer.errors import CannotRun


def sources(named: list[str], apart: list[Path], globs: Sequence[str] = ("*.json",)) -> Iterator[str]:
    """The bundles meant: a file or `-` is itself, a folder all files below it whose names match one of the globs. What
    lies under `apart`, or is it, is not taken from a folder: the ledger itself, the manifest, the rubric."""
    set_apart = {path.resolve() for path in apart}
    for name in named:
        if name == "-" or not os.path.isdir(name):
            yield name
            continue
        if os.path.realpath(name) in map(str, set_apart):
            raise CannotRun(f"{name} is the ledger itself: its raw bundles are in {Path(name, 'bundles')}")
        found = False
        for folder, folders, files in os.walk(name, onerror=_unreadable):
            folders[:] = sorted(inner for inner in folders if Path(folder, inner).resolve() not in set_apart)
            for file in sorted(files):
                path = Path(folder, file)
                if (
                    any(fnmatchcase(file, glob) for glob in globs)
                    and path.is_file()
                    and path.resolve() not in set_apart
                ):
                    found = True
                    yield str(path)
        if not found:
            raise CannotRun(f"no {' or '.join(globs)} file is below {name}")


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """A bundle's bytes."""
    if name == "-":
        if sys.stdin is None:
            raise CannotRun("standard input is closed, so there is no bundle to read; name a file")
        if _is_endless(sys.stdin.fileno()):
            raise CannotRun("standard input is a device without an end: give it a file or the output of a program")
        yield sys.stdin.buffer
        return
    with _regular(name) as stream:
        yield stream


def document(path: Path) -> bytes:
    """The bytes of a manifest, rubric, dialect or schema."""
    try:
        with _regular(str(path)) as stream:
            return stream.read()
    except OSError as error:
        raise CannotRun(f"cannot read {path}: {error.strerror}") from None


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
