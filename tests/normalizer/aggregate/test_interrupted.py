"""Ctrl-C while a query runs is Ctrl-C, not a failure with a traceback."""

import subprocess
import sys

import pytest

from tests.support.patience import PATIENCE

PROGRAM = """
import os, signal, sys, threading
from pathlib import Path
from normalizer.aggregate.engines.on_duckdb import DuckDB

engine = DuckDB(Path(sys.argv[1]), "200MB")
query = "SELECT sum(a.range % 7) FROM range(100000000) a, range(100000000) b"  # takes for ever
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    engine.table("made", query) if sys.argv[2] == "table" else list(engine.rows(query))
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("kind", ["table", "rows"])
def test_a_query_under_way_is_stopped(kind, tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr, done.returncode) == ("stopped\n", "", 0)
