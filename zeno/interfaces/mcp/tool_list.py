"""The list of tools: each operation as models are told of it, with `batch` and, where a trace is written, `claim`.

Descriptions, defaults and hidden arguments are data, in the schema of each operation and in `rules/mcp.json`.
"""

from functools import cache
from typing import Any

import contract_spec as spec
import mcp_types as types
from contract_spec.bundle import inlined

from zeno.session.dispatch import OPS

EACH = "[]."
"""Stands in the name of a default between a list and the member of its entries."""

BATCH_ARGS = "zeno/batch.json#/$defs/args"
CLAIM_ARGS = "zeno/claim.json#/$defs/args"
_NO_LIMIT = (1 << 53) - 1
# Arguments that name a commit.
_COMMITS = ("rev", "changed_since")
# Schema keywords that models do not need: the server validates them and explains violations.
_LEFT_OUT = frozenset(
    {
        *("additionalProperties", "title", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
        *("minProperties", "pattern"),
    }
)


def list_tools(*, all_tools: bool, claims: bool, revs: bool) -> list[types.Tool]:
    """Return the tools. `revs`: whether requests may name commits, `claims`: whether a trace takes claims."""
    ordered = sorted(OPS, key=lambda op: (not OPS[op].tool.get("first"), op))
    tools = [_tool(op) for op in ordered if all_tools or not OPS[op].tool.get("extra")]
    tools.insert(1, _batch_tool())  # behind the operation to begin with
    if claims:
        tools.append(_claim_tool())
    if not revs:
        for tool in tools:
            _leave_out_revs(tool.input_schema)
    return tools


@cache
def rules() -> dict[str, Any]:
    """Return the words and numbers of this interface."""
    told: dict[str, Any] = spec.resource("rules/mcp.json")
    return told


@cache
def args_schema(op: str) -> Any:
    """Return the schema of the arguments of an operation, without references."""
    return inlined(f"zeno/ops/{op}.json#/$defs/args")


def _tool(op: str) -> types.Tool:
    tool = OPS[op].tool
    schema = _short(args_schema(op))
    for name, value in tool["defaults"].items():
        # A default that means "no limit" would confuse models.
        if EACH not in name and value < _NO_LIMIT:
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


def _batch_tool() -> types.Tool:
    return _make_tool("batch", rules()["batch"], _short(inlined(BATCH_ARGS)))


def _claim_tool() -> types.Tool:
    schema = _short(inlined(CLAIM_ARGS))
    # Models hardly need these arguments: they are taken where they are given, and not listed.
    for name in ("id", "parent"):
        del schema["properties"][name]
    del schema["properties"]["evidence"]["items"]["properties"]["sha256"]
    for name in ("case_sensitive", "include_hidden"):
        del schema["properties"]["search"]["properties"][name]
    return _make_tool("claim", rules()["claim"], schema, reads=False)


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
    for key, nothing in (("default", (False, [], {})), ("required", ([],))):
        if kept.get(key) in nothing:
            del kept[key]
    if isinstance(kept.get("description"), str):
        kept["description"] = kept["description"].partition(". ")[0].rstrip(".")
    if "properties" in kept:
        kept["properties"] = {name: _argument(name, _short(value)) for name, value in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _short(kept["items"])
    return kept


def _argument(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument, described in the words for models where there are any."""
    told = rules()["arguments"].get(name)
    if name in ("kinds", "roles"):
        # The description of the tool has some, and a call with an unknown one is told all.
        schema = {**schema, "items": {"type": "string"}}
    return schema if told is None else {**schema, "description": told}
