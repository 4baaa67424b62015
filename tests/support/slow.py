"""Requests that take minutes, for tests of what happens to them and to others meanwhile."""

import os
from pathlib import Path

SLOW = {"pattern": r"(\pL?\pN?){300}c\d", "regex": True, "paths": ["slow.txt"]}
"""Arguments of a grep over `slow_file` that is not done before the test is: RE2 tries 400,000 states on every byte."""


def slow_file(root: Path) -> None:
    """Put the text into a tree that makes `SLOW` slow."""
    (root / "slow.txt").write_bytes(b"abcd1efg " * 200_000 + b"\n")


def children(pid: int) -> list[int]:
    """The processes that a process has started, all threads of it included, without those that have ended."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            found += [int(number) for number in file.read().split()]
    return [number for number in found if not _ended(number)]


def _ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
