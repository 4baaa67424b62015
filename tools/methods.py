"""The methods of the Python clients, written from the operations of `spec/`: one for each, its arguments spelled out.

An operation whose arguments and result both have `cursor` gets a second method, which follows the pages.
"""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "Mapping[str, Any] | Model",
}

_HEAD = '''\
"""The operations as methods. A subclass says how one is asked; None stands for an argument that is not given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from contract_spec.model import ClientResult, Model

'''
_BASE = '''

class {name}:
    """The operations, {about}."""

    {define} call(self, op: str, args: Mapping[str, Any], result: type[R]) -> R:
        """Ask one operation."""
        raise NotImplementedError

    def pages(self, op: str, args: Mapping[str, Any], result: type[R]) -> {iterator}[R]:
        """Ask one operation again and again, with the cursor of each result, until a result has none."""
        raise NotImplementedError
'''
_CLASSES = (
    {"name": "Methods", "about": "answered before the method returns", "define": "def", "iterator": "Iterator"},
    {"name": "AsyncMethods", "about": "to be awaited", "define": "async def", "iterator": "AsyncIterator"},
)
_GIVEN = '''

def _given(**args: Any) -> dict[str, Any]:
    """The arguments that were given. No argument of the protocol may be null."""
    return {name: value for name, value in args.items() if value is not None}
'''


def methods(folder: Path) -> str:
    """The text of the module, from a folder of operation schemas."""
    ops = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    imports = "".join(f"from .ops.{op} import {schema['$defs']['result']['title']}\n" for op, schema in ops.items())
    text = _HEAD + imports + '\nR = TypeVar("R", bound=ClientResult)\n'
    for words in _CLASSES:
        text += _BASE.format(**words)
        text += "".join(line for op, schema in ops.items() for line in _method(op, schema, **words))
    return text + _GIVEN


def _method(op: str, schema: dict[str, Any], define: str, iterator: str, **_: str) -> Iterator[str]:
    args, result = schema["$defs"]["args"], schema["$defs"]["result"]
    title = result["title"]
    wait = "await " if define == "async def" else ""
    args = {**args, "properties": _resolved(args.get("properties", {}), schema["$defs"])}
    yield _text(f"{define} {op}", args, title, schema["description"], f"{wait}self.call", op)
    if "cursor" in args["properties"] and "cursor" in result["properties"]:
        about = f"All pages of {op}, one after the other."
        yield _text(f"def {op}_pages", args, f"{iterator}[{title}]", about, "self.pages", op, title)


def _resolved(node: Any, definitions: dict[str, Any]) -> Any:
    """Arguments with what they refer to in their own file in its place; what lies elsewhere may be anything."""
    if isinstance(node, list):
        return [_resolved(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    target = definitions.get(str(node.get("$ref", "")).removeprefix("#/$defs/"), {})
    return {key: _resolved(value, definitions) for key, value in {**target, **node}.items() if key != "$ref"}


def _text(start: str, args: dict[str, Any], returns: str, about: str, ask: str, op: str, title: str = "") -> str:
    required = [name for name in args["properties"] if name in args.get("required", [])]
    optional = [name for name in args["properties"] if name not in required]
    parameters = [f"{name}: {_type(args['properties'][name])}" for name in required]
    if op == "grep":
        # Nearly every search is for one pattern: it needs no name, although a list may take its place.
        required.append(optional.pop(optional.index("pattern")))
        parameters.append(f"pattern: {_type(args['properties']['pattern'])} | None = None")
    parameters += ["*"] if optional else []
    parameters += [f"{name}: {_type(args['properties'][name])} | None = None" for name in optional]
    lines = [f"    {start}(", "        self,", *(f"        {parameter}," for parameter in parameters)]
    lines += [f"    ) -> {returns}:", *_about(about, args["properties"])]
    given = ", ".join(f"{name}={name}" for name in [*required, *optional])
    lines += [f'        return {ask}("{op}", _given({given}), {title or returns})']
    return "\n" + "\n".join(lines) + "\n"


def _about(about: str, properties: dict[str, Any]) -> list[str]:
    lines = [f'"""{about}', ""]
    for name, schema in properties.items():
        default = f" Default: {json.dumps(schema['default'])}." if "default" in schema else ""
        words = f"{name}: {schema.get('description', '')}{default}".replace("\\", "\\\\").replace('"""', "'''")
        lines += textwrap.wrap(words, 110, subsequent_indent="    ")
    return [f"        {line}".rstrip() for line in (*lines, '"""')]


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if schema.get("type") == "array":
        return f"Sequence[{_type(schema.get('items', {}))}]"
    return _TYPES.get(str(schema.get("type")), "Any")
