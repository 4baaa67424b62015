"""Python clients. Each starts a stdio server as a subprocess; operations are typed methods, errors are exceptions.

    with Zeno("/some/tree") as zeno:
        for hit in zeno.grep("TODO", paths=["src"]).hits:
            print(hit.path, hit.line, hit.text)

In a result, None stands for an absent field, and `request_id` is the id of its request, which claims can cite. With
`AsyncZeno` several requests may be under way at once; they are answered in order. Request ids contain the server's
process id, so that ids in a log of several sessions do not repeat.
"""

import asyncio
import os
import select
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from contract_models.client.methods import AsyncMethods, Methods
from contract_models.zeno.error import Error
from contract_models.zeno.response import Failure
from contract_spec.model import ClientResult
from pydantic_core import to_json

from zeno.session import wire
from zeno.text.line_splitter import LineSplitter

R = TypeVar("R", bound=ClientResult)
TIMEOUT = 60.0
_GRACE = 5.0
_LONGEST_POLL = (1 << 31) - 1


class Refused(Exception):
    """The server answered with an error. `code` is one of the protocol's error codes."""

    def __init__(self, error: Error) -> None:
        super().__init__(f"{error.code}: {error.message}")
        self.code = error.code
        self.message = error.message


class Gone(ConnectionError):
    """The server has ended or could not start. Its standard error may say why."""


class Zeno(Methods):
    """A server in a subprocess. Threads may share it; their requests are sent one at a time."""

    def __init__(
        self,
        root: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
        *,
        timeout: float = TIMEOUT,
        flags: Sequence[str] = (),
    ) -> None:
        """Start a server for `root`: a directory, or several by name. `timeout`: seconds for each call. `flags`:
        further flags of `zeno serve`."""
        self.timeout = timeout
        self._lock = threading.Lock()
        self._numbers = 0
        self._owed = 0
        self._lines = LineSplitter()
        self._answers: deque[bytes] = deque()
        self._process = subprocess.Popen(
            _command(root, flags), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018 - both are pipes
        self._sink, self._source = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._sink, False)
        # poll instead of select, which cannot use descriptors above 1023.
        self._reading, self._sending = select.poll(), select.poll()
        self._reading.register(self._source, select.POLLIN)
        self._sending.register(self._source, select.POLLIN)
        self._sending.register(self._sink, select.POLLOUT)

    def __enter__(self) -> "Zeno":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server: close its input, wait a few seconds, then kill it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def call(self, op: str, args: Mapping[str, Any], result: type[R]) -> R:
        """Send one request and return its result. Raises `Refused`, `TimeoutError` or `Gone`."""
        with self._lock:
            self._numbers += 1
            request_id = f"py-{self._process.pid}-{self._numbers}"
            deadline = time.monotonic() + self.timeout
            self._send(_line(request_id, op, args), deadline)
            self._owed += 1
            # Lines are answered in order: answers before ours belong to calls that timed out.
            while True:
                answer = self._receive(deadline)
                self._owed -= 1
                if not self._owed:
                    return _result(answer, request_id, result)

    def pages(self, op: str, args: Mapping[str, Any], result: type[R]) -> Iterator[R]:
        """Yield the result of a request, and of further requests with its cursor until a result has none."""
        while True:
            page = self.call(op, args, result)
            yield page
            cursor = _cursor(page)
            if cursor is None:
                return
            args = {**args, "cursor": cursor}

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        try:
            while view:
                # Also read earlier answers: a server whose output is full does not read.
                ready = self._wait(deadline, self._sending)
                if self._source in ready:
                    self._pull()
                if self._sink in ready:
                    view = view[os.write(self._sink, view) :]
        except TimeoutError:
            if len(view) < len(data):
                # A part of a line was sent: the server could not parse anything after it.
                self._process.kill()
            raise
        except BrokenPipeError:
            raise self._make_gone() from None

    def _receive(self, deadline: float) -> bytes:
        while not self._answers:
            self._wait(deadline, self._reading)
            self._pull()
        return self._answers.popleft()

    def _pull(self) -> None:
        chunk = os.read(self._source, 1 << 16)
        if not chunk:
            raise self._make_gone()
        self._answers.extend(self._lines.feed(chunk))

    def _wait(self, deadline: float, poll: select.poll) -> dict[int, int]:
        if self._process.stdout is None or self._process.stdout.closed:
            raise self._make_gone()
        ready = dict(poll.poll(min(max(0.0, deadline - time.monotonic()) * 1000, _LONGEST_POLL)))
        if not ready:
            raise TimeoutError("the server did not answer in time")
        return ready

    def _make_gone(self) -> Gone:
        # Its pipes close a moment before its status is known.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        return Gone(f"the server has ended with status {self._process.returncode}; its standard error may say why")


