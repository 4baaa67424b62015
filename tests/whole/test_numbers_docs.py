"""The worked studies in the docs are built again: every command shown prints what the page shows."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from normalizer.cli import main

ROOT = Path(__file__).parents[2]
PAGES = ("preferences.md", "calibration.md", "gate.md")


def shown(page: str) -> list[tuple[str, str]]:
    """The commands of a page's console blocks, each with the output shown below it."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def printed(command: str) -> str:
    """Standard output of a command; tables are laid out with spaces, and blank lines at the end do not show."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main(shlex.split(command)[1:]) in (0, 1)
    return out.getvalue().rstrip("\n") + "\n" if out.getvalue() else ""


@pytest.mark.parametrize("name", PAGES)
def test_every_command_prints_what_the_page_shows(name, tmp_path, monkeypatch):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    commands = shown((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert commands
    for command, output in commands:
        assert printed(command) == output, command
