"""The operations as tools of the Model Context Protocol.

Descriptions and defaults for models are data, in the schema of each operation. A call goes to the same server as every
other request; its result comes back as structured content, which is the result of the protocol, and as text for models.
"""

import asyncio
import json
import os
from collections.abc import Awaitable
from functools import cache
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING, Any

import contract_spec as spec
import mcp_types as types
from contract_spec.bundle import inlined
from mcp.server.lowlevel import Server as McpServer
from mcp.shared.exceptions import MCPError

from zeno.errors import ZenoError
from zeno.interfaces.fair_slots import Client
from zeno.interfaces.result_text import text_of
from zeno.interfaces.workers import NOBODY, Workers
from zeno.session import wire
from zeno.session.dispatch import OPS

if TYPE_CHECKING:
    from zeno.interfaces.mcp.client_roots import ClientRoots

REQUEST_ID = "zeno/request_id"
"""Key of the request id in the `_meta` of a result: the id under which the trace has the request."""

# Seconds between progress notifications to a client that asked for them.
_PROGRESS = 1.0
_NO_LIMIT = (1 << 53) - 1
# The ways to say what a claim rests on.
_CITATIONS = "evidence (lines or a symbol), answers (request ids of searches that found nothing) or search"
# Arguments that name a commit.
_COMMITS = ("rev", "changed_since")
# Stands in the name of a default between a list and the member of its entries.
_EACH = "[]."
# Schema keywords that models do not need: the server validates them and explains violations.
_LEFT_OUT = frozenset(
    {
        *("additionalProperties", "title", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
        *("minProperties", "pattern"),
    }
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

    async def wait_until_done(self) -> None:
        """Wait until no call is under way."""
        await self._idle.wait()


def mcp_server(workers: Workers, calls: Calls, client_roots: "ClientRoots | None" = None) -> "McpServer[Any]":
    """Return an MCP server whose tools are the operations, and `claim` where a trace is written.

    The list of tools stays as it is for as long as the server runs, so `tools.listChanged` is false. With
    `client_roots` the roots of its client are honoured.
    """
    numbers = count(1)
    ordered = sorted(OPS, key=lambda op: (not OPS[op].tool.get("first"), op))
    tools = [_tool(op) for op in ordered if workers.all_tools or not OPS[op].tool.get("extra")]
    if workers.claims is not None:
        tools.append(_claim_tool())
    if not workers.revs:
        for tool in tools:
            _leave_out_revs(tool.input_schema)

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        with calls:
            if client_roots is not None:
                wanted = await client_roots.honour(context.session, params, workers.run)
                if wanted is not None:
                    return wanted
            if params.name == "claim" and workers.claims is not None:
                return await _claim(workers, params.arguments or {})
            # Not the client's id: a trace may hold several sessions that all count from 1.
            request_id = f"mcp-{os.getpid()}-{next(numbers)}"
            answering = _call(workers, request_id, params.name, params.arguments or {}, _client(context.request))
            return await _with_progress(context, answering)

    instructions = _rules()["instructions"]
    if workers.roots:
        instructions += " " + _rules()["roots"].format(names=", ".join(workers.roots))
    server: McpServer[Any] = McpServer(
        "zeno",
        version=version("zeno-normalizer"),
        title="Zeno",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    if client_roots is not None:

        async def forget_roots(_context: Any, _params: Any) -> None:
            client_roots.forget()

        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, forget_roots)
    return server


async def _call(
    workers: Workers, request_id: str, op: str, given: dict[str, Any], client: Client
) -> types.CallToolResult:
    if op in OPS:
        given = without_nulls(_args_schema(op), given)
    args = with_defaults(OPS[op].tool["defaults"] if op in OPS else {}, given)
    answer = await workers.answer(request_id, op, args, client)
    meta: Any = {REQUEST_ID: request_id}
    if answer.error is not None:
        if answer.error.code == "unknown_op":
            # In MCP an unknown tool is a protocol error, not a tool error.
            raise MCPError(types.INVALID_PARAMS, str(answer.error))
        return _refusal(answer.error, meta)
    result = json.loads(answer.result or b"")
    text = text_of(op, result, request_id if workers.claims is not None else None, args)
    return types.CallToolResult(content=[_text(text)], structured_content=result, _meta=meta)


def without_nulls(schema: Any, given: Any) -> Any:
    """Return arguments without those that are null and not required, and so their members: clients send all they know
    of, null for those that are absent."""
    if isinstance(given, list):
        return [without_nulls(schema.get("items", {}), entry) for entry in given]
    if not isinstance(given, dict):
        return given
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return {
        name: without_nulls(properties.get(name, {}), value)
        for name, value in given.items()
        if value is not None or name not in properties or name in required
    }


def with_defaults(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with defaults for those left out; `ranges[].end_line` is one for each entry of `ranges`."""
    # Given arguments come before defaults, as traces and people read them.
    # A symbol has its own end.
    known = {*given, *(["end_line"] if "symbol" in given else [])}
    args = given | {name: value for name, value in defaults.items() if _EACH not in name and name not in known}
    for name, value in defaults.items():
        of, each, member = name.partition(_EACH)
        # The server refuses other values.
        if each and isinstance(args.get(of), list):
            args[of] = [{member: value, **entry} if isinstance(entry, dict) else entry for entry in args[of]]
    return args


async def _claim(workers: Workers, args: dict[str, Any]) -> types.CallToolResult:
    try:
        event = await workers.claim(args)
    except ZenoError as error:
        return _refusal(error, None)
    text = "[claim written to the trace]"
    if not (event["evidence"] or event.get("answers") or event.get("search")):
        text = f"{text[:-1]}; it cites nothing, so it will not check out: give {_CITATIONS}]"
    return types.CallToolResult(content=[_text(text)], structured_content=event)


async def _with_progress(context: Any, answering: Awaitable[types.CallToolResult]) -> types.CallToolResult:
    """Await an answer. A client that sent a progress token gets a notification every second."""
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


@cache
def _args_schema(op: str) -> Any:
    return inlined(f"zeno/ops/{op}.json#/$defs/args")


def _client(request: Any) -> Client:
    """Return who sent a call: over HTTP its address and session, over pipes the only client."""
    if request is None or request.client is None:
        return NOBODY
    return Client(request.client.host, request.headers.get("mcp-session-id", request.client.port))


def _tool(op: str) -> types.Tool:
    tool = OPS[op].tool
    schema = _short(_args_schema(op))
    for name, value in tool["defaults"].items():
        # A default that means "no limit" would confuse models.
        if _EACH not in name and value < _NO_LIMIT:
            schema["properties"][name]["default"] = value
    for name in tool.get("hidden", ()):
        del schema["properties"][name]
    return _make_tool(op, tool["description"], schema)


def _leave_out_revs(schema: Any) -> None:
    """Take arguments that name commits out of a schema: the server would refuse them."""
    properties = schema.get("properties", {})
    for name in _COMMITS:
        properties.pop(name, None)
    for one in properties.values():
        _leave_out_revs(one)
    if "items" in schema:
        _leave_out_revs(schema["items"])


def _claim_tool() -> types.Tool:
    schema = _short(inlined("zeno/claim.json#/$defs/args"))
    # Models hardly need these arguments: they are taken where they are given, and not listed.
    for name in ("id", "parent"):
        del schema["properties"][name]
    for name in ("case_sensitive", "include_hidden"):
        del schema["properties"]["search"]["properties"][name]
    return _make_tool("claim", _rules()["claim"], schema, reads=False)


def _make_tool(name: str, description: str, schema: dict[str, Any], *, reads: bool = True) -> types.Tool:
    schema.pop("description", None)
    # No output schemas: they would be most of the list. `describe` has them.
    annotations = types.ToolAnnotations(read_only_hint=reads, open_world_hint=False)
    if not reads:
        annotations.destructive_hint = False
    return types.Tool(name=name, description=description, input_schema=schema, annotations=annotations)


def _short(node: Any) -> Any:
    """Return a schema with the words that models need: types, defaults and short descriptions."""
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
        kept["properties"] = {name: _argument(name, _short(value)) for name, value in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _short(kept["items"])
    return kept


def _argument(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument, described in the words for models where there are any."""
    told = _rules()["arguments"].get(name)
    if name in ("kinds", "roles"):
        # The description of the tool has some, and a call with an unknown one is told all.
        schema = {**schema, "items": {"type": "string"}}
    return schema if told is None else {**schema, "description": told}


def _refusal(error: ZenoError, meta: Any) -> types.CallToolResult:
    # No structured content, which clients would take for a result.
    told = wire.dump(wire.error_of(error)).decode()
    return types.CallToolResult(content=[_text(told)], is_error=True, _meta=meta)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
