"""Strict JSON: bytes become a value, or an error that says where and why. RFC 8259 with nothing forgiven.

Refused beyond what the standard parser refuses: a byte order mark, duplicate keys, NaN and Infinity, numbers
outside the range of a double, lone surrogates, and nesting deeper than the caller allows.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

# A double has at most 309 digits before its point; longer integers are out of range, and slow to convert.
_MAX_DIGITS = 310
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotStrictJson(ValueError):
    """The bytes are not one strict JSON document; the message says why, in one sentence."""


def parse(
    data: bytes,
    *,
    max_depth: int,
    parse_int: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
    object_pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Parse one document. The hooks replace how numbers and objects are represented, never what is accepted."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise NotStrictJson("it begins with a byte order mark")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrictJson(f"it is not UTF-8: invalid byte at offset {error.start}") from None
    # Brackets inside strings are counted too, so this is an upper bound that spares most lines the exact count.
    if data.count(b"[") + data.count(b"{") > max_depth:
        _check_depth(text, max_depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique(object_pairs or dict),
            parse_constant=_constant,
            parse_int=_in_range(parse_int or int),
            parse_float=_in_range(parse_float or float),
        )
    except json.JSONDecodeError as error:
        raise NotStrictJson(f"{error.msg} at line {error.lineno} column {error.colno}") from None
    # A surrogate can only come from a \u escape: UTF-8 has none.
    if "\\u" in text and _has_surrogate(value):
        raise NotStrictJson("a string holds half a surrogate pair")
    return value


def _unique(build: Callable[[list[tuple[str, Any]]], Any]) -> Callable[[list[tuple[str, Any]]], Any]:
    def hook(pairs: list[tuple[str, Any]]) -> Any:
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise NotStrictJson(f"the key {json.dumps(key)} stands twice in one object")
            seen.add(key)
        return build(pairs)

    return hook


def _constant(name: str) -> NoReturn:
    raise NotStrictJson(f"{name} is not JSON")


def _in_range(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    def hook(digits: str) -> Any:
        if len(digits) > 300 and not _finite(digits):
            raise NotStrictJson(f"a number is out of range: {digits[:20]}...")
        if ("e" in digits or "E" in digits) and not _finite(digits):
            raise NotStrictJson(f"a number is out of range: {digits[:40]}")
        return convert(digits)

    return hook


def _finite(digits: str) -> bool:
    if len(digits) > _MAX_DIGITS and not any(mark in digits for mark in ".eE"):
        return False
    return abs(float(digits)) != float("inf")


def _check_depth(text: str, limit: int) -> None:
    depth = 0
    in_string = escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > limit:
                raise NotStrictJson(f"it is nested deeper than {limit} levels")
        elif char in "]}":
            depth -= 1


def _has_surrogate(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if _SURROGATE.search(item):
                return True
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, (list, tuple)):
            stack.extend(item)
    return False
