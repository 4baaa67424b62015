"""Write the tree of a commit into a folder, again only what differs from the commit before."""

import subprocess
from pathlib import Path
from typing import NamedTuple


class Unavailable(Exception):
    """The commit is not in the repository."""


class _Blob(NamedTuple):
    path: str
    id: str


class Checkout:
    """A folder with the files of one commit of a repository. Links and submodules are left out."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self._repository = repository
        self._folder = folder
        self._have: dict[str, str] = {}
        self._git = subprocess.Popen(
            ["git", "-C", str(repository), "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def write(self, commit: str) -> None:
        """Have the files of this commit. Blobs that the repository lacks are left out."""
        wanted = {blob.path: blob.id for blob in self._list(commit)}
        for path in self._have.keys() - wanted.keys():
            (self._folder / path).unlink(missing_ok=True)
        for path, blob in wanted.items():
            if self._have.get(path) != blob:
                data = self._read(blob)
                target = self._folder / path
                if data is None:
                    target.unlink(missing_ok=True)
                    continue
                if target.is_dir():
                    target.rmdir()
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
        self._have = wanted

    def close(self) -> None:
        """End the process that reads blobs."""
        self._git.communicate()

    def _list(self, commit: str) -> list[_Blob]:
        command = ["git", "-C", str(self._repository), "ls-tree", "-r", "-z", commit]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            raise Unavailable(commit)
        rows = (row.split("\t", 1) for row in done.stdout.decode(errors="replace").split("\0")[:-1])
        return [_Blob(path, about.split()[2]) for about, path in rows if about.startswith("100")]

    def _read(self, blob: str) -> bytes | None:
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        self._git.stdin.write(blob.encode() + b"\n")
        self._git.stdin.flush()
        header = self._git.stdout.readline().split()
        if header[-1] == b"missing":
            return None
        data = self._git.stdout.read(int(header[2]))
        self._git.stdout.read(1)
        return data
