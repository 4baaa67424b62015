"""Inputs of a run: files, folders and standard input as streams of bytes."""

import os
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
        yield sys.stdin.buffer
        return
    try:
        stream = open(name, "rb")  # noqa: SIM115 - the error is for this line only
    except OSError as error:
        raise CannotRun(f"cannot read {name}: {error.strerror}") from None
    with stream:
        yield stream


def document(path: Path) -> bytes:
    """The bytes of a manifest, rubric, dialect or schema."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CannotRun(f"cannot read {path}: {error.strerror}") from None


def _unreadable(error: OSError) -> None:
    raise CannotRun(f"cannot read {error.filename}: {error.strerror}")
