"""Clients over HTTP that mean no good, or have lost their way: nobody else is to notice them."""

import asyncio
import json
import select
import signal
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.interfaces import http, http_process, sample
from tests.support.patience import PATIENCE, until
from zeno.interfaces.http.connections import LEAST_RATE, MAX_NEW, Connections, NextStep, is_stuck, unread
from zeno.interfaces.http.streams import MAX_STREAMS


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("tree"))


def connect(url: str) -> socket.socket:
    return socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=PATIENCE)


def closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


HALVES = [
    b"",
    b"POST /v1/ops/stat HTTP/1.1\r\nHost: lo",
    b"POST /v1/ops/stat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 99\r\n\r\n{"pa',
]


@pytest.mark.parametrize("half", HALVES, ids=["nothing", "half a head", "half a body"])
def test_eleven_hundred_half_requests_are_in_nobodys_way(root: Path, half: bytes) -> None:
    with http(root) as url, ExitStack() as stack:
        waiting = []
        for _ in range(1100):
            connection = stack.enter_context(connect(url))
            connection.sendall(half)
            waiting.append(connection)
            if len(waiting) % 100 == 0:
                answer = httpx.post(f"{url}/v1/ops/stat", json={"path": "."}, timeout=PATIENCE)
                assert answer.status_code == 200
        until(lambda: sum(not closed(one) for one in waiting) <= MAX_NEW, "the oldest of them were closed")


