"""Load on the interfaces: stdio with pipelined requests, HTTP with many clients, MCP beside the npm filesystem server.

Everything runs on this machine over pipes and loopback, bounded by counts. Compare figures within one run only. A run
fails unless every answer is right and in order, and memory stays flat. Exit status 1 if something did.
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tools.node import install

Call = tuple[str, dict[str, Any]]

FOLDERS, FILES, LINES = 10, 30, 200
# Beyond this growth over the second half of a run, memory is not called flat.
FLAT = 1.10


def plant(root: Path) -> None:
    """A tree of a few hundred files, the same every time."""
    for folder in range(FOLDERS):
        for number in range(FILES):
            path = root / f"part{folder}" / f"file{number:02}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"def work_{folder}_{number}_{line}(): pass\n" for line in range(LINES)))


def request(number: int) -> Call:
    """Return the request with that number: small requests of every kind, as an agent sends them."""
    path = f"part{number % FOLDERS}/file{number % FILES:02}.py"
    kinds: list[Call] = [
        ("read_file", {"path": path, "start_line": 1 + number % 100, "end_line": 40 + number % 100}),
        ("stat", {"path": path}),
        ("peek", {"path": path, "head_lines": 10, "tail_lines": 10}),
        ("extract_symbols", {"path": path, "max_symbols": 50}),
        ("grep", {"pattern": f"work_{number % FOLDERS}_{number % FILES}_7(", "paths": [path]}),
    ]
    return kinds[number % len(kinds)]


def lines(count: int) -> list[bytes]:
    """Requests as lines."""
    asked = [request(number) for number in range(count)]
    return [json.dumps({"id": str(n), "op": op, "args": args}).encode() + b"\n" for n, (op, args) in enumerate(asked)]


def resident(pid: int) -> float:
    """Resident memory of a process in MiB; 0 if the system does not report it."""
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


class Report:
    """Prints as it goes, and remembers whether anything went wrong."""

    def __init__(self) -> None:
        self.failed = False

    def row(self, name: str, seconds: float, times: list[float], note: str = "") -> None:
        """Print one measurement."""
        millis = sorted(1000 * one for one in times)
        p99 = quantiles(millis, n=100)[98]
        rate = len(times) / seconds
        print(f"{name:38} {rate:9.0f} /s   median {median(millis):8.2f} ms   p99 {p99:8.2f} ms   {note}", flush=True)

    def expect(self, holds: bool, what: str) -> None:
        """Print and remember a failure unless a condition is true."""
        if not holds:
            self.failed = True
            print(f"FAILED: {what}", flush=True)

    def memory(self, half: float, end: float) -> str:
        """Check that memory did not grow over the second half of a run."""
        self.expect(end <= half * FLAT, f"memory grew from {half:.1f} to {end:.1f} MiB over the second half")
        return f"memory {half:.1f} -> {end:.1f} MiB"


def stdio(root: Path, count: int, report: Report) -> None:
    """All requests are sent as fast as the pipe takes them; answers must come in the same order."""
    command = [sys.executable, "-m", "zeno", "serve", "--root", str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sent, came, half = [0.0] * count, [0.0] * count, 0.0
        asked = lines(count)

        def send() -> None:
            assert process.stdin is not None
            for number, line in enumerate(asked):
                sent[number] = time.perf_counter()
                process.stdin.write(line)
            process.stdin.close()

        sender = threading.Thread(target=send)
        began = time.perf_counter()
        sender.start()
        good = 0
        for number in range(count):
            line = process.stdout.readline()
            came[number] = time.perf_counter()
            good += line.startswith(b'{"id":"%d","ok":true,' % number)
            if number == count // 2:
                half = resident(process.pid)
        note = report.memory(half, resident(process.pid))
        seconds = time.perf_counter() - began
        sender.join()
    report.expect(good == count, f"stdio: {count - good} of {count} answers were wrong or out of order")
    report.expect(process.returncode == 0, f"stdio: the server ended with {process.returncode}")
    waits = [end - start for start, end in zip(sent, came, strict=True)]
    report.row(f"stdio, {count} pipelined", seconds, waits, note)


async def http(root: Path, clients: int, count: int, report: Report) -> None:
    """Many clients at once, each with one connection and one request under way."""
    command = [sys.executable, "-m", "zeno", "http", "--root", str(root), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://([\d.]+):(\d+)", process.stderr.readline())
            assert found is not None
            address = (found[1], int(found[2]))
            answers: dict[str, Any] = {}
            # One client first: the answers that it gets are those that all clients must get.
            await _http_round(address, 1, count // 8, answers, report, process.pid)
            await _http_round(address, clients, count // clients, answers, report, process.pid)
        finally:
            process.terminate()


async def _http_round(
    address: tuple[str, int], clients: int, share: int, answers: dict[str, Any], report: Report, pid: int
) -> None:
    times: list[float] = []
    wrong = 0
    halves: list[float] = []

    async def client(first: int) -> None:
        nonlocal wrong
        reader, writer = await asyncio.open_connection(*address)
        for number in range(first, first + share):
            op, args = request(number)
            body = json.dumps(args)
            head = f"POST /v1/ops/{op} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            began = time.perf_counter()
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", answer)
            told = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            times.append(time.perf_counter() - began)
            told.pop("metrics", None)
            wrong += not answer.startswith(b"HTTP/1.1 200") or answers.setdefault(op + body, told) != told
            if len(times) == clients * share // 2:
                halves.append(resident(pid))
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(client(number * share) for number in range(clients)))
    seconds = time.perf_counter() - began
    report.expect(not wrong, f"HTTP: {wrong} of {len(times)} answers were wrong")
    note = report.memory(halves[0], resident(pid))
    report.row(f"HTTP, {clients} client{'s' if clients > 1 else ''}", seconds, times, note)


class Tools:
    """A minimal MCP client without checks of its own, so that the time of a call is the server's."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._exchange("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def close(self) -> None:
        """End the server."""
        self._process.communicate(timeout=20)

    def call(self, tool: str, args: dict[str, Any]) -> bool:
        """Whether a call succeeded."""
        answer = self._exchange("tools/call", {"name": tool, "arguments": args})
        return "result" in answer and not answer["result"].get("isError", False)

    def _exchange(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number and "method" not in answer:
                return answer

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def mcp(root: Path, calls: int, report: Report) -> None:
    """The operations both servers have, through MCP; the ratio is theirs to ours."""
    path = "part3/file07.py"
    full = str(root / path)
    pairs: list[tuple[str, Call, Call]] = [
        ("read a file", ("read_file", {"path": path, "end_line": LINES}), ("read_text_file", {"path": full})),
        ("read a head", ("read_file", {"path": path, "end_line": 10}), ("read_text_file", {"path": full, "head": 10})),
        ("size and time", ("stat", {"path": path}), ("get_file_info", {"path": full})),
        (
            "find by name",
            ("list_files", {"glob": "**/file07.py"}),
            ("search_files", {"path": str(root), "pattern": "**/file07.py"}),
        ),
    ]
    servers = [
        Tools([sys.executable, "-m", "zeno", "mcp", "--root", str(root)]),
        Tools([str(install() / "mcp-server-filesystem"), str(root)]),
    ]
    for name, *asked in pairs:
        # In turns, so that whatever else the machine does falls on both.
        times: list[list[float]] = [[], []]
        for _ in range(calls):
            for server, (tool, args), took in zip(servers, asked, times, strict=True):
                began = time.perf_counter()
                good = server.call(tool, args)
                took.append(time.perf_counter() - began)
                report.expect(good, f"{tool} failed")
        for label, took in zip(("zeno", "npm filesystem"), times, strict=True):
            report.row(f"MCP, {name}: {label}", sum(took), took)
        print(f"{'':38} npm filesystem / zeno: {median(times[1]) / median(times[0]):.2f}", flush=True)
    for server in servers:
        server.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Plant a tree, load the interfaces and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="pipelined over stdio (default 10000)")
    parser.add_argument("--clients", type=int, default=64, help="HTTP clients at once (default 64)")
    parser.add_argument("--http-requests", type=int, default=6_400, help="HTTP requests of all clients (default 6400)")
    parser.add_argument("--calls", type=int, default=300, help="MCP calls of each kind (default 300)")
    parser.add_argument("--no-npm", action="store_true", help="leave out the comparison that needs Node")
    options = parser.parse_args(argv)
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        plant(root)
        stdio(root, options.requests, report)
        asyncio.run(http(root, options.clients, options.http_requests, report))
        if not options.no_npm:
            mcp(root, options.calls, report)
    return 1 if report.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
