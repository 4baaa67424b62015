"""Requests that take minutes, for tests of what happens to them and to others meanwhile."""

import os
from pathlib import Path
from typing import Any

SLOW: dict[str, Any] = {
    "pattern": r"(\pL?\pN?){110}c\d",
    "regex": True,
    "paths": ["slow.txt"],
    "max_bytes": 20_000_000,
}
"""Arguments of a grep over `slow_file` that is not done before the test is: RE2 tries hundreds of states on every byte.
A pattern with some more states would be refused."""


def slow_file(root: Path) -> None:
    """Put the text into a tree that makes `SLOW` slow."""
    (root / "slow.txt").write_bytes(b"abcd1efg " * 2_000_000 + b"\n")


def slow_files(root: Path) -> dict[str, Any]:
    """Put many small files into a tree; return arguments of a grep that takes long on all, but not on any of them."""
    for number in range(10_000):
        (root / f"slow-{number}.txt").write_bytes(b"abcd1efg " * 10 + b"\n")
    return {"pattern": SLOW["pattern"], "regex": True}


def children(pid: int) -> list[int]:
    """The processes that a process has started, all threads of it included, without those that have ended."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            found += [int(number) for number in file.read().split()]
    return [number for number in found if not ended(number)]


def ended(pid: int) -> bool:
    """Whether a process is gone, or only waits to be collected."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