class AsyncZeno(AsyncMethods):
    """A server in a subprocess, for an event loop. Calls may overlap; the server answers them in order."""

    def __init__(
        self,
        root: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
        *,
        timeout: float = TIMEOUT,
        flags: Sequence[str] = (),
    ) -> None:
        """Set the root, timeout and flags of a server, which `async with` starts."""
        self.timeout = timeout
        self._command = _command(root, flags)
        self._numbers = 0
        self._waiting: deque[asyncio.Future[bytes]] = deque()
        self._ended = False

    async def __aenter__(self) -> "AsyncZeno":
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018 - both are pipes
        self._sink, self._source = self._process.stdin, self._process.stdout
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sink.close()
        try:
            await asyncio.wait_for(self._process.wait(), _GRACE)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await self._reader

    async def call(self, op: str, args: Mapping[str, Any], result: type[R]) -> R:
        """Send one request and return its result. Raises `Refused`, `TimeoutError` or `Gone`."""
        self._numbers += 1
        request_id = f"py-{self._process.pid}-{self._numbers}"
        if self._ended:
            raise self._make_gone()
        answer = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self.timeout):
                # No await between writing the line and queueing for its answer, so that overlapping calls keep order.
                self._sink.write(_line(request_id, op, args))
                self._waiting.append(answer)
                await self._sink.drain()
                return _result(await answer, request_id, result)
        except (ConnectionError, RuntimeError) as error:
            raise error if isinstance(error, Gone) else self._make_gone() from None

    async def pages(self, op: str, args: Mapping[str, Any], result: type[R]) -> AsyncIterator[R]:
        """Yield the result of a request, and of further requests with its cursor until a result has none."""
        while True:
            page = await self.call(op, args, result)
            yield page
            cursor = _cursor(page)
            if cursor is None:
                return
            args = {**args, "cursor": cursor}

    async def _read(self) -> None:
        lines = LineSplitter()
        while chunk := await self._source.read(1 << 16):
            for line in lines.feed(chunk):
                answer = self._waiting.popleft()
                # A call that timed out no longer waits for its answer.
                if not answer.done():
                    answer.set_result(line)
        # Its pipes close a moment before its status is known.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GRACE)
        self._ended = True
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(self._make_gone())

    def _make_gone(self) -> Gone:
        return Gone(f"the server has ended with status {self._process.returncode}; its standard error may say why")


def _command(root: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]], flags: Sequence[str]) -> list[str]:
    if isinstance(root, Mapping):
        roots = [f"{name}={os.fspath(one)}" for name, one in root.items()]
    else:
        directory = os.fspath(root)
        # With a slash in front of the equals sign it is not taken for NAME=DIR.
        roots = [os.path.join(os.curdir, directory) if "=" in directory else directory]
    # Without -P the current directory, perhaps the tree itself, would come before Python's own modules.
    return [sys.executable, "-P", "-m", "zeno", "serve", *(word for one in roots for word in ("--root", one)), *flags]


def _line(request_id: str, op: str, args: Mapping[str, Any]) -> bytes:
    return to_json({"id": request_id, "op": op, "args": dict(args)}, ensure_ascii=True) + b"\n"


def _result(answer: bytes, request_id: str, result: type[R]) -> R:
    found = wire.result_of(answer, request_id)
    if found is None:
        raise Refused(Failure.model_validate_json(answer).error)
    return result.model_validate_json(found).of_request(request_id)


def _cursor(page: ClientResult) -> str | None:
    """Return the cursor of a result; None if it is complete."""
    cursor: str | None = getattr(page, "cursor", None)
    return cursor
