"""A tree of files that changes all the time, and requests about it. Equal seeds give equal edits."""

import hashlib
import os
import random
import shutil
from pathlib import Path
from typing import Any

from contract_spec.operations import operations, requests

_WORDS = ("alpha", "beta", "gamma", "needle", "größe", "TODO", "return", "x" * 90, "")
_FILES = 300
_FOLDERS = 20
_EMPTY_LINE = hashlib.sha256(b"").hexdigest()


class ChangingTree:
    """Files below a folder, edited one step at a time."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self._chance = folder, chance
        for number in range(_FILES):
            self._write(folder / f"d{number % _FOLDERS}" / f"f{number}.txt")

    def edit(self) -> None:
        """Change something: mostly text, now and then names, folders, links and ignore rules."""
        kind = self._chance.random()
        path = self._some()
        if kind < 0.45:
            self._write(path)
        elif kind < 0.5:
            self._replace_unnoticed(path)
        elif kind < 0.65:
            with path.open("a", encoding="utf-8") as file:
                file.write(self._text())
        elif kind < 0.75:
            path.unlink()
            self._write(self.folder / f"d{self._chance.randrange(_FOLDERS)}" / f"f{self._chance.randrange(_FILES)}.txt")
        elif kind < 0.85:
            path.replace(path.with_name(f"f{self._chance.randrange(_FILES)}.txt"))
        elif kind < 0.9:
            folder = self.folder / f"d{self._chance.randrange(_FOLDERS)}"
            if folder.exists():
                folder.rename(self.folder / "moving")
                (self.folder / "moving").rename(folder)
        elif kind < 0.94:
            shutil.rmtree(self.folder / f"d{self._chance.randrange(_FOLDERS)}", ignore_errors=True)
            for number in range(_FILES // _FOLDERS):
                self._write(self.folder / f"d{self._chance.randrange(_FOLDERS)}" / f"f{number}.txt")
        elif kind < 0.97:
            link = self.folder / "link.txt"
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(path, self.folder))
        else:
            (self.folder / ".gitignore").write_text(self._chance.choice(["f1*.txt\n", "d3/\n", "", "*.txt\n!f2*\n"]))

    def rewrite(self) -> None:
        """Write half of the files anew."""
        for path in self._all()[::2]:
            self._write(path)

    def request(self) -> tuple[str, dict[str, Any]]:
        """An operation and arguments that mostly make sense."""
        path = self._some().relative_to(self.folder).as_posix()
        word = self._chance.choice(_WORDS[:7])
        asked: list[tuple[str, dict[str, Any]]] = [
            *requests(path, word),
            ("grep", {"pattern": word}),
            ("grep", {"pattern": f"(?i){word}.*{word}|^$", "regex": True, "max_hits": 20, "gitignore": True}),
            ("grep", {"pattern": word, "paths": ["d1*/**"], "output": "files"}),
            ("list_files", {"gitignore": self._chance.random() < 0.5}),
            ("read_file", {"path": "gone/" + path}),
            ("list_files", {"tree": True, "depth": 1}),
            ("stat", {"paths": [path, "link.txt", "d1"]}),
            ("verify", {"citations": [{"path": path, "start_line": 1, "end_line": 1, "sha256": _EMPTY_LINE}]}),
        ]
        op, args = self._chance.choice(asked)
        # Over MCP arguments that are not given have other defaults: given, all interfaces have to answer alike.
        return op, operations()[op].tool["defaults"] | args

    def _some(self) -> Path:
        return self._chance.choice(self._all())

    def _all(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("f*.txt") if not path.is_symlink())

    def _replace_unnoticed(self, path: Path) -> None:
        """Change a file and keep its size and its time of change."""
        before = path.stat()
        text = path.read_bytes()
        path.write_bytes(text.swapcase())
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._text(), encoding="utf-8")

    def _text(self) -> str:
        lines = (" ".join(self._chance.choices(_WORDS, k=4)) for _ in range(self._chance.randrange(1, 400)))
        return "\n".join(lines) + "\n"
