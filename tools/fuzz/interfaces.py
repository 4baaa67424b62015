"""Targets that send raw bytes over HTTP and lines over MCP, with the whole server behind them."""

import asyncio
import json
import logging
import os
import re
import socket
from collections.abc import Callable
from functools import cache
from typing import Any

import contract_spec as spec
import uvicorn
from mcp.server.stdio import stdio_server
from uvicorn.server import ServerState

from tools.fuzz.protocol import serve
from tools.fuzz.target import Target
from zeno.interfaces.http.app import app
from zeno.interfaces.http.connections import make_protocol
from zeno.interfaces.mcp.standard_io import _Pipes
from zeno.interfaces.mcp.tools import Calls, mcp_server
from zeno.interfaces.workers import MAX_FORKED, Workers
from zeno.options import Options
from zeno.session.server import Server

_MAX_REQUEST = 2000
_QUIET_TURNS = 50
_PATIENCE = 60.0
_HEAD = re.compile(rb"HTTP/1\.1 (\d\d\d) [^\r\n]*\r\n((?:[^\r\n:]+:[^\r\n]*\r\n)*)\r\n")


class _Complaints(logging.Handler):
    """Keeps errors that were logged: a bug in an interface is logged, whatever answer its client gets."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []
        for name in ("zeno", "uvicorn.error", "asyncio", "mcp"):
            logging.getLogger(name).addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))

    def check(self) -> None:
        """Raise AssertionError if something was logged."""
        found, self.found = self.found, []
        assert not found, found[0]


@cache
def _complaints() -> _Complaints:
    return _Complaints()


@cache
def _server() -> Server:
    return serve(Options(max_request_bytes=_MAX_REQUEST, max_response_bytes=1 << 20))


def http(data: bytes) -> None:
    """Any bytes get well-formed answers or none, never status 500, and nothing is logged as a bug."""
    _complaints()
    for status, headers, body in _responses(asyncio.run(_knock(data))):
        assert status in (200, 201, 307, 400, 401, 403, 404, 405, 406, 411, 413, 415, 421, 422, 429, 501, 503), status
        if b"application/problem+json" in headers and not body:
            # The answer to HEAD has the headers of a problem alone.
            assert b"HEAD" in data
        elif b"application/problem+json" in headers:
            problem = json.loads(body)
            assert not spec.violations("zeno/problem.json", problem), problem
            assert problem.get("code") != "internal"
        elif status == 200 and b"application/json\r" in headers:
            json.loads(body)
        elif status == 200 and b"application/jsonl" in headers:
            for line in body.splitlines():
                answer = json.loads(line)
                assert not spec.violations("zeno/response.json", answer)
                assert answer["ok"] or answer["error"]["code"] != "internal"
    _complaints().check()


async def _knock(data: bytes) -> bytes:
    """Send bytes over a connection, leave when nothing moves any more, and return what came back."""
    with Workers(_server()) as workers:
        protocol = make_protocol(_PATIENCE)
        config = uvicorn.Config(app(workers, None), log_config=None, http=protocol, lifespan="off", ws="none")
        config.load()
        near, far = socket.socketpair()
        near.setblocking(False)
        state = ServerState()
        loop = asyncio.get_running_loop()
        kind: Any = config.http_protocol_class
        _, protocol = await loop.connect_accepted_socket(
            lambda: kind(config=config, server_state=state, app_state={}), far
        )

        def is_busy() -> bool:
            """Whether an answer is being computed; a request whose body is not complete may wait for ever."""
            computing = workers._queued > 0 or workers._slots._free < MAX_FORKED
            return computing or bool(state.tasks and not protocol.cycle.more_body)

        got = await _exchanged(near, data, is_busy)
        near.close()
        async with asyncio.timeout(_PATIENCE):
            while state.tasks or state.connections:
                await asyncio.sleep(0)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
    return got


async def _exchanged(near: socket.socket, data: bytes, is_busy: Callable[[], bool]) -> bytes:
    near.sendall(data)
    got, quiet = b"", 0
    async with asyncio.timeout(_PATIENCE):
        while quiet < _QUIET_TURNS:
            quiet = 0 if is_busy() else quiet + 1
            try:
                piece = near.recv(1 << 20)
            except BlockingIOError:
                await asyncio.sleep(0)
                continue
            except ConnectionResetError:
                break
            if not piece:
                break
            got, quiet = got + piece, 0
    return got


def _responses(data: bytes) -> list[tuple[int, bytes, bytes]]:
    """Split what came over a connection into status, headers and body; the last body may be cut."""
    found = []
    while data:
        head = _HEAD.match(data)
        assert head is not None, data[:200]
        status, headers = int(head[1]), head[2].lower()
        data = data[head.end() :]
        length = re.search(rb"(?m)^content-length: *(\d+)\r", headers)
        if status == 100 or status == 204:
            body = b""
        elif length is not None:
            body, data = data[: int(length[1])], data[int(length[1]) :]
            # The answer to HEAD tells the length of a body that is not sent.
            if body.startswith(b"HTTP/1.1 "):
                body, data = b"", body + data
        elif b"transfer-encoding: chunked" in headers:
            body, data = _dechunked(data)
        else:
            body, data = data, b""
        if body or status != 200:
            found.append((status, headers, body))
    return [(status, headers, body) for status, headers, body in found if status != 100]


def _dechunked(data: bytes) -> tuple[bytes, bytes]:
    body = b""
    while data:
        size, _, rest = data.partition(b"\r\n")
        length = int(size, 16)
        body += rest[:length]
        data = rest[length + 2 :]
        if not length:
            break
    # A stream may be left in the middle of a line.
    return body[: body.rfind(b"\n") + 1], data


def mcp(data: bytes) -> None:
    """Lines to the MCP interface get JSON-RPC answers, one for each id at most, and nothing is logged as a bug."""
    _complaints()
    lines = [json.loads(line) for line in asyncio.run(_converse(_HELLO + data)).splitlines()]
    answers = [line for line in lines if "method" not in line]
    for line in lines:
        assert line["jsonrpc"] == "2.0"
        assert "result" in line or "error" in line or "method" in line
    assert [line["id"] for line in answers].count("hello") <= 1 + data.count(b'"hello"')
    for line in answers:
        result = line.get("result", {})
        if "structuredContent" in result and not result.get("isError"):
            assert {"metrics", "answers"} & result["structuredContent"].keys()
        if result.get("isError"):
            assert json.loads(result["content"][0]["text"])["code"] != "internal"
    _complaints().check()


async def _converse(data: bytes) -> bytes:
    """Give the interface these bytes as its whole input; return its output."""
    near, far = os.pipe()
    for end in (near, far):
        os.set_blocking(end, False)
    # Nothing is awaited after the workers have ended: as in the interface, their last task is cancelled then.
    with Workers(_server()) as workers:
        reading = asyncio.create_task(_all_of(near))
        calls = Calls()
        pipes: Any = _Pipes(calls, _MAX_REQUEST + 1000)
        pipes._sink, pipes._input = far, asyncio.StreamReader()
        pipes._input.feed_data(data)
        pipes._input.feed_eof()
        tools = mcp_server(workers, calls)
        try:
            async with asyncio.timeout(_PATIENCE), stdio_server(pipes, pipes) as (source, sink):
                await tools.run(source, sink, tools.create_initialization_options())
        finally:
            os.close(far)
        try:
            return await reading
        finally:
            os.close(near)


async def _all_of(descriptor: int) -> bytes:
    got = b""
    while True:
        try:
            piece = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            await asyncio.sleep(0)
            continue
        if not piece:
            return got
        got += piece


_HELLO = (
    b'{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18",'
    b'"capabilities":{},"clientInfo":{"name":"f","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)
_CALL = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n'
_TO = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n"
_POST = _TO % (b"/v1/ops/grep", b"application/json") + b"Content-Length: 15\r\n\r\n"
_LINES = _TO % (b"/v1/jsonl", b"application/jsonl") + b"Transfer-Encoding: chunked\r\n\r\n"
TARGETS = {
    "http": Target(
        http,
        (
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            _POST + b'{"pattern":"a"}',
            _POST + b'{"pattern":"a"}' + b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n",
            _LINES + b'2d\r\n{"id":"1","op":"grep","args":{"pattern":"a"}}\r\n1\r\n\n\r\n0\r\n\r\n',
            b"POST /v1/claims HTTP/1.1\r\nHost: [::1]\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        ),
        (
            *(b"\r\n", b"\r\n\r\n", b"GET ", b"POST ", b"HEAD ", b"OPTIONS * ", b" HTTP/1.1\r\n", b" HTTP/1.0\r\n"),
            *(b"Host: evil\r\n", b"Origin: null\r\n", b"Content-Length: -1\r\n", b"Content-Length: 99999999999\r\n"),
            *(b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n"),
            *(b"Content-Encoding: gzip\r\n", b"Authorization: Bearer x\r\n", b"Upgrade: h2c"),
            *b"/v1/ops/ /v1/jsonl %2e%2e //".split(),
            *(b"0\r\n\r\n", b"ffffffff\r\n", b"\0", b"\n", b"\xff", b'{"pattern":"', b"Host: localhost\r\n"),
        ),
        "a test in tests/zeno/interfaces/test_http_hostile.py",
    ),
    "mcp": Target(
        mcp,
        (
            _CALL % (1, b"grep", b'{"pattern":"a"}'),
            _CALL % (1, b"batch", b'{"calls":[{"tool":"stat","args":{"path":"a.txt"}},{"tool":"grep","args":{}}]}'),
            _CALL % (1, b"list_files", b"{}") + _CALL % (2, b"read_file", b'{"path":"a.txt"}'),
            b'{"jsonrpc":"2.0","id":3,"method":"tools/list"}\n',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n',
        ),
        (
            *rb'"jsonrpc":"2.0" "id": "id":"hello" "method": "params": "tools/call" "ping" "resources/list"'.split(),
            *rb'"arguments":{ "_meta":{"progressToken":1} null 1e400 \ud800 "name":"claim" "logging/setLevel"'.split(),
            *(b"[", b"]", b"{", b"}", b",", b"\n", b"\xff", b"\0", b"-1"),
        ),
        "a test in tests/zeno/interfaces/test_mcp.py",
    ),
}
