"""Servers over real pipes, and how long one answer takes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Self

# Seconds to wait for an index: a large tree on a busy machine takes minutes.
PATIENCE = 900
ZENO = [sys.executable, "-m", "zeno", "serve", "--root"]


class Server:
    """A process that answers one line with one line."""

    def __init__(self, command: Sequence[str], cwd: str | None = None) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=cwd)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def line(self, line: bytes) -> tuple[float, bytes]:
        """Seconds until the answer was read, and the answer."""
        start = time.perf_counter()
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._in, rest) :]
        pieces = [os.read(self._out, 1 << 20)]
        while pieces[-1] and not pieces[-1].endswith(b"\n"):
            pieces.append(os.read(self._out, 1 << 20))
        return time.perf_counter() - start, b"".join(pieces)

    def ask(self, op: str, **args: Any) -> tuple[float, Any]:
        """Send one request and return its time and result; fails if the answer is an error."""
        seconds, answer = self.line(request(op, **args))
        value = json.loads(answer)
        if not value["ok"]:
            raise AssertionError(value)
        return seconds, value["result"]

    @property
    def peak_bytes(self) -> int:
        """The most memory that the process ever had."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

    @property
    def processor_seconds(self) -> float:
        """Processor time of its first thread so far."""
        with open(f"/proc/{self.process.pid}/schedstat") as status:
            return int(status.read().split()[0]) / 1e9

    def warm(self) -> float:
        """Wait until it answers from an index; seconds waited."""
        start = time.perf_counter()
        while time.perf_counter() - start < PATIENCE:
            asked = time.perf_counter()
            if self.is_warm():
                break
            # A server prepares while it is idle.
            time.sleep(0.05 + 5 * (time.perf_counter() - asked))
        return time.perf_counter() - start

    def is_warm(self) -> bool:
        """Whether it answers from an index."""
        # The pattern is in no file, so with a complete index no file is scanned.
        _, result = self.ask("grep", pattern=f"{time.perf_counter_ns()}zqxj", max_files=10_000_000)
        children = subprocess.run(["ps", "--ppid", str(self.process.pid), "-o", "pid="], capture_output=True)
        return result["metrics"]["files_scanned"] == 0 and not children.stdout.strip()


def request(op: str, **args: Any) -> bytes:
    """One request line."""
    return json.dumps({"id": "1", "op": op, "args": args}).encode() + b"\n"


def timed(command: Sequence[str], cwd: str) -> tuple[float, bytes]:
    """Seconds until a command has ended with its output read, and the output."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return time.perf_counter() - start, done.stdout
