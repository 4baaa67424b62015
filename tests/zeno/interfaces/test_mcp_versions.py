"""Progress and cancellation in every version of MCP that the SDK speaks, over standard input and over HTTP."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tests.support.interfaces import http_process, sample, zeno
from tests.support.patience import PATIENCE, until
from tests.support.slow import SLOW, children, slow_file

CALL = {"name": "grep", "arguments": SLOW, "_meta": {"progressToken": "p"}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = sample(tmp_path_factory.mktemp("tree"))
    slow_file(tree)
    return tree


def message(method: str, number: int | None = None, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **({} if number is None else {"id": number}), "method": method, "params": params}


def hello(version: str) -> dict[str, Any]:
    return message(
        "initialize", 0, protocolVersion=version, capabilities={}, clientInfo={"name": "test", "version": "1"}
    )


@contextmanager
def killed(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the process with the block: a test that fails must not wait for a search that takes minutes."""
    try:
        yield
    finally:
        process.kill()


CANCEL = message("notifications/cancelled", requestId=1)


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_progress_is_told_and_a_cancelled_call_ends_over_standard_input(
    root: Path, tmp_path: Path, version: str
) -> None:
    log = tmp_path / "log"
    command = zeno("mcp", "--root", root, "--log", log)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process, killed(process):
        assert process.stdin is not None
        assert process.stdout is not None

        def say(*messages: dict[str, Any]) -> None:
            assert process.stdin is not None
            process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
            process.stdin.flush()

        say(hello(version), message("notifications/initialized"), message("tools/call", 1, **CALL))
        welcome = json.loads(process.stdout.readline())["result"]
        assert welcome["protocolVersion"] == version
        # The tools stay as they are: nobody needs to look for news of them.
        assert welcome["capabilities"]["tools"] == {"listChanged": False}
        told = json.loads(process.stdout.readline())
        assert (told["method"], told["params"]["progressToken"]) == ("notifications/progress", "p")
        assert children(process.pid)
        say(CANCEL)
        until(lambda: not children(process.pid), "the call has ended")
        until(lambda: b'"cancelled"' in log.read_bytes(), "the trace tells of it")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_progress_is_told_and_a_cancelled_call_ends_over_http(root: Path, version: str) -> None:
    with http_process(root) as (url, process), httpx.Client(base_url=url, headers=ACCEPT, timeout=PATIENCE) as client:
        welcome = client.post("/mcp", json=hello(version))
        client.headers["Mcp-Session-Id"] = welcome.headers["Mcp-Session-Id"]
        client.headers["Mcp-Protocol-Version"] = version
        assert next(events(welcome.iter_lines()))["result"]["protocolVersion"] == version
        assert client.post("/mcp", json=message("notifications/initialized")).status_code == 202
        with client.stream("POST", "/mcp", json=message("tools/call", 1, **CALL)) as answer:
            told = next(events(answer.iter_lines()))
            assert (told["method"], told["params"]["progressToken"]) == ("notifications/progress", "p")
            assert children(process.pid)
            assert client.post("/mcp", json=CANCEL).status_code == 202
            until(lambda: not children(process.pid), "the call has ended")


def events(lines: Iterator[str]) -> Iterator[Any]:
    """The messages in a stream of server-sent events."""
    for line in lines:
        if line.startswith("data:") and line[5:].strip():
            yield json.loads(line[5:])


@contextmanager
def served(root: Path, door: str) -> Iterator[tuple[Any, list[int]]]:
    """How a client reaches a server, and the numbers of its process, known once it runs."""
    if door == "http":
        with http_process(root) as (url, process):
            yield f"{url}/mcp", [process.pid]
    else:
        command, *arguments = zeno("mcp", "--root", root)
        yield stdio_client(StdioServerParameters(command=command, args=arguments)), []


@pytest.mark.parametrize("mode", ["legacy", *MODERN_PROTOCOL_VERSIONS])
@pytest.mark.parametrize("door", ["http", "stdio"])
def test_the_client_of_the_sdk_hears_of_progress_and_can_cancel(root: Path, door: str, mode: Any) -> None:
    heard = asyncio.Event()

    async def told(progress: float, total: float | None, message: str | None) -> None:
        assert (progress > 0, total, message) == (True, None, "still searching")
        heard.set()

    async def run(server: Any, pids: list[int]) -> Any:
        async with Client(server, mode=mode) as client:
            call = asyncio.create_task(client.call_tool("grep", SLOW, progress_callback=told))
            await asyncio.wait_for(heard.wait(), PATIENCE)
            pid = (pids or [await asyncio.to_thread(server_of)])[0]
            assert children(pid)
            call.cancel()
            await asyncio.to_thread(until, lambda: not children(pid), "the call has ended")
            return (await client.call_tool("stat", {"path": "empty"})).structured_content

    with served(root, door) as (server, pids):
        assert asyncio.run(run(server, pids))["items"][0]["exists"]


def server_of() -> int:
    """The process number of the server that this process has started."""
    (pid,) = [pid for pid in children(os.getpid()) if b"mcp" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return pid
