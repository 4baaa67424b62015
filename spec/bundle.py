"""Schemas for readers outside: without what is only for servers, and for those that follow no `$ref` in one place.

`published` is a schema as it is told; `inlined` is for readers that follow no reference at all; `components` for
documents that keep named schemas in one map.
"""

from collections.abc import Iterable
from typing import Any

import contract_spec as spec
from contract_spec.operations import operations

# Beside a `$ref` only words may stand, never a demand: then what it points to can be put in its place.
_WORDS = frozenset({"description", "default", "examples"})
# Values of these are no schemas, whatever they look like.
_DATA = frozenset({"const", "default", "enum", "examples"})


def published(name: str) -> dict[str, Any]:
    """The schema of that name as it is told to clients: without `x-zeno`, and operations by their names."""
    result: dict[str, Any] = _told(spec.schema(name))
    return result


def _told(node: Any) -> Any:
    if isinstance(node, list):
        return [_told(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: value if key in _DATA else _told(value) for key, value in _without_marks(node).items()}


def _without_marks(node: dict[str, Any]) -> dict[str, Any]:
    """A schema without `x-zeno`; one that stands for the name of an operation lists these."""
    if "x-zeno" not in node:
        return node
    rest = {key: value for key, value in node.items() if key != "x-zeno"}
    if node["x-zeno"] == {"is": "operation"}:
        del rest["minLength"]
        rest["enum"] = list(operations())
    return rest


def inlined(ref: str) -> dict[str, Any]:
    """The schema at `ref` with every reference replaced by what it points to. It must not refer to itself."""
    name, schema = _look_up(ref)
    result: dict[str, Any] = _inline(schema, name)
    return result


def components(refs: Iterable[str], prefix: str) -> dict[str, Any]:
    """The schemas at `refs` and all they need, by title; references become `prefix` and the title."""
    found: dict[str, Any] = {}
    pending = [_look_up(ref) for ref in refs]
    while pending:
        name, schema = pending.pop()
        title = schema["title"]
        if title not in found:
            found[title] = {}
            found[title] = _refer(schema, name, prefix, pending)
    return dict(sorted(found.items()))


def _inline(node: Any, name: str) -> Any:
    if isinstance(node, list):
        return [_inline(item, name) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target_name, target = _look_up(_absolute(node["$ref"], name))
        return {**_inline(target, target_name), **_words(node)}
    return {key: value if key in _DATA else _inline(value, name) for key, value in _body(node).items()}


def _refer(node: Any, name: str, prefix: str, pending: list[tuple[str, Any]]) -> Any:
    if isinstance(node, list):
        return [_refer(item, name, prefix, pending) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target_name, target = _look_up(_absolute(node["$ref"], name))
        if "title" not in target:
            return {**_refer(target, target_name, prefix, pending), **_words(node)}
        pending.append((target_name, target))
        return {**_words(node), "$ref": prefix + target["title"]}
    return {key: value if key in _DATA else _refer(value, name, prefix, pending) for key, value in _body(node).items()}


def _body(node: dict[str, Any]) -> dict[str, Any]:
    """A schema without what only makes sense in its own file."""
    return {key: value for key, value in _without_marks(node).items() if key not in ("$schema", "$id", "$defs")}


def _words(node: dict[str, Any]) -> dict[str, Any]:
    words = {key: value for key, value in node.items() if key != "$ref"}
    if not words.keys() <= _WORDS:
        raise ValueError(f"beside a $ref only {sorted(_WORDS)} may stand, not {sorted(words.keys() - _WORDS)}")
    return words


def _absolute(ref: str, name: str) -> str:
    """A reference in the schema `name`, as `name#fragment` from the top."""
    path, _, fragment = ref.partition("#")
    if not path:
        return f"{name}#{fragment}"
    steps = name.split("/")[:-1]
    for step in path.split("/"):
        if step == "..":
            steps.pop()
        elif step != ".":
            steps.append(step)
    return f"{'/'.join(steps)}#{fragment}"


def _look_up(ref: str) -> tuple[str, Any]:
    name, _, fragment = ref.partition("#")
    node = spec.schema(name)
    for step in fragment.split("/")[1:]:
        node = node[step.replace("~1", "/").replace("~0", "~")]
    return name, node
