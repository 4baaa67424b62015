"""Fixtures that several tests share: a real tree, and a real server over real pipes."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.browser import browser, page
from tests.support.patience import PATIENCE
from tests.support.portability import skip_what_is_switched_off
from tests.support.tracing import traced
from zeno.files.tree import Tree
from zeno.search.corpus import ColdCorpus
from zeno.session.server import Server
from zeno.trace.recorder import ROOT, SUBCALL, TRACE

__all__ = ["browser", "page", "traced"]  # fixtures that live where their machinery does

# An example that was slow once, or a few that chance made unsuitable, are no failure. tests/spec/test_patience.py holds
# all property tests to it.
CHANCE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile("patient", deadline=None, suppress_health_check=CHANCE)
settings.load_profile("patient")

# What is started in the background of a shell ignores Ctrl-C, and so would all that tests start and interrupt.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

# Nor does it matter who may read what the user makes, and whether a recording goes on around the tests.
os.umask(0o022)
for name in (TRACE, ROOT, SUBCALL):
    os.environ.pop(name, None)

# Servers of tests are on this machine, whatever proxy leads out of it.
for name in ("no_proxy", "NO_PROXY"):
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost"]))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests of what ZENO_WITHOUT switches off."""
    skip_what_is_switched_off(items)


class Pipe:
    """A server in a subprocess, one line in and one line out."""

    def __init__(self, root: Path, *flags: str, command: list[str] | None = None) -> None:
        command = command or [sys.executable, "-m", "zeno", "serve", "--root", str(root), *flags]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def line(self, line: bytes) -> Any:
        """Send raw bytes as one line and read one answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, op: str, /, **args: Any) -> Any:
        """Send one request."""
        return self.line(json.dumps({"id": "1", "op": op, "args": args}).encode())

    def close(self) -> tuple[int, bytes]:
        """End the input; the exit status and what stood on stderr."""
        _, complaints = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, complaints


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty directory to serve, with room beside it for what must stay outside."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def pipe(root):
    """Starts servers on the root; ends those that a test leaves running."""
    started: list[Pipe] = []

    def start(*flags: str, at: Path = root) -> Pipe:
        started.append(Pipe(at, *flags))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def ask(root):
    """Ask a server in process: the whole answer as JSON."""
    with Tree(str(root)) as tree:
        server = Server(ColdCorpus(tree))

        def ask(op: str, /, **args: Any) -> Any:
            return json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))

        yield ask
