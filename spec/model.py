"""The base class of every generated model: it closes the gaps between pydantic and JSON Schema.

Left alone, the two disagree in three places. A literal lets `true` pass for `1`, because Python says they are
equal; a strict integer refuses `1.0`, which JSON Schema calls an integer; a strict float turns `1` into `1.0`.
"""

import math
from collections.abc import Callable
from typing import Any, Self, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, PrivateAttr
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
        # Mostly it is an integer as it stands, and then no Python is run.
        return _first([node, core_schema.no_info_before_validator_function(_integer, node)])
    if kind == "float":
        bounds: dict[str, Any] = {name: round_(node[name]) for name, round_ in _ROUNDED.items() if name in node}
        whole = core_schema.int_schema(strict=True, **bounds)
        return _first([whole, {**node, "strict": True, "allow_inf_nan": False}])
    # Metadata and serialization are not validation: they stay as they are.
    kept = ("metadata", "serialization")
    return {key: value if key in kept else _exact(value, resolve) for key, value in node.items()}


def _rewrite(definition: CoreSchema, resolve: Callable[[CoreSchema], CoreSchema], *, top: bool = False) -> None:
    """Rewrite a definition where it stands, once: a named alias may be used in several places."""
    held = cast(dict[str, Any], definition)
    metadata = held.setdefault("metadata", {})
    if not metadata.get(_DONE):
        metadata[_DONE] = True
        # A copy: what is rewritten may hold what it is made of, and a definition that holds itself has no end.
        rewritten = _exact({key: value for key, value in held.items() if key != "ref"}, resolve, top=top)
        named = {"ref": held["ref"]} if "ref" in held else {}
        held.clear()
        held.update({**rewritten, **named, "metadata": metadata})


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


# The integers within bounds that need not be integers themselves.
_ROUNDED: dict[str, Callable[[float], int]] = {
    "ge": math.ceil,
    "gt": math.floor,
    "le": math.floor,
    "lt": math.ceil,
}


def _first(choices: list[Any]) -> Any:
    return core_schema.union_schema(choices, mode="left_to_right")


class Model(BaseModel):
    """A message of the contract: closed and immutable; it accepts what its schema accepts."""

    # Built when first used: most programs use few of them.
    model_config = ConfigDict(frozen=True, regex_engine="python-re", defer_build=True, serialize_by_alias=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        # The handler may answer with a reference; what it refers to is rewritten where it stands.
        _rewrite(handler.resolve_ref_schema(schema), handler.resolve_ref_schema, top=True)
        return schema


class ClientResult(Model):
    """A result as the Python clients return it: None stands for what is absent."""

    _request_id: str | None = PrivateAttr(default=None)

    @property
    def request_id(self) -> str | None:
        """The id of the request that this result answers; a trace has it, and claims can cite it."""
        return self._request_id

    def of_request(self, request_id: str) -> Self:
        """Name the request that this result answers."""
        self._request_id = request_id
        return self
