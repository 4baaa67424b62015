"""The folder of a study's results. A build owns it: it is new, empty, or has the list of an earlier build.

A study file may come from another person, and a table holds texts of other people, so a result must not become a file
that some program runs or reads as its settings: nothing is written in a folder of other people's files, under a
hidden name, into a ledger, through a link, or over a file that a build did not write.
"""

import hashlib
import json
import os
import re
import stat
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Any

import contract_spec as spec

from normalizer.errors import CannotRun
from normalizer.ledger.durable import write_whole
from normalizer.ledger.reader import is_ledger
from normalizer.regular_files import regular_bytes

LIST = "normalizer-build.json"
"""The list of what builds wrote; a document of `eval/build_results.json`."""
_SHORT = re.compile("~[0-9]")
"""FAT and NTFS have a second name for each file: `GIT~1` for `.git`."""


def is_result_name(name: str) -> bool:
    """Whether a path can only mean a file or folder below another one, and on no file system a hidden one."""
    return all(map(_is_plain, name.split("/"))) and name.casefold() != LIST


def require_result_name(name: str) -> None:
    """Raise CannotRun unless a path is the name of a result."""
    if not is_result_name(name):
        raise CannotRun(
            f"a result cannot be called {json.dumps(name)}: write a path below out, without .. and hidden names"
        )


def _is_plain(step: str) -> bool:
    """Whether no file system takes a step of a path for another name: some drop marks, some a dot at the end."""
    return (
        step not in ("", ".", "..")
        and step[0] not in ". "
        and step[-1] not in ". "
        and not any(char in ":\\" or unicodedata.category(char).startswith("C") for char in step)
        and _SHORT.search(step) is None
    )


class ResultsFolder:
    """A folder that builds own."""

    def __init__(self, folder: Path) -> None:
        """Read the list of an earlier build. Raises CannotRun if the folder holds other files, or is in a ledger."""
        self._folder = folder
        for around in filter(is_ledger, (folder, *folder.parents)):
            raise CannotRun(f"{folder} is in the ledger {around}, which only normalize writes to: name another out")
        document = self._read_list()
        self._wrote: dict[str, str] = document["files"]
        self._ledgers = set(document.get("ledgers", ()))
        if not (folder / LIST).exists() and folder.exists() and any(folder.iterdir()):
            raise CannotRun(
                f"{folder} holds files that no build wrote: give out a new folder, or move what is there away"
            )

    def _read_list(self) -> dict[str, Any]:
        path = self._folder / LIST
        try:
            if path.is_symlink():
                raise CannotRun(f"{path} is a link: remove it")
            document = json.loads(regular_bytes(path))
        except FileNotFoundError:
            return {"files": {}}
        except (OSError, ValueError):
            document = None
        for violation in spec.violations("eval/build_results.json", document):
            raise CannotRun(f"{path} is not the list of a build: {violation.message}; move the folder away")
        return dict(document)

    def claim_ledger(self, name: str) -> Path:
        """Return the folder of a ledger that a step is to write. Raises CannotRun unless it is new or a build's."""
        self._require_place(name)
        place = self._folder / name
        if name not in self._ledgers and (place.is_symlink() or place.exists()):
            raise CannotRun(f"{place} was made by no build: move it away, or give the step another out")
        self._ledgers.add(name)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._write_list()
        return place

    def take(self, made: Path) -> None:
        """Write every file below the folder `made` at the same path here. Raises CannotRun before it writes one."""
        files = {
            path.relative_to(made).as_posix(): path.read_bytes() for path in sorted(made.rglob("*")) if path.is_file()
        }
        changed = {name: data for name, data in files.items() if self._is_to_be_written(name, data)}
        self._folder.mkdir(parents=True, exist_ok=True)
        for name, data in changed.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        self._wrote |= {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        self._write_list()

    def _write_list(self) -> None:
        document: dict[str, Any] = {"files": dict(sorted(self._wrote.items()))}
        if self._ledgers:
            document["ledgers"] = sorted(self._ledgers)
        write_whole(self._folder / LIST, (json.dumps(document, indent=2) + "\n").encode())

    def _require_place(self, name: str) -> None:
        """Raise CannotRun if a result cannot lie at this path: in a ledger, or below a link or a file."""
        require_result_name(name)
        for folder in list(PurePosixPath(name).parents)[-2::-1]:
            place = self._folder / folder
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                raise CannotRun(f"{place} is not a folder, so {name} cannot be written below it: move it away")
            if is_ledger(place):
                raise CannotRun(f"{place} is a ledger, which only normalize writes to: name another place")

    def _is_to_be_written(self, name: str, data: bytes) -> bool:
        """Whether the file is missing or has other bytes. Raises CannotRun if it is not ours to write."""
        self._require_place(name)
        path = self._folder / name
        try:
            about = os.lstat(path)
        except FileNotFoundError:
            return True
        there = path.read_bytes() if stat.S_ISREG(about.st_mode) else None
        if there == data:
            return False
        if there is None or hashlib.sha256(there).hexdigest() != self._wrote.get(name):
            raise CannotRun(f"{path} is not what a build wrote: move it away, or name another result")
        return True
