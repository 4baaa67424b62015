"""Fixtures that several tests share: a real tree, and a real server over real pipes."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import browser, page
from tests.tracing import traced
from zeno.search.corpus import ColdCorpus
from zeno.server import Server
from zeno.tree import Tree

# On a busy machine an example that was slow once is no failure.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

__all__ = ["browser", "page", "traced"]  # fixtures that live where their machinery does


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

    def ask(self, op: str, **args: Any) -> Any:
        """Send one request."""
        return self.line(json.dumps({"id": "1", "op": op, "args": args}).encode())

    def close(self) -> tuple[int, bytes]:
        """End the input; the exit status and what stood on stderr."""
        _, complaints = self.process.communicate(timeout=120)
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

        def ask(op: str, **args: Any) -> Any:
            return json.loads(server.answer(json.dumps({"id": "1", "op": op, "args": args}).encode()))

        yield ask
