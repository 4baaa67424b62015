"""docs/trace.md shows what really comes out: the investigation is led again and every output looked up in the page."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from zeno.cli.parser import main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "trace.md").read_text(encoding="utf-8")
COMMANDS = ["lint", "replay", "verify", "coverage", "view", "record", "claim", "subcall start", "subcall end", "append"]


@pytest.fixture
def investigation(tmp_path, monkeypatch, capfd):
    """The example, led in a folder of its own."""
    shutil.copytree(DOCS / "investigation", tmp_path / "i")
    monkeypatch.chdir(tmp_path / "i")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    task = ["--task", "why are readers signed out?"]
    assert (
        main(["trace", "record", "--root", "tree", "--log", "trace.jsonl", *task, "--", sys.executable, "agent.py"])
        == 0
    )

    def run(command, *flags, status=0):
        capfd.readouterr()
        assert main(["trace", command, "trace.jsonl", *flags]) == status
        return capfd.readouterr().out

    return run


def test_the_page_shows_what_the_commands_print(investigation):
    tree = ("--root", "tree")
    for command, flags, status in (("lint", (), 0), ("replay", tree, 0), ("verify", tree, 1), ("coverage", tree, 1)):
        out = investigation(command, *flags, status=status)
        assert f"$ zeno trace {' '.join([command, 'trace.jsonl', *flags])}\n{out}" in PAGE


def test_the_page_shows_what_became_of_it_after_the_fix(investigation):
    source = Path("tree/lantern/settings.py")
    fixed = source.read_text().replace('"h": 60}', '"h": 3600}').split("\n", 1)
    source.write_text(fixed[0] + "\n# Spans of time are whole numbers with a unit.\n" + fixed[1])
    hide = re.compile("digest [0-9a-f]{12}")
    assert hide.sub("digest", investigation("replay", "--root", "tree", status=1)) in hide.sub("digest", PAGE)
    changed = investigation("verify", "--root", "tree", status=1)
    assert (
        "FAILS  line 29: An hour is read as 60 seconds: the table of units has 60 for h as for m.\n       changed"
        in changed
    )


def test_every_command_is_told_of_and_helps(capsys):
    for command in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main(["trace", *command.split(), "--help"])
        assert ended.value.code == 0
        assert "--format" in capsys.readouterr().out
        assert f"`{command}" in PAGE
    for picture in re.findall(r"\((img/[^)]+)\)", PAGE):
        assert (DOCS / picture).is_file()
