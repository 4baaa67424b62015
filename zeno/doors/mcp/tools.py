"""The operations as tools of the Model Context Protocol.

Names, descriptions and defaults for models are data (`spec/rules/mcp.json`). A call goes to the same server as every
other request; its result comes back as structured content, which is the result of the protocol, and as text for models.
"""

import asyncio
import json
import os
from collections.abc import Awaitable
from functools import cache
from importlib.metadata import version
from itertools import count
from typing import Any

import contract_spec as spec
import mcp_types as types
from contract_spec.bundle import inlined
from mcp.server.lowlevel import Server as McpServer
from mcp.shared.exceptions import MCPError

from zeno.doors.mcp.text import text_of
from zeno.doors.workers import Workers
from zeno.errors import ZenoError
from zeno.session import wire
from zeno.session.dispatch import OPS

REQUEST_ID = "zeno/request_id"
"""Key of the request id in the `_meta` of a result: the id under which the trace has the request."""

# Seconds after which a client that asked for progress hears that its request still runs, again and again.
_PROGRESS = 1.0
# Words of a schema that models do without: the server checks them, and says what would be right.
_LEFT_OUT = frozenset(
    {"additionalProperties", "title", "minimum", "maximum", "minLength", "minItems", "minProperties", "pattern"}
)


class Calls:
    """Counts tool calls under way, so that a transport can wait for their answers."""

    def __init__(self) -> None:
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def __enter__(self) -> None:
        self._under_way += 1
        self._idle.clear()

    def __exit__(self, *_: object) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._idle.set()

    async def done(self) -> None:
        """Wait until no call is under way."""
        await self._idle.wait()


def mcp_server(workers: Workers, calls: Calls) -> "McpServer[Any]":
    """Return an MCP server whose tools are the operations, and `claim` where a trace is written."""
    numbers = count(1)
    tools = [_tool(op) for op in sorted(OPS)]
    if workers.claims is not None:
        tools.append(_claim_tool())

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        with calls:
            if params.name == "claim" and workers.claims is not None:
                return await _claim(workers, params.arguments or {})
            # Not the client's own id: several sessions may count from 1, and a trace may hold them all.
            request_id = f"mcp-{os.getpid()}-{next(numbers)}"
            return await _with_progress(context, _call(workers, request_id, params.name, params.arguments or {}))

    return McpServer(
        "zeno",
        version=version("zeno-normalizer"),
        title="Zeno",
        instructions=_rules()["instructions"],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _call(workers: Workers, request_id: str, op: str, given: dict[str, Any]) -> types.CallToolResult:
    args = {**_rules()["tools"].get(op, {}).get("defaults", {}), **given}
    answer = await workers.answer(request_id, op, args)
    meta: Any = {REQUEST_ID: request_id}
    if answer.error is not None:
        if answer.error.code == "unknown_op":
            # MCP wants an unknown tool to be an error of the conversation, not of the tool.
            raise MCPError(types.INVALID_PARAMS, str(answer.error))
        return _refusal(answer.error, meta)
    result = json.loads(answer.result or b"")
    text = text_of(op, result, request_id if workers.claims is not None else None)
    return types.CallToolResult(content=[_text(text)], structured_content=result, _meta=meta)


async def _claim(workers: Workers, args: dict[str, Any]) -> types.CallToolResult:
    try:
        event = await workers.claim(args)
    except ZenoError as error:
        return _refusal(error, None)
    return types.CallToolResult(content=[_text("[claim written to the trace]")], structured_content=event)


async def _with_progress(context: Any, answering: Awaitable[types.CallToolResult]) -> types.CallToolResult:
    """Await an answer; a client that sent a progress token hears every second that it is being worked on."""
    if "progress_token" not in (context.meta or {}):
        return await answering
    task = asyncio.ensure_future(answering)
    try:
        for seconds in count(1):
            done, _ = await asyncio.wait((task,), timeout=_PROGRESS)
            if done:
                break
            await context.session.report_progress(float(seconds), message="still searching")
        return task.result()
    finally:
        task.cancel()


@cache
def _rules() -> dict[str, Any]:
    rules: dict[str, Any] = spec.resource("rules/mcp.json")
    return rules


def _tool(op: str) -> types.Tool:
    rules = _rules()["tools"][op]
    schema = _short(inlined(f"zeno/ops/{op}.json#/$defs/args"))
    for name, value in rules["defaults"].items():
        # A default that stands for "no limit" would only puzzle.
        if value < 1 << 53:
            schema["properties"][name]["default"] = value
    return _described(op, rules["description"], schema)


def _claim_tool() -> types.Tool:
    return _described("claim", _rules()["claim"], _short(inlined("zeno/claim.json#/$defs/args")), reads=False)


def _described(name: str, description: str, schema: dict[str, Any], *, reads: bool = True) -> types.Tool:
    schema.pop("description", None)
    # No output schemas: they would be most of the list. `describe` has them for whoever wants them.
    annotations = types.ToolAnnotations(read_only_hint=reads, open_world_hint=False)
    if not reads:
        annotations.destructive_hint = False
    return types.Tool(name=name, description=description, input_schema=schema, annotations=annotations)


def _short(node: Any) -> Any:
    """Return a schema with the words that models need: types, defaults and the first sentence of each description."""
    if isinstance(node, list):
        return [_short(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in _LEFT_OUT}
    if kept.get("default") in (False, []):
        del kept["default"]
    if isinstance(kept.get("description"), str):
        kept["description"] = kept["description"].partition(". ")[0].rstrip(".")
    if "properties" in kept:
        kept["properties"] = {name: _short(value) for name, value in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _short(kept["items"])
    return kept


def _refusal(error: ZenoError, meta: Any) -> types.CallToolResult:
    # No structured content: clients take that for a result.
    told = wire.dump(wire.error_of(error)).decode()
    return types.CallToolResult(content=[_text(told)], is_error=True, _meta=meta)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
