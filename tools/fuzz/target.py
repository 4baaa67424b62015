"""A target of fuzzing."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple


class Target(NamedTuple):
    """A function that takes any bytes, and raises AssertionError or any other exception where a promise is broken."""

    check: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    """Inputs to begin with."""
    words: tuple[bytes, ...]
    """Pieces that inputs may be made of."""
    vector: str
    """How a finding becomes a lasting test."""


def text_of(data: bytes) -> str:
    """Any bytes as a text without surrogates."""
    return data.decode("utf-8", "replace")


def make_folder(name: str) -> Path:
    """An empty folder of this process alone. The engine ends without clean-up: folders are used again, under a lock."""
    for number in count():
        folder = Path(tempfile.gettempdir()) / f"zeno-fuzz-{name}-{number}"
        folder.mkdir(exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until this process ends
        except BlockingIOError:
            os.close(lock)
            continue
        shutil.rmtree(folder / "tree", ignore_errors=True)
        (folder / "tree").mkdir()
        return folder / "tree"
    raise AssertionError("count() does not end")
