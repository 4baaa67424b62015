"""The routes of the HTTP interface: operations, claims, streamed request lines, schemas and health.

A body has the arguments, a response the result or a problem document. `access` checks requests before they get here;
the server behind all interfaces answers them.
"""

import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import cache
from importlib.resources import files
from itertools import count

import contract_spec as spec
import uvicorn
from contract_models.zeno.health import Health
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from zeno.errors import InternalError, InvalidRequest, ZenoError
from zeno.interfaces.claims import Claims
from zeno.interfaces.fair_slots import Client
from zeno.interfaces.http.access import AccessControl, Listening
from zeno.interfaces.http.connections import MAX_CONNECTIONS, make_protocol
from zeno.interfaces.http.incoming import Incoming, client_of
from zeno.interfaces.http.mcp_endpoint import McpEndpoint
from zeno.interfaces.http.problems import HEADERS, problem
from zeno.interfaces.http.streams import Stream, Streams
from zeno.interfaces.workers import Workers
from zeno.session import wire
from zeno.session.server import Server
from zeno.text.line_splitter import LineSplitter

log = logging.getLogger("zeno")

JSONL = "application/jsonl"
REQUEST_ID = "Zeno-Request-Id"
"""Header of an answer: the id under which the trace has the request."""
CLIENT_TIMEOUT = 30.0


