"""The base class of every generated model: it closes the gaps between pydantic and JSON Schema.

Left alone, the two disagree in three places. A literal lets `true` pass for `1`, because Python says they are
equal; a strict integer refuses `1.0`, which JSON Schema calls an integer; a strict float turns `1` into `1.0`.
"""

import operator
from collections.abc import Callable
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_DONE = "contract_spec.exact"


def _exact(node: Any, resolve: Callable[[CoreSchema], CoreSchema], *, top: bool = False) -> Any:
    """Rewrite the leaves of a core schema; nested models have rewritten their own."""
    if isinstance(node, list):
        return [_exact(item, resolve) for item in node]
    if isinstance(node, tuple):
        return tuple(_exact(item, resolve) for item in node)
    if not isinstance(node, dict):
        return node
    kind = node.get("type")
    if kind == "model" and not top:
        return node
    if kind == "definition-ref":
        _rewrite(resolve(cast(CoreSchema, node)), resolve)
        return node
    if kind == "literal":
        expected = node["expected"]
        if all(isinstance(value, str) for value in expected):
            return node
        return core_schema.no_info_before_validator_function(_same_type(expected), node)
    if kind == "int":
        return core_schema.no_info_before_validator_function(_integer, node)
    if kind == "float":
        bounds = [_bound(name, node[name]) for name in ("ge", "gt", "le", "lt") if name in node]
        return core_schema.no_info_plain_validator_function(_number(bounds))
    # Metadata and serialization are not validation: they stay as they are.
    kept = ("metadata", "serialization")
    return {key: value if key in kept else _exact(value, resolve) for key, value in node.items()}


def _rewrite(definition: CoreSchema, resolve: Callable[[CoreSchema], CoreSchema], *, top: bool = False) -> None:
    """Rewrite a definition where it stands, once: a named alias may be used in several places."""
    held = cast(dict[str, Any], definition)
    metadata = held.setdefault("metadata", {})
    if not metadata.get(_DONE):
        metadata[_DONE] = True
        rewritten = _exact(held, resolve, top=top)
        held.clear()
        held.update(rewritten)


def _same_type(expected: list[Any]) -> Any:
    def check(value: Any) -> Any:
        if any(type(value) is type(one) and value == one for one in expected):
            return value
        if type(value) is float and value.is_integer():
            return check(int(value))
        raise PydanticCustomError("literal_error", "Input should be one of {expected}", {"expected": str(expected)})

    return check


def _integer(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _number(bounds: list[Any]) -> Any:
    def check(value: Any) -> Any:
        if type(value) not in (int, float) or value != value or value in (float("inf"), float("-inf")):
            raise PydanticCustomError("float_type", "Input should be a finite number")
        for bound in bounds:
            bound(value)
        return value

    return check


def _bound(name: str, limit: Any) -> Any:
    holds = getattr(operator, name)

    def check(value: Any) -> None:
        if not holds(value, limit):
            raise PydanticCustomError(
                "number_range", "Input is outside its range ({name} {limit})", {"name": name, "limit": limit}
            )

    return check


class Model(BaseModel):
    """A message of the contract: closed, immutable, and of one mind with its schema."""

    model_config = ConfigDict(frozen=True, regex_engine="python-re", defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        # The handler may answer with a reference; what it refers to is rewritten where it stands.
        _rewrite(handler.resolve_ref_schema(schema), handler.resolve_ref_schema, top=True)
        return schema
