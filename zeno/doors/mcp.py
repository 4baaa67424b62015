"""The Model Context Protocol door: every operation is a tool, and the same answer stands behind it.

The SDK carries messages and judges nothing of ours: arguments are judged where all requests are, results here against
the schema that the tool promised. Importing the SDK takes longer than the rest of a start; only this module does it.
"""

import asyncio
import io
import json
import logging
import os
import signal
import stat
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any

import contract_spec as spec
import mcp_types as types
from contract_spec.bundle import inlined
from mcp.server.lowlevel import Server as McpServer
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from zeno.doors.plain_text import plain
from zeno.errors import InternalError
from zeno.session.dispatch import OPS
from zeno.session.server import Server

log = logging.getLogger("zeno")

_MAX_MESSAGE = 1 << 26
_LAST_TURNS = 100
INSTRUCTIONS = """\
Read-only, deterministic retrieval under one directory. Find places with list_files and grep, look at a file with peek \
or extract_symbols, read small ranges with read_file, and cite path and lines. Paths are relative to the root. When \
truncated is true there is more: repeat the request with its cursor, or narrow it. With receipts true you get a sha256 \
to cite; verify tells later whether cited lines still say that. An error is a JSON object with message and code; the \
message says what would be right."""


def serve(server: Server) -> None:
    """Answer MCP messages on standard input until it ends, or a signal asks to stop."""
    asyncio.run(_run(server))


async def _run(server: Server) -> None:
    asked = asyncio.Event()
    mcp_server = door(server, asked)
    async with AsyncExitStack() as stack:
        warming = asyncio.create_task(_keep_warm(server, asked))
        stack.callback(warming.cancel)
        kind = os.fstat(0).st_mode
        if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
            pipes: Any = _Pipes()
            await pipes.open()
            source, sink = await stack.enter_async_context(stdio_server(pipes, pipes))
        else:
            # Files and the null device cannot be waited for; nobody waits for answers to what they hold either.
            source, sink = await stack.enter_async_context(stdio_server())
        await mcp_server.run(source, sink, mcp_server.create_initialization_options())


async def _keep_warm(server: Server, asked: asyncio.Event) -> None:
    """Use the moments between requests, a few milliseconds at a time."""
    while True:
        while server.idle():
            await asyncio.sleep(0)
        asked.clear()
        await asked.wait()


class _Pipes:
    """Standard input and output as the SDK wants them, without threads.

    Its own make three trips through threads for a message, which is half of all the work, and wait for input where no
    signal reaches them.
    """

    async def open(self) -> None:
        """Begin to read. Standard output belongs to the protocol: what else is printed goes to stderr."""
        loop = asyncio.get_running_loop()
        self._sink = os.dup(1)
        os.dup2(2, 1)
        self._lines: asyncio.StreamReader = asyncio.StreamReader(limit=_MAX_MESSAGE)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._lines), io.FileIO(0, closefd=False))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._lines.feed_eof)

    def __aiter__(self) -> "_Pipes":
        return self

    async def __anext__(self) -> bytes:
        line = await self._lines.readline()
        if not line:
            # The SDK drops what is under way when the input ends: let it be written first. No step of it waits for
            # anything, so turns of the loop are all it takes.
            for _ in range(_LAST_TURNS):
                await asyncio.sleep(0)
            raise StopAsyncIteration
        return line

    async def write(self, text: str) -> None:
        view = memoryview(text.encode())
        while view:
            view = view[os.write(self._sink, view) :]

    async def flush(self) -> None:
        """Nothing is held back."""


def door(server: Server, asked: asyncio.Event) -> "McpServer[Any]":
    """An MCP server whose tools are the operations; `asked` is set after each call."""
    tools = [_tool(op) for op in sorted(OPS)]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        # Clients count from the start again in every session; a log may hold several.
        request_id = f"mcp-{os.getpid()}-{context.request_id}"
        request = {"id": request_id, "op": params.name, "args": params.arguments or {}}
        answer = server.answer(json.dumps(request).encode())
        asked.set()
        return _told(params.name, json.loads(answer))

    return McpServer(
        "zeno",
        version=version("zeno-normalizer"),
        title="Zeno",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool(op: str) -> types.Tool:
    schema = spec.schema(f"zeno/ops/{op}.json")
    return types.Tool(
        name=op,
        description=schema["description"],
        input_schema=inlined(f"zeno/ops/{op}.json#/$defs/args"),
        output_schema=inlined(f"zeno/ops/{op}.json#/$defs/result"),
        annotations=types.ToolAnnotations(
            title=op.replace("_", " ").capitalize(),
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _told(op: str, answer: dict[str, Any]) -> types.CallToolResult:
    """A response as a tool's result. MCP wants an unknown tool to be an error of the conversation, not of the tool."""
    if not answer["ok"]:
        error = answer["error"]
        if error["code"] == "unknown_op":
            raise MCPError(types.INVALID_PARAMS, error["message"])
        return _refusal(error)
    result = answer["result"]
    found = spec.violations(f"zeno/ops/{op}.json#/$defs/result", result)
    if found:
        log.error("zeno: bug: the result of %s breaks its schema: %s", op, found)
        return _refusal({"message": str(InternalError()), "code": InternalError.code})
    return types.CallToolResult(content=[_text(plain(result))], structured_content=result)


def _refusal(error: dict[str, str]) -> types.CallToolResult:
    # No structured content: clients hold it against the schema of the result, which an error is not.
    return types.CallToolResult(content=[_text(json.dumps(error))], is_error=True)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