def test_eleven_hundred_silent_streams_are_in_nobodys_way(root: Path) -> None:
    head = (
        b"POST /v1/jsonl HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    with http(root) as url, ExitStack() as stack:
        streams = []
        for number in range(1100):
            streams.append(stack.enter_context(connect(url)))
            streams[-1].sendall(head)
            if number % 100 == 99:
                answer = httpx.post(f"{url}/v1/ops/stat", json={"path": "."}, timeout=PATIENCE)
                assert answer.status_code == 200
        # Each has the head of its answer; those that were ended have the end of it too.
        until(
            lambda: sum(b"0\r\n\r\n" not in one.recv(4096, socket.MSG_PEEK) for one in streams) <= MAX_STREAMS, "ended"
        )


@pytest.mark.parametrize("host", [b"localhost", b"x"], ids=["open", "refused"])
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"], ids=["same address", "another"])
def test_the_request_just_after_a_thousand_silent_streams_is_answered(root: Path, host: bytes, address: str) -> None:
    """All arrive before the server accepts one of them, and the first try has to do."""
    head = (
        b"POST /v1/jsonl HTTP/1.1\r\nHost: %b\r\nContent-Type: application/jsonl\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with http_process(root) as (url, process), ExitStack() as stack:
        where = (urlsplit(url).hostname, urlsplit(url).port)
        process.send_signal(signal.SIGSTOP)
        try:
            for _ in range(1000):
                stack.enter_context(connect(url)).sendall(head % host)
            last = stack.enter_context(socket.create_connection(where, PATIENCE, (address, 0)))
            last.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        finally:
            process.send_signal(signal.SIGCONT)
        assert last.recv(15) == b"HTTP/1.1 200 OK"


def test_a_silent_stream_does_not_keep_a_server_from_its_end(root: Path) -> None:
    """uvicorn waited ten seconds for each end, and then wrote a traceback for each stream."""
    with http_process(root) as (url, process), connect(url) as stream:
        stream.sendall(
            b"POST /v1/jsonl HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        assert stream.recv(15) == b"HTTP/1.1 200 OK"
        process.terminate()
        assert process.stderr is not None
        assert (process.wait(PATIENCE), process.stderr.read()) == (0, "")


def test_one_address_cannot_have_all_connections(root: Path) -> None:
    head = b"POST /v1/ops/grep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with http(root) as url, ExitStack() as stack:
        for _ in range(1100):
            connection = stack.enter_context(connect(url))
            # A whole request on each keeps it from being taken for a new connection.
            body = b'{"pattern": "x"}'
            connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        from_elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(transport=from_elsewhere, timeout=PATIENCE) as client:
            assert client.post(f"{url}/v1/ops/stat", json={"path": "."}).status_code == 200


@pytest.mark.parametrize("half", HALVES, ids=["nothing", "half a head", "half a body"])
def test_a_connection_on_which_nothing_moves_is_closed(root: Path, half: bytes) -> None:
    with http(root, "--client-timeout", "1") as url, connect(url) as connection:
        connection.sendall(half)
        until(lambda: closed(connection), "it was closed")


def test_a_client_that_never_reads_is_let_go_of(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("x" * 99 + "\n" + ("y" * 99 + "\n") * 120_000)
    asked = json.dumps({"path": "large", "end_line": 120_000, "max_lines": 120_000}).encode()
    head = b"POST /v1/ops/read_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with http(tmp_path, "--client-timeout", "1") as url, connect(url) as connection:
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(asked) + asked)
        ended = select.poll()
        # Whether it was reset, without a look at what came.
        ended.register(connection, 0)
        until(lambda: ended.poll(0), "its connection was closed")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what the kernel holds")
def test_what_a_client_reads_is_progress_while_the_kernel_holds_the_rest() -> None:
    async def run() -> None:
        near, far = asyncio.Queue[asyncio.Transport](), socket.socket()

        class Kept(asyncio.Protocol):
            def connection_made(self, transport: Any) -> None:
                near.put_nowait(transport)

        far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        server = await asyncio.get_running_loop().create_server(Kept, "127.0.0.1", 0)
        with far:
            far.connect(server.sockets[0].getsockname())
            transport = await near.get()
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
            transport.write(b"x" * 100_000)
            # The kernel has taken all of it, though the client has not read any.
            assert transport.get_write_buffer_size() == 0
            left: list[int] = []
            read = 0
            while read < 100_000:
                left.append(unread(transport))
                read += len(far.recv(1000))
            assert len(set(left)) > 2
            until(lambda: unread(transport) == 0, "all was read")
            transport.abort()
        server.close()

    asyncio.run(run())


def test_a_client_that_takes_a_few_bytes_at_a_time_is_stuck() -> None:
    """Sixteen megabytes, two kilobytes each half minute, were held for days."""
    left, least = 10_000_000, 30 * LEAST_RATE
    assert is_stuck(NextStep("read", left), NextStep("read", left), 30)
    assert is_stuck(NextStep("read", left), NextStep("read", left - least + 1), 30)
    assert not is_stuck(NextStep("read", left), NextStep("read", left - least), 30)
    # Another answer has been added.
    assert not is_stuck(NextStep("read", left), NextStep("read", left + 1), 30)
    # It has read everything, and is to ask again.
    assert not is_stuck(NextStep("read", 1), NextStep("ask", 1), 30)
    assert not is_stuck(None, NextStep("ask", 1), 30)
    assert not is_stuck(NextStep("send", 1), NextStep("send", 2), 30)


def test_a_stream_may_rest(root: Path) -> None:
    head = b"POST /v1/jsonl HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\n"
    line = b'{"id":"1","op":"stat","args":{"path":"."}}\n'
    with http(root, "--client-timeout", "1") as url, connect(url) as stream, connect(url) as other:
        stream.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        # By the time another one is closed for its silence, this one would be too.
        until(lambda: closed(other), "the other one was closed")
        with connect(url) as third:
            until(lambda: closed(third), "and one more")
        stream.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(line), line))
        answer = b""
        while b'"ok":true' not in answer:
            piece = stream.recv(4096)
            assert piece, answer
            answer += piece


def test_a_refused_head_request_gets_the_headers_of_the_problem_and_no_body(root: Path) -> None:
    with http(root) as url, connect(url) as connection:
        refused = b" / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"
        connection.sendall(b"HEAD" + refused + b"GET" + refused)
        answers = b""
        while not answers.endswith(b"}"):
            answers += connection.recv(4096)
    head, get, body = answers.split(b"\r\n\r\n")
    assert head == get
    assert f"content-length: {len(body)}".encode() in head.lower()
    assert json.loads(body)["status"] == 403


def test_two_lengths_in_one_request_are_refused(root: Path) -> None:
    with http(root) as url, connect(url) as connection:
        connection.sendall(
            b"POST /v1/ops/stat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
        )
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"not both" in answer


_CHUNKED = b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "rest", "status"),
    [
        (b"GET /nowhere" + _CHUNKED, b"\r\n", b"400"),
        (b"POST /v1/claims" + _CHUNKED, b"x\r\n", b"400"),
        (b'POST /v1/jsonl%b3\r\n{"i\r\n' % _CHUNKED, b"x\r\n", b"200"),
    ],
)
def test_a_body_that_is_no_http_leaves_no_traceback(root: Path, sent: bytes, rest: bytes, status: bytes) -> None:
    with http_process(root) as (url, process):
        with connect(url) as connection:
            answer = b""
            if status == b"200":
                connection.sendall(sent)
                # The answer has begun before the rest comes.
                answer += connection.recv(4096)
                connection.sendall(rest)
            else:
                connection.sendall(sent + rest)
            answer += b"".join(iter(lambda: connection.recv(4096), b""))
        process.terminate()
        assert process.stderr is not None
        told = process.stderr.read()
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert "Traceback" not in told


