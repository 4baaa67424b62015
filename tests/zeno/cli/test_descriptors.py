"""Deep trees are read whatever the soft limit of open files; where even the hard one is too low, that is told."""

import sys

import pytest

from tests.conftest import Pipe
from tests.support.patience import PATIENCE

DEPTH = 600


@pytest.fixture
def deep(root):
    """Many directories, each in the one before, with a file in the last."""
    folder = root
    for _ in range(DEPTH):
        folder = folder / "d"
        folder.mkdir()
    (folder / "f").write_text("needle\n")
    return "d/" * DEPTH + "f"


def asked(root, limits, op, **args):
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(root), "--no-cache"]
    pipe = Pipe(root, command=["prlimit", f"--nofile={limits}", *command])
    try:
        return pipe.ask(op, **args)["result"]
    finally:
        pipe.process.kill()
        pipe.process.communicate(timeout=PATIENCE)


def test_the_soft_limit_is_raised(root, deep):
    result = asked(root, "256:4096", "grep", pattern="needle")
    assert ([hit["path"] for hit in result["hits"]], result["complete"]) == ([deep], True)


def test_what_cannot_be_reached_is_told(root, deep):
    result = asked(root, "256:256", "list_files")
    assert (result["files"], result["complete"], result["skipped"]["unreadable"]) == ([], False, 1)
