"""How long a `stat` waits while other clients search slowly, over HTTP and MCP. The goal is 100 ms at p99."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tools.soak.servers import Http

GOAL = 0.1
STATS = 300
EVERY = 0.02
# Number of clients that send slow searches, each one after the other.
SLOW_CLIENTS = 3
SLOW: list[dict[str, Any]] = [
    {"pattern": "e", "max_hits": 50_000, "max_files": 10_000_000},
    {"pattern": "e", "output": "count", "max_files": 10_000_000},
    {"pattern": r"\w+ \w+ \w+ \w+ \w+$", "regex": True, "max_hits": 20_000, "max_files": 10_000_000},
    # Refused as too large, after it has been looked for.
    {"pattern": "e", "max_hits": 1_000_000, "max_files": 10_000_000},
]

Ask = Callable[[str, dict[str, Any]], Awaitable[None]]


def race(root: Path) -> None:
    """Print the waits of both interfaces, without and with slow searches beside them."""
    print(f"\n{root}: stat beside {SLOW_CLIENTS} clients that search slowly")
    print(f"{'':24} {'alone p50':>10} {'p50 ms':>9} {'p99 ms':>9} {'most ms':>9}  goal", flush=True)
    asyncio.run(_http(root))
    asyncio.run(_mcp(root))


async def _measure(name: str, stat: Ask, searching: Callable[[], AbstractAsyncContextManager[None]]) -> None:
    # A server prepares while no request comes for a moment. Until it is warm, searches read the disk.
    await _waits(stat, 400)
    alone = await _waits(stat, 50)
    async with searching():
        await asyncio.sleep(1)
        waits = await _waits(stat, STATS)
    p99 = quantiles(waits, n=100, method="inclusive")[98]
    met = "met" if p99 <= GOAL else "missed"
    print(
        f"{name:24} {median(alone) * 1e3:10.2f} {median(waits) * 1e3:9.2f} {p99 * 1e3:9.2f} {max(waits) * 1e3:9.2f} "
        f" {GOAL * 1e3:.0f} ms at p99, {met}",
        flush=True,
    )


async def _waits(stat: Ask, times: int) -> list[float]:
    waits = []
    for _ in range(times):
        began = time.perf_counter()
        await stat("stat", {"path": "."})
        waits.append(time.perf_counter() - began)
        await asyncio.sleep(EVERY)
    return waits


async def _http(root: Path) -> None:
    server = Http(root)

    @asynccontextmanager
    async def searching() -> AsyncIterator[None]:
        # In a process of their own: to receive long answers must not delay the one that measures.
        with subprocess.Popen([sys.executable, "-m", "tools.bench.waits", str(server.port)]) as clients:
            yield
            clients.terminate()

    try:
        await _measure("HTTP", await _http_client(server.port), searching)
    finally:
        server.process.terminate()
        server.process.communicate()


async def _search(port: int) -> None:
    """Slow searches until the process is ended."""
    asks = [await _http_client(port) for _ in range(SLOW_CLIENTS)]
    await asyncio.gather(*(_slow(ask, number) for number, ask in enumerate(asks)))


async def _slow(ask: Ask, number: int) -> None:
    while True:
        await ask("grep", SLOW[number % len(SLOW)])
        number += 1


async def _http_client(port: int) -> Ask:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 25)

    async def ask(op: str, args: dict[str, Any]) -> None:
        body = json.dumps(args)
        head = f"POST /v1/ops/{op} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer)
        await reader.readexactly(int(length[1]) if length else 0)

    return ask


async def _mcp(root: Path) -> None:
    """All calls go through one pair of pipes; answers come as they are ready."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "zeno", "mcp", "--root", str(root)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        limit=1 << 26,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    waiting: dict[int, asyncio.Future[None]] = {}
    source, sink = process.stdout, process.stdin
    numbers = count(1)

    async def receive() -> None:
        while line := await source.readline():
            # Long answers are not parsed: that would delay this program, not the server.
            found = re.search(rb'"id":\s*(\d+)', line[:200]) or re.search(rb'"id":\s*(\d+)\}$', line[-200:].rstrip())
            number = int(found[1]) if found else 0
            if number in waiting:
                waiting.pop(number).set_result(None)

    async def exchange(method: str, params: dict[str, Any]) -> None:
        number = next(numbers)
        waiting[number] = asyncio.get_running_loop().create_future()
        sink.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
        await waiting[number]

    receiving = asyncio.create_task(receive())
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    await exchange("initialize", hello)
    sink.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode() + b"\n")

    async def call(tool: str, args: dict[str, Any]) -> None:
        await exchange("tools/call", {"name": tool, "arguments": args})

    @asynccontextmanager
    async def searching() -> AsyncIterator[None]:
        tasks = [asyncio.create_task(_slow(call, number)) for number in range(SLOW_CLIENTS)]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    await _measure("MCP", call, searching)
    receiving.cancel()
    process.terminate()
    await process.wait()


if __name__ == "__main__":
    asyncio.run(_search(int(sys.argv[1])))