def serve(
    server: Server,
    listening: Listening,
    names: Iterable[str] = (),
    claims: Claims | None = None,
    client_timeout: float = CLIENT_TIMEOUT,
) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are answered first.

    A connection whose client sends half a request, or does not take its answer, is closed after `client_timeout`.
    """
    with Workers(server, claims) as workers:
        _serve(workers, listening, names, client_timeout)


def _serve(workers: Workers, listening: Listening, names: Iterable[str], client_timeout: float) -> None:
    streams = Streams()
    config = uvicorn.Config(
        app(workers, listening.token, names, streams),
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        http=make_protocol(client_timeout),
        ws="none",
        timeout_graceful_shutdown=10,
        lifespan="on",
    )
    interface = _Uvicorn(config, streams)
    # uvicorn handles signals while it serves; handle them before and after, too.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(interface, "should_exit", True))
    print(f"zeno: listening on {listening.url}", file=sys.stderr, flush=True)
    interface.run(sockets=[listening.socket])


class _Uvicorn(uvicorn.Server):
    """uvicorn's server, which ends streams before it waits for requests under way: a stream may be silent for ever."""

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self._streams = streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving; requests under way are answered first."""
        self._streams.close()
        await super().shutdown(sockets)


def app(workers: Workers, token: str | None, names: Iterable[str] = (), streams: Streams | None = None) -> Starlette:
    """Return the application: the routes behind the access checks."""
    interface = _Interface(workers, Streams() if streams is None else streams)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        workers.start_warming()
        yield

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/v1/ops/{op:path}", interface.operation, methods=["POST"]),
            Route("/v1/jsonl", interface.stream, methods=["POST"]),
            Route("/v1/claims", interface.claim, methods=["POST"]),
            Route("/mcp", McpEndpoint(workers), methods=["GET", "POST", "DELETE"]),
            Route("/openapi.json", _openapi, methods=["GET"]),
            Route("/healthz", _health, methods=["GET"]),
        ],
        middleware=[Middleware(AccessControl, token=token, names=frozenset(name.lower() for name in names))],
        exception_handlers={
            HTTPException: _answer_refused,
            ClientDisconnect: _answer_cut,
            Exception: _answer_bug,
        },
    )


class _Interface:
    """Handlers of the routes."""

    def __init__(self, workers: Workers, streams: Streams) -> None:
        self._workers = workers
        self._streams = streams
        self._numbers = count(1)

    async def operation(self, request: Request) -> Response:
        """Run one operation: the body has its arguments, the response its result."""
        _require_type(request, "application/json")
        request_id = f"http-{os.getpid()}-{next(self._numbers)}"
        limit = self._workers.max_request_bytes
        async with Incoming(request) as incoming:
            # A body over the limit is passed on cut, so that it is refused and traced like any other request.
            body = await incoming.body(limit)
            op = request.path_params["op"]
            answer = await incoming.unless_left(self._workers.answer_body(request_id, op, body, client_of(request)))
        if answer.error is None:
            response = Response(answer.result, media_type="application/json", headers=HEADERS)
        else:
            error = wire.error_of(answer.error)
            response = problem(error.message, error.code, status=413 if len(body) > limit else None)
        response.headers[REQUEST_ID] = request_id
        return response

    async def claim(self, request: Request) -> Response:
        """Write a claim into the trace, and respond with the event."""
        if self._workers.claims is None:
            raise HTTPException(404, "no trace is written; start the server with --log")
        _require_type(request, "application/json")
        limit = self._workers.max_request_bytes
        async with Incoming(request) as incoming:
            body = await incoming.body(limit)
        if len(body) > limit:
            return problem(f"the body is longer than {limit} bytes", InvalidRequest.code, status=413)
        try:
            event = await self._workers.claim(wire.parse(body, "the body"))
        except ZenoError as error:
            return problem(str(error), error.code)
        return Response(json.dumps(event), 201, HEADERS, "application/json")

    async def stream(self, request: Request) -> Response:
        """Answer request lines, each as soon as it arrives."""
        _require_type(request, JSONL)
        incoming, client = Incoming(request), client_of(request)
        stack = ExitStack()
        stream = stack.enter_context(self._streams.register(client.address, incoming.end))
        return _Streamed(self._answers(incoming, client, stream), stack)

    async def _answers(self, incoming: Incoming, client: Client, stream: Stream) -> AsyncIterator[bytes]:
        lines = LineSplitter(self._workers.max_request_bytes)
        async with incoming:
            async for line in _lines(incoming, lines):
                with self._streams.answer(stream):
                    answer = await incoming.unless_left(self._workers.answer_line(line, client))
                    yield answer.line


async def _lines(incoming: Incoming, lines: LineSplitter) -> AsyncIterator[bytes]:
    """Yield the request lines of a body as they arrive."""
    async for chunk in incoming:
        for line in lines.feed(chunk):
            if not wire.is_blank(line):
                yield line
    rest = lines.rest()
    if not wire.is_blank(rest):
        yield rest


class _Streamed(Response):
    """A response that is streamed while the body is still read. Starlette's own reads the body to notice a
    disconnect."""

    def __init__(self, answers: AsyncIterator[bytes], stack: ExitStack) -> None:
        # A stream that is ended before its body must not keep its connection.
        super().__init__(headers={**HEADERS, "Connection": "close"}, media_type=JSONL)
        del self.headers["content-length"]
        self._answers = answers
        self._stack = stack

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send each answer when it is ready. Ends when the client has disconnected."""
        with self._stack, suppress(ClientDisconnect):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for answer in self._answers:
                await send({"type": "http.response.body", "body": answer, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _openapi(_request: Request) -> Response:
    return Response(_document(), media_type="application/json", headers=HEADERS)


@cache
def _document() -> bytes:
    return (files("contract_spec") / "openapi.json").read_bytes()


async def _health(_request: Request) -> Response:
    health = Health(status="ok", protocol=spec.PROTOCOL_VERSION)
    return Response(wire.dump(health), media_type="application/json", headers=HEADERS)


def _require_type(request: Request, wanted: str) -> None:
    """Check the Content-Type. A page of another origin cannot send JSON without a preflight request, which is
    refused."""
    found, _, rest = request.headers.get("content-type", "").partition(";")
    charset = rest.strip().lower()
    if found.strip().lower() != wanted or charset not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise HTTPException(415, f"the Content-Type must be {wanted}")
    if "content-encoding" in request.headers:
        raise HTTPException(415, "the body must not be encoded; leave Content-Encoding out")


async def _answer_refused(_request: Request, error: Exception) -> Response:
    """Answer a request that routing refused: unknown path, wrong method or wrong media type."""
    assert isinstance(error, HTTPException)  # noqa: S101 - for the type checker; it is registered for these only
    response = problem(error.detail, status=error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _answer_cut(_request: Request, _error: Exception) -> Response:
    """Respond to a body that broke off. Its client has disconnected and does not read it."""
    return problem("the body broke off", status=400)


async def _answer_bug(_request: Request, error: Exception) -> Response:
    log.error("zeno: bug in the HTTP interface", exc_info=error)
    return problem(str(InternalError()), InternalError.code)
