"""The operations as their schemas describe them: each says in `x-zeno` what servers, clients and tests need to know.

An argument, or a member of one, that names a file has `"x-zeno": {"is": "path"}` in the schema; one that matches names
of files is a `glob`, one that is looked for in files a `text`, one that names an operation an `operation`, and one that
names a commit a `rev`.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import contract_spec as spec

_FOLDER = "zeno/ops/"


class Operation(NamedTuple):
    """One operation. The form of `x-zeno` in `schemas/zeno/operation.json` has the same fields."""

    narrow: str
    """Advice for an answer that is too large or takes too long."""
    tool: dict[str, Any]
    """Its description for models, and the defaults for arguments that they leave out."""
    walks: bool = False
    """Whether it may go through the whole tree. Others overtake it, and on a cold corpus it runs in a forked copy."""
    unit: str = "item"
    """The word for one of the things that a result has."""
    list: str | None = None
    """The list in a result that is counted; None if there is none."""
    limits: tuple[str, ...] = ()
    """The arguments that can cut the result."""
    metric: str | None = None
    """The metric that equals the length of the list, if there is one."""
    quotes: bool = False
    """Whether a result holds lines of files."""
    words: tuple[str, ...] = ()
    """The argument that a first word without a name stands for, and the one that further words stand for."""
    color: tuple[str, str] | None = None
    """Its colour on the page of a trace, on a light and on a dark ground."""


@cache
def operations() -> dict[str, Operation]:
    """Return all operations by name, sorted."""
    found = (name for name in spec.names() if name.startswith(_FOLDER))
    return {name[len(_FOLDER) : -len(".json")]: Operation(**spec.schema(name)["x-zeno"]) for name in found}


def args_schema(op: str) -> Any:
    """Return the schema of the arguments of an operation, with references into other places."""
    return spec.schema(f"{_FOLDER}{op}.json")["$defs"]["args"]


@cache
def marked(op: str, *kinds: str) -> frozenset[str]:
    """Return the arguments of an operation that are marked as one of these kinds."""
    properties = args_schema(op)["properties"]
    return frozenset(name for name, schema in properties.items() if schema.get("x-zeno", {}).get("is") in kinds)


def requests(path: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield requests about a file at `path` that holds `text`, at least one for each operation that is about files.

    They are the examples of the schemas, with the path wherever an example names files, and the text where it has one.
    """
    for op in operations():
        schema = spec.schema(f"{_FOLDER}{op}.json")
        for example in schema["examples"]:
            args = _filled(example["args"], schema["$defs"]["args"], schema, {"path": path, "glob": path, "text": text})
            if args != example["args"]:
                yield op, args


def _filled(value: Any, schema: Any, top: Any, values: dict[str, str]) -> Any:
    """Return a value with what is marked in its schema replaced."""
    if "$ref" in schema and schema["$ref"].startswith("#/$defs/"):
        schema = top["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    kind = schema.get("x-zeno", {}).get("is")
    if kind in values:
        return [values[kind]] if isinstance(value, list) else values[kind]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return {name: _filled(item, properties.get(name, {}), top, values) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, schema.get("items", {}), top, values) for item in value]
    return value
