"""Waiting for facts instead of for time: as long as it takes on the slowest machine, and not a moment longer."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds after which something is taken to be stuck: bounds what hangs, says nothing of how long things take."""


def until(fact: Callable[[], T], what: str) -> T:
    """Look until it is so; what was seen then."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := fact()):
        assert time.monotonic() < deadline, f"still not so after {PATIENCE:g} s: {what}"
        time.sleep(0.005)
    return seen


def open_files(pid: int) -> set[str]:
    """What a process has open."""
    folder = f"/proc/{pid}/fd"
    found = set()
    for one in os.listdir(folder):
        # It may be closed by the time it is looked at.
        with suppress(FileNotFoundError):
            found.add(os.readlink(os.path.join(folder, one)))
    return found