class Line:
    """A transport that knows only whether it was closed."""

    def __init__(self) -> None:
        self.is_closed = False

    def get_extra_info(self, _name: str) -> None:
        return None

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        assert not self.is_closed
        self.is_closed = True

    close = abort


@settings(max_examples=500)
@given(
    st.lists(
        st.tuples(st.sampled_from("aaabcd"), st.sampled_from(["add", "new", "idle", "busy", "end"]), st.integers(0, 9))
    )
)
def test_a_connection_beyond_a_limit_closes_the_one_that_waits_longest(steps: list[tuple[str, Any, int]]) -> None:
    """Compared with a list of all connections in the order in which they began to wait."""
    connections = Connections(new_of_address=3, new_in_all=4, of_address=5, in_all=7)
    model: list[tuple[Line, str, str]] = []

    def waiting(address: str, *kinds: str) -> list[Any]:
        return [one for kind in kinds for one in model if one[1] == address and one[2] == kind]

    def crowd(*kinds: str) -> list[Any]:
        """Those that wait of the address with the most, of several that of the one which waits longest."""
        return max((waiting(one[1], *kinds) for one in model if one[2] in kinds), key=len)

    def close(able: list[Any]) -> None:
        model.remove(able[0])
        expected.add(able[0][0])

    lines: list[Line] = []
    expected: set[Line] = set()
    for address, step, number in steps:
        if step == "add":
            lines.append(Line())
            connections.add(cast(Any, lines[-1]), address)
            model.append((lines[-1], address, "new"))
            if len(waiting(address, "new")) > 3:
                close(waiting(address, "new"))
            if sum(one[1] == address for one in model) > 5:
                close(waiting(address, "idle", "new"))
            if sum(one[2] == "new" for one in model) > 4:
                close(crowd("new"))
            if len(model) > 7:
                close(crowd("idle", "new"))
        elif lines:
            line = lines[number % len(lines)]
            found = next((one for one in model if one[0] is line), None)
            if step == "end":
                connections.discard(cast(Any, line))
            else:
                connections.move(cast(Any, line), step)
            if found is not None and found[2] != step:
                model.remove(found)
                model += [] if step == "end" else [(line, found[1], step)]
        assert {line for line in lines if line.is_closed} == expected


def test_many_addresses_with_one_connection_each_do_not_close_the_next_of_another() -> None:
    connections = Connections(new_in_all=4)
    served, *slow, asking = (Line() for _ in range(6))
    connections.add(cast(Any, served), "served before")
    connections.move(cast(Any, served), "busy")
    for number, line in enumerate(slow):
        connections.add(cast(Any, line), f"slow {number}")
    connections.add(cast(Any, asking), "served before")
    assert [line.is_closed for line in (served, *slow, asking)] == [False, True, False, False, False, False]
