"""The operations as tools of the Model Context Protocol.

Descriptions and defaults for models are data, in the schema of each operation. A call goes to the same server as every
other request; its result comes back as structured content, which is the result of the protocol, and as text for models.
"""

import asyncio
import json
import os
from collections.abc import Awaitable
from functools import partial
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import mcp_types as types
from contract_spec.bundle import inlined
from mcp.server.lowlevel import Server as McpServer
from mcp.shared.exceptions import MCPError

from zeno.errors import ZenoError
from zeno.interfaces.fair_slots import Client
from zeno.interfaces.key_value import suggest_operation
from zeno.interfaces.mcp.batch import Reply, answer_batch, refuse
from zeno.interfaces.mcp.tool_list import BATCH_ARGS, CLAIM_ARGS, EACH, args_schema, list_tools, rules
from zeno.interfaces.result_text import text_of
from zeno.interfaces.status import completeness
from zeno.interfaces.workers import NOBODY, Workers
from zeno.session.dispatch import OPS

if TYPE_CHECKING:
    from zeno.interfaces.mcp.client_roots import ClientRoots

REQUEST_ID = "zeno/request_id"
"""Key of the request id in the `_meta` of a result: the id under which the trace has the request."""

# Read at the start: a confined server cannot read it if it stands beside the code.
_PROGRAM = version("zeno-normalizer")
# Seconds between progress notifications to a client that asked for them.
_PROGRESS = 1.0
# The ways to say what a claim rests on.
_CITATIONS = "evidence (lines or a symbol), answers (request ids of searches that found nothing) or search"


class ToolCall(NamedTuple):
    """One call of a tool."""

    request_id: str
    op: str
    given: dict[str, Any]
    client: Client


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
    """Return an MCP server whose tools are the operations, `batch`, and `claim` where a trace is written.

    The list of tools stays as it is for as long as the server runs, so `tools.listChanged` is false. With
    `client_roots` the roots of its client are honoured.
    """
    tools = list_tools(all_tools=workers.all_tools, claims=workers.claims is not None, revs=bool(workers.revs))
    numbers = count(1)

    async def tell_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call(client: Client, name: str, given: dict[str, Any], max_chars: int | None = None) -> Reply:
        if name == "claim" and workers.claims is not None:
            return await _claim(workers, given)
        # Not the client's id: a trace may hold several sessions that all count from 1.
        request_id = f"mcp-{os.getpid()}-{next(numbers)}"
        return await _call(workers, ToolCall(request_id, name, given, client), max_chars)

    async def call_tool(
        context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        with calls:
            if client_roots is not None:
                wanted = await client_roots.honour(context.session, params, workers.run)
                if wanted is not None:
                    return wanted
            ask, given = partial(call, _client(context.request)), params.arguments or {}
            if params.name == "batch":
                answering = answer_batch(without_nulls(inlined(BATCH_ARGS), given), ask, workers.max_response_bytes)
            else:
                answering = ask(params.name, given)
            return _to_result(await _with_progress(context, answering))

    instructions = rules()["instructions"]
    if workers.roots:
        instructions += " " + rules()["roots"].format(names=", ".join(workers.roots))
    server: McpServer[Any] = McpServer(
        "zeno",
        version=_PROGRAM,
        title="Zeno",
        instructions=instructions,
        on_list_tools=tell_tools,
        on_call_tool=call_tool,
    )
    if client_roots is not None:

        async def forget_roots(_context: Any, _params: Any) -> None:
            client_roots.forget()

        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, forget_roots)
    return server


async def _call(workers: Workers, asked: ToolCall, max_chars: int | None) -> Reply:
    """Answer a call of an operation; `max_chars` is the most that its default of that name may be."""
    request_id, op, given, client = asked
    defaults: dict[str, Any] = {}
    if op in OPS:
        given = without_nulls(args_schema(op), given)
        defaults = OPS[op].tool["defaults"]
        if max_chars is not None and "max_chars" in defaults:
            defaults = {**defaults, "max_chars": min(max_chars, defaults["max_chars"])}
    args = with_defaults(defaults, given)
    answer = await workers.answer(request_id, op, args, client)
    if answer.error is not None:
        return refuse(answer.error, request_id)
    body = answer.result or b""
    result = json.loads(body)
    text = text_of(op, result, request_id if workers.claims is not None else None, args)
    coverage = completeness(result, args) if result.get("complete") else ""
    return Reply(text, result, request_id, len(body), coverage=coverage, files=_what_chose_files(op, result, args))


def _what_chose_files(op: str, result: dict[str, Any], args: dict[str, Any]) -> str:
    """Return a text that is equal for answers about the same files: the digest is of those before any is asked for."""
    asked = ["paths", "glob", "changed_since", *(["regex"] if op == "list_files" else [])]
    return json.dumps([result.get("files_digest"), result.get("rev"), [args.get(name) for name in asked]])


def _to_result(reply: Reply) -> types.CallToolResult:
    """Return a reply as the protocol has it. A refusal has no structured content, which clients take for a result."""
    if reply.error is not None and reply.error.code == "unknown_op":
        # In MCP an unknown tool is a protocol error, not a tool error.
        wanted = str(reply.error).removeprefix("unknown op: ")
        cure = "; claims need a trace: start the server with --log" if wanted == "claim" else suggest_operation(wanted)
        raise MCPError(types.INVALID_PARAMS, f"{reply.error}{cure}")
    meta: Any = None if reply.request_id is None else {REQUEST_ID: reply.request_id}
    content: Any = [types.TextContent(type="text", text=reply.text)]
    if reply.error is not None:
        return types.CallToolResult(content=content, is_error=True, _meta=meta)
    return types.CallToolResult(content=content, structured_content=reply.result, _meta=meta)


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
    args = given | {name: value for name, value in defaults.items() if EACH not in name and name not in known}
    for name, value in defaults.items():
        of, each, member = name.partition(EACH)
        # The server refuses other values.
        if each and isinstance(args.get(of), list):
            args[of] = [{member: value, **entry} if isinstance(entry, dict) else entry for entry in args[of]]
    return args


async def _claim(workers: Workers, args: dict[str, Any]) -> Reply:
    try:
        event = await workers.claim(without_nulls(inlined(CLAIM_ARGS), args))
    except ZenoError as error:
        return refuse(error)
    text = "[claim written to the trace]"
    if not (event["evidence"] or event.get("answers") or event.get("search")):
        text = f"{text[:-1]}; it cites nothing, so it will not check out: give {_CITATIONS}]"
    return Reply(text, event)


async def _with_progress(context: Any, answering: Awaitable[Reply]) -> Reply:
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


def _client(request: Any) -> Client:
    """Return who sent a call: over HTTP its address and session, over pipes the only client."""
    if request is None or request.client is None:
        return NOBODY
    return Client(request.client.host, request.headers.get("mcp-session-id", request.client.port))
