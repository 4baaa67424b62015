"""The Model Context Protocol door: every operation is a tool, and the same answer stands behind it.

The SDK carries messages and judges nothing of ours: arguments are judged where all requests are, results here against
the schema that the tool promised. Importing the SDK takes longer than the rest of a start; only this module does it.
"""

import asyncio
import json
import logging
import signal
from importlib.metadata import version
from typing import Any

import contract_spec as spec
import mcp_types as types
from contract_spec.bundle import inlined
from mcp.server.lowlevel import Server as McpServer
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from zeno.dispatch import OPS
from zeno.errors import InternalError
from zeno.plain import plain
from zeno.server import Server
from zeno.turns import Turns

log = logging.getLogger("zeno")

INSTRUCTIONS = """\
Read-only, deterministic retrieval under one directory. Find places with list_files and grep, look at a file with peek \
or extract_symbols, read small ranges with read_file, and cite path and lines. Paths are relative to the root. When \
truncated is true there is more: narrow the request or continue it. An error is a JSON object with message and code; \
the message says what would be right."""


def serve(server: Server) -> None:
    """Answer MCP messages on standard input until it ends."""
    # The SDK waits for input in a thread that cannot be interrupted; the usual end by a signal is the only prompt one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_run(door(server)))


async def _run(mcp_server: "McpServer[Any]") -> None:
    async with stdio_server() as (source, sink):
        await mcp_server.run(source, sink, mcp_server.create_initialization_options())


def door(server: Server) -> "McpServer[Any]":
    """An MCP server whose tools are the operations."""
    turns = Turns(server)
    tools = [_tool(op) for op in sorted(OPS)]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        request = {"id": str(context.request_id), "op": params.name, "args": params.arguments or {}}
        return _told(params.name, json.loads(await turns.answer(json.dumps(request).encode())))

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
        log.error("bug: the result of %s breaks its schema: %s", op, found)
        return _refusal({"message": str(InternalError()), "code": InternalError.code})
    return types.CallToolResult(content=[_text(plain(result))], structured_content=result)


def _refusal(error: dict[str, str]) -> types.CallToolResult:
    # No structured content: clients hold it against the schema of the result, which an error is not.
    return types.CallToolResult(content=[_text(json.dumps(error))], is_error=True)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
