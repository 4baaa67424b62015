"""The script `zeno-mcp` takes the root as its first word."""

import subprocess
import sys

import pytest

from zeno.cli.start import mcp_arguments


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["DIR"], ["mcp", "DIR"]),
        (["DIR", "--log", "t.jsonl"], ["mcp", "DIR", "--log", "t.jsonl"]),
        (["--root", "DIR"], ["mcp", "--root", "DIR"]),
        (["--version"], ["--version"]),
        (["--doctor", "--format", "json"], ["doctor", "--format", "json"]),
        (["--help"], ["mcp", "--help"]),
        ([], ["mcp"]),
    ],
)
def test_zeno_mcp_is_zeno_mcp_with_a_root(typed, meant):
    assert mcp_arguments(typed) == meant


def test_zeno_mcp_without_a_directory_says_what_to_type():
    program = "import sys; from zeno.cli.start import run_mcp; sys.exit(run_mcp())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("zeno-mcp: name the directory to serve: zeno-mcp DIR ")
