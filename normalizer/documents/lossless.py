"""JSON values whose numbers keep their spelling, from bytes and back to text.

A number is a `Number`: the characters it was written with. Everything else is what the standard parser makes of it;
objects keep the order of their keys. `dumps` writes compact ASCII, one spelling for each value.
"""

import json
import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from json import encoder
from typing import Any

import contract_spec as spec


class Number(str):
    """A number as it was written. It compares as its spelling; `exact_value` gives its value."""

    __slots__ = ()


def parse(data: bytes, max_depth: int) -> Any:
    """The value of a strict JSON document, or `NotStrictJson`."""
    return spec.parse(data, max_depth=max_depth, number=Number)


def exact_value(number: Number) -> Decimal | None:
    """The exact value, or None where its exponent is beyond all arithmetic."""
    try:
        return Decimal(number)
    except InvalidOperation:
        return None


def loads_plain(line: bytes) -> Any:
    """A line of a ledger with Python's numbers. Integers too long for a machine become floats, if need be infinite."""
    return json.loads(line, parse_int=_integer)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 20 else float(digits)


def to_builtin(value: Any) -> Any:
    """Return the value with Python's numbers, for validation by a schema.

    A number that no double can hold becomes the nearest double that is finite and, unless the number is zero, not zero.
    None of our schemas distinguishes these.
    """
    if type(value) is Number:
        return _double(value)
    if type(value) is dict:
        return {key: to_builtin(inner) for key, inner in value.items()}
    if type(value) is list:
        return [to_builtin(inner) for inner in value]
    return value


def _double(number: Number) -> int | float:
    if len(number) < 16 and not any(mark in number for mark in ".eE"):
        return int(number)
    nearest = float(number)
    if abs(nearest) == float("inf"):
        return sys.float_info.max if nearest > 0 else -sys.float_info.max
    mantissa = number.lower().partition("e")[0]
    if nearest == 0 and any(digit in mantissa for digit in "123456789"):
        return 5e-324
    # A fraction too fine for a double must not be taken for a whole number.
    if nearest.is_integer() and exact_value(number) != Decimal(nearest):
        return nearest + 0.5 if abs(nearest) < 2**52 else nearest
    return nearest


quoted: Callable[[str], str] = encoder.encode_basestring_ascii
"""A string as ASCII JSON."""
_make_encoder = getattr(encoder, "c_make_encoder", None)


def _spelling(text: str) -> str:
    return text if type(text) is Number else quoted(text)


def _no_other(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _chunks(value: Any, _: int) -> list[str]:
    """Encode like the standard library's encoder in C, for interpreters that have none."""
    if isinstance(value, str):
        return [_spelling(value)]
    if isinstance(value, dict):
        return ["{", ",".join(f"{_spelling(key)}:{dumps(inner)}" for key, inner in value.items()), "}"]
    if isinstance(value, list):
        return ["[", ",".join(map(dumps, value)), "]"]
    if value is None or isinstance(value, bool):
        return ["null" if value is None else "true" if value else "false"]
    if isinstance(value, int):
        return [repr(value)]
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _encoder() -> Callable[[Any, int], Any]:
    if _make_encoder is None:
        return _chunks
    # The encoder calls `_spelling` for every string, a Number among them: that is what keeps numbers as they are.
    encode: Callable[[Any, int], Any] = _make_encoder(None, _no_other, _spelling, None, ":", ",", False, False, False)
    return encode


_encode = _encoder()


def dumps(value: Any) -> str:
    """The value as compact ASCII JSON, numbers as they were written."""
    return "".join(_encode(value, 0))


def comparable(value: Any) -> Any:
    """Return a key that is equal for equal values: numbers by value, the rest by type and content."""
    if type(value) is Number:
        return ("number", exact_value(value))
    return (type(value).__name__, dumps(value) if isinstance(value, (dict, list)) else value)


def members(value: dict[str, Any]) -> str:
    """The members of an object as `dumps` writes them, without its braces. Faster for objects that hold mostly text."""
    written = []
    for key, inner in value.items():
        kind = type(inner)
        if kind is str:
            text = quoted(inner)
        elif kind is Number:
            text = inner
        else:
            text = f"{{{members(inner)}}}" if kind is dict else dumps(inner)
        written.append(f"{quoted(key)}:{text}")
    return ",".join(written)


def too_many_values(data: bytes, max_bytes: int) -> str | None:
    """Why a document is not read if it has more values than one for every eight bytes that it may have; else None.

    A value takes some hundred bytes of memory, however short it is: 64 MiB of `0,` would take 4 GB. Commas and opening
    brackets are counted, also those in texts.
    """
    most = max_bytes // 8
    if sum(map(data.count, (b",", b"{", b"["))) <= most:
        return None
    return f"it has more than {most} commas and opening brackets, and each value takes memory"
