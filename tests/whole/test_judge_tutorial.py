"""The tutorial is true: every command of docs/judging.md, run in order in a copy of its folder, prints what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
# Hashes and sizes follow from the rules' wording and the protocol version, which change with the spec.
VARYING = [
    (r"\b[0-9a-f]{64}\b", "HASH"),
    (r"\b[0-9]{3,} bytes", "N bytes"),
    (r"from [0-9]+ to [0-9]+ a", "from N to N a"),
]
VARYING += [(r"about [0-9]+ for", "about N for")]


def sessions() -> list[tuple[str, str]]:
    """Commands and what they print, from the page's console blocks."""
    text = (DOCS / "judging.md").read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"```console\n\$ (.*?)```", text, re.DOTALL):
        command, _, output = block.partition("\n")
        found.append((command, output))
    return found


def steady(text: str) -> list[str]:
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return sorted(text.splitlines())  # standard output and error may come in either order


def test_every_command_of_the_tutorial_prints_what_the_page_says(tmp_path):
    folder = tmp_path / "judging"
    shutil.copytree(DOCS / "judging", folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = sessions()
    assert len(commands) == 11
    for command, expected in commands:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert steady(done.stdout) == steady(expected), command
        assert done.returncode == (1 if "echo sorry" in command else 0), command
