"""Real servers behind real interfaces, for tests: started as a user starts them, ended when the test ends."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import Pipe
from tests.support.lacking import lacking
from tests.support.patience import PATIENCE
from tools.node import install

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "README.md": "# Sample\n\nA tree that tests knock at.\n",
    "src/app.py": "import os\n\n\ndef main():\n    return os.getcwd()\n\n\nclass Door:\n    pass\n",
    "src/deep/er/notes.txt": "eins\nzwei\ndrei\n" * 40,
    "docs/größe.txt": "größe\n",
    "docs/a b.txt": "blank\n",
    "bin/data": "\0binary",
    ".hidden": "hidden\n",
    "empty": "",
}


def sample(folder: Path) -> Path:
    """A small tree with a bit of everything."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def zeno(*arguments: str | os.PathLike[str]) -> list[str]:
    """The command line of `zeno`."""
    return [sys.executable, "-m", "zeno", *(os.fspath(argument) for argument in arguments)]


@contextmanager
def http(root: Path, *flags: str) -> Iterator[str]:
    """The address of an HTTP server on a free port."""
    with http_process(root, *flags) as (url, _):
        yield url


@contextmanager
def http_process(root: Path | str, *flags: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of an HTTP server on a free port, and its process."""
    with subprocess.Popen(
        zeno("http", "--root", root, "--port", "0", *flags), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            told = process.stderr.readline()
            found = re.search(r"listening on (http://\S+)", told)
            assert found, told
            yield found[1], process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()  # or leaving this block would wait for ever
                raise


@contextmanager
def stdio(root: Path, *flags: str) -> Iterator[Pipe]:
    """The plain server, asked line by line."""
    pipe = Pipe(root, *flags)
    try:
        yield pipe
    finally:
        assert pipe.close() == (0, b"")


def node(program: str) -> str:
    """A Node program of tools/locks/node. Without npm the test is skipped, but not in CI."""
    if shutil.which("npm") is None:
        lacking("needs npm (Debian: apt-get install npm)")
    return str(install() / program)


def without_metrics(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what may differ between two runs."""
    return {name: value for name, value in result.items() if name != "metrics"}
