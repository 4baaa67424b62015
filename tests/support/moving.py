"""Runs an action at one exact moment: right before a chosen system call of this process is made."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MARKER = "written-outside"


class Moment:
    """Wraps one function of `os`. The first call that fits runs the action, the real function, and what comes after."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        function: str,
        fits: Callable[..., bool],
        action: Callable[[], None],
        after: Callable[[], None] = lambda: None,
    ) -> None:
        self.happened = False
        real = getattr(os, function)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not self.happened and fits(*args, **kwargs):
                self.happened = True
                action()
                result = real(*args, **kwargs)
                after()
                return result
            return real(*args, **kwargs)

        monkeypatch.setattr(os, function, wrapper)


def reads(name: str) -> Callable[..., bool]:
    """Fits a read from an open file of this name."""
    return lambda descriptor, *_, **__: os.readlink(f"/proc/self/fd/{descriptor}").endswith("/" + name)


def opens(name: str) -> Callable[..., bool]:
    """Fits the opening, or the stat, of this name relative to an open directory."""
    return lambda path, *_, **options: os.fspath(path) in (name, os.fsencode(name)) and "dir_fd" in options


def move_out(root: Path, name: str = "d", *, link: bool = False) -> Callable[[], None]:
    """Move a directory out of the root, and write into it there; with `link`, leave a link to it at its old place."""

    def action() -> None:
        outside = root.parent / "outside"
        os.rename(root / name, outside)
        write_outside(outside)
        if link:
            os.symlink(outside, root / name)

    return action


def move_file_out(root: Path, path: str = "d/a.txt") -> Callable[[], None]:
    """Move one file out of the root, and write into it there."""

    def action() -> None:
        outside = root.parent / "outside.txt"
        os.rename(root / path, outside)
        outside.write_text(f"def {MARKER.replace('-', '_')}(): needle {MARKER}\n")

    return action


def write_outside(folder: Path) -> None:
    """Put text and names that must never be delivered into a directory and all below it."""
    for here, _, names in os.walk(folder):
        for name in names:
            # Opened before, so that whoever holds it open sees it too.
            with open(os.path.join(here, name), "r+") as file:
                file.truncate()
                file.write(f"def {MARKER.replace('-', '_')}(): needle {MARKER}\n")
        (Path(here) / f"{MARKER}.txt").write_text(f"needle {MARKER}\n")
