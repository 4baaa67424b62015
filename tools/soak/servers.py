"""Servers behind two doors, asked one request at a time, and what they cost."""

import http.client
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

_ENDS_WITHIN = 60.0


class Cost(NamedTuple):
    """What a process holds."""

    resident_kib: int
    descriptors: int
    threads: int


class _Process:
    def __init__(self, door: str, root: Path, *flags: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zeno", door, "--root", str(root), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def cost(self) -> Cost:
        """What the process holds now, helper processes aside."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        memory, threads = (
            int(re.findall(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[0]) for name in ("VmRSS", "Threads")
        )
        return Cost(memory, len(os.listdir(f"/proc/{self.process.pid}/fd")), threads)

    def helpers(self) -> list[int]:
        """The processes that it has started and that run."""
        found: list[int] = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            # A thread may have ended meanwhile.
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
        return found

    def close(self) -> None:
        """End it, and fail unless it ends well."""
        self.process.terminate()
        _, complaints = self.process.communicate(timeout=_ENDS_WITHIN)
        assert self.process.returncode == 0, complaints
        assert b"bug" not in complaints, complaints


class Stdio(_Process):
    """`zeno serve`."""

    def __init__(self, root: Path, *flags: str) -> None:
        super().__init__("serve", root, *flags)

    def ask(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        """The answer without measurements."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"id": "1", "op": op, "args": args}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return _comparable(answer["result"]) if answer["ok"] else {"code": answer["error"]["code"]}


class Http(_Process):
    """`zeno http`, on a connection that stays open."""

    def __init__(self, root: Path, *flags: str) -> None:
        super().__init__("http", root, "--port", "0", *flags)
        assert self.process.stderr is not None
        told = self.process.stderr.readline().decode()
        self.port = int(told.rstrip().rpartition(":")[2])
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ENDS_WITHIN)

    def ask(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        """The answer without measurements."""
        headers = {"Content-Type": "application/json"}
        self._connection.request("POST", f"/v1/ops/{op}", json.dumps(args).encode(), headers)
        response = self._connection.getresponse()
        value = json.loads(response.read())
        return _comparable(value) if response.status == 200 else {"code": value["code"]}

    def close(self) -> None:
        """Let go of the connection first: the server waits for clients."""
        self._connection.close()
        super().close()


def _comparable(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "metrics"}
