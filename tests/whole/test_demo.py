"""The demo: two screens at 80 columns, colour only at a terminal, and two pages left behind."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEMO = [sys.executable, str(ROOT / "tools" / "demo.py"), "--out", "demo"]
COLOUR = re.compile(r"\x1b\[\d+m")
SCREEN = 24


def test_the_demo_fits_two_screens_and_leaves_the_pages_it_names(tmp_path):
    done = subprocess.run(DEMO, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 2 * SCREEN
    assert max(len(line.expandtabs()) for line in lines) <= 80
    assert not COLOUR.search(done.stdout)
    named = re.findall(r"^  open (\S+\.html) ", done.stdout.partition("What next")[2], re.MULTILINE)
    assert len(named) == 2
    for page in named:
        assert (tmp_path / page).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_at_a_terminal_the_demo_has_colours(tmp_path):
    leader, follower = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(DEMO, cwd=tmp_path, stdout=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 4096):
                shown += piece
        except OSError:  # Linux: the other end is closed
            pass
        os.close(leader)
    assert process.returncode == 0
    assert COLOUR.search(shown.decode())
