"""The tutorial on files of other tools is true: its commands, run in order, print what the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs" / "dialects"


def test_every_command_of_the_tutorial_prints_what_the_page_says(tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(DOCS / "results", folder)
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n\$ (.*?)```", text, re.DOTALL)
    assert len(blocks) == 6
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for block in blocks:
        command, _, expected = block.partition("\n")
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.stdout.splitlines() == expected.splitlines(), command
