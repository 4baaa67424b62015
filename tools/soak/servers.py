"""Servers behind stdio, MCP and HTTP, asked in bursts, and what their processes hold."""

import http.client
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

_PATIENCE = 300.0
# The server may close a connection that was idle for this many seconds.
_REST = 4.0

Question = tuple[str, dict[str, Any]]
"""An operation and its arguments."""
Answer = dict[str, Any]
"""A result without measurements, or `{"code": ...}` of an error."""


class Cost(NamedTuple):
    """The resources that a process holds."""

    resident_kib: int
    descriptors: int
    threads: int


class Process:
    """A running server process, seen from outside."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def cost(self) -> Cost:
        """Return what the process holds now, helper processes aside."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        memory, threads = (
            int(re.findall(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[0]) for name in ("VmRSS", "Threads")
        )
        return Cost(memory, len(os.listdir(f"/proc/{self.pid}/fd")), threads)

    def helpers(self) -> list[int]:
        """Return the ids of the processes that it has started and that run."""
        found: list[int] = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            # A thread may have ended meanwhile.
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
        return found


class Asked(Protocol):
    """A server that a soak can ask and end."""

    def ask(self, questions: list[Question]) -> list[Answer]:
        """Ask some questions at once; return the answers in the order of the questions."""
        ...

    def close(self) -> None:
        """End the server, and fail unless it ends well."""
        ...


class Server(Asked, Protocol):
    """A server that a soak can measure, too."""

    seen: Process


def command(door: str, root: Path, *flags: str) -> list[str]:
    """Return the command line of a server. Those for agents deny no secrets, so that all give the same answers."""
    more = {"http": ["--allow", "secrets"], "mcp": ["--allow", "secrets", "--all-tools"]}.get(door, [])
    return [sys.executable, "-m", "zeno", door, "--root", str(root), *more, *flags]


class Stdio:
    """`zeno serve`. The questions of a burst are sent before the first answer is read."""

    def __init__(
        self, root: Path, *flags: str, line: list[str] | None = None, env: dict[str, str] | None = None
    ) -> None:
        self.process = subprocess.Popen(
            line or command("serve", root, *flags),
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.seen = Process(self.process.pid)

    def ask(self, questions: list[Question]) -> list[Answer]:
        """Return the answers. Raises AssertionError if one is missing or out of order."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(lines_of(questions))
        self.process.stdin.flush()
        return answers_of([self.process.stdout.readline() for _ in questions])

    def close(self) -> None:
        """End it, and fail unless it ends well."""
        end(self.process)


class Mcp(Stdio):
    """`zeno mcp`, whose lines are JSON-RPC. Answers to a burst come as they are ready."""

    def __init__(self, root: Path, *flags: str) -> None:
        super().__init__(root, line=command("mcp", root, *flags))
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        self._exchange([("initialize", client)])

    def ask(self, questions: list[Question]) -> list[Answer]:
        """Return the answers in the order of the questions."""
        results = self._exchange([("tools/call", {"name": op, "arguments": args}) for op, args in questions])
        return [
            {"code": json.loads(result["content"][0]["text"])["code"]}
            if result.get("isError")
            else comparable(result["structuredContent"])
            for result in results
        ]

    def _exchange(self, calls: list[Question]) -> list[dict[str, Any]]:
        """Call methods, and return their results in the order of the calls."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        requests = [{"id": number, "method": name, "params": given} for number, (name, given) in enumerate(calls)]
        if calls[0][0] == "initialize":
            requests.append({"method": "notifications/initialized"})
        self.process.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in requests))
        self.process.stdin.flush()
        found: dict[int, dict[str, Any]] = {}
        while len(found) < len(calls):
            answer = json.loads(self.process.stdout.readline())
            if "method" not in answer:
                found[answer["id"]] = answer["result"]
        return [found[number] for number in range(len(calls))]


class Http:
    """`zeno http` on a connection that stays open. A burst of one goes to `/v1/ops/OP`, a longer one to `/v1/jsonl`."""

    def __init__(self, root: Path, *flags: str) -> None:
        self.process = subprocess.Popen(
            command("http", root, "--port", "0", *flags), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.seen = Process(self.process.pid)
        assert self.process.stderr is not None
        told = self.process.stderr.readline().decode()
        self.port = int(told.rstrip().rpartition(":")[2])
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        self._used = time.monotonic()

    def ask(self, questions: list[Question]) -> list[Answer]:
        """Return the answers. Raises AssertionError if one is missing or out of order."""
        if len(questions) > 1:
            _, body = self._post("/v1/jsonl", "application/jsonl", lines_of(questions))
            return answers_of(body.splitlines())
        op, args = questions[0]
        status, body = self._post(f"/v1/ops/{op}", "application/json", json.dumps(args).encode())
        value = json.loads(body)
        return [comparable(value) if status == http.client.OK else {"code": value["code"]}]

    def _post(self, path: str, kind: str, content: bytes) -> tuple[int, bytes]:
        """Send a request. Where the connection rested and the server closed it, send it again over another."""
        try:
            return self._sent(path, kind, content)
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            if time.monotonic() - self._used < _REST:
                raise
            self._connection.close()
            return self._sent(path, kind, content)

    def _sent(self, path: str, kind: str, content: bytes) -> tuple[int, bytes]:
        self._connection.request("POST", path, content, {"Content-Type": kind})
        response = self._connection.getresponse()
        body = response.read()
        self._used = time.monotonic()
        return response.status, body

    def close(self) -> None:
        """Let go of the connection first: the server waits for clients."""
        self._connection.close()
        end(self.process)


def lines_of(questions: list[Question]) -> bytes:
    """Return request lines; their ids are the numbers from 0 on."""
    requests = ({"id": str(number), "op": op, "args": args} for number, (op, args) in enumerate(questions))
    return b"".join(json.dumps(request).encode() + b"\n" for request in requests)


def answers_of(lines: list[bytes]) -> list[Answer]:
    """Read response lines. Raises AssertionError unless their ids are the numbers from 0 on."""
    answers = [json.loads(line) for line in lines]
    assert [answer["id"] for answer in answers] == [str(number) for number in range(len(lines))], "out of order"
    return [comparable(answer["result"]) if answer["ok"] else {"code": answer["error"]["code"]} for answer in answers]


def comparable(result: dict[str, Any]) -> Answer:
    """Return a result without what differs from run to run."""
    return {name: value for name, value in result.items() if name != "metrics"}


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a server by SIGTERM. Raises AssertionError unless its status is 0 and it reported no bug."""
    process.terminate()
    _, complaints = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 0, (process.returncode, complaints)
    assert b"bug" not in complaints, complaints
