"""Strict JSON: bytes become a value, or an error that says where and why. RFC 8259 with nothing forgiven.

Refused beyond what the standard parser refuses: a byte order mark, duplicate keys, NaN and Infinity, lone
surrogates, nesting deeper than the caller allows, and numbers outside the range of a double unless the caller keeps
the spelling of numbers.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

# A double has at most 309 digits before its point; longer integers are out of range, and slow to convert.
_MAX_DIGITS = 310
_WHITE = " \t\n\r"
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class NotStrictJson(ValueError):
    """The bytes are not one strict JSON document; the message says why, in one sentence."""


def parse(
    data: bytes,
    *,
    max_depth: int,
    number: Callable[[str], Any] | None = None,
    constant: Callable[[str], Any] | None = None,
) -> Any:
    """Parse one document. With `number`, every number is what that makes of its spelling, whatever its size.

    With `constant`, which needs `number`, NaN and Infinity are not refused but are what that makes of the word.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise NotStrictJson("it begins with a byte order mark")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrictJson(f"it is not UTF-8: invalid byte at offset {error.start}") from None
    decoder = _DECODER if number is None else _spelled(number, constant or _constant)
    try:
        value = _decoded(text, decoder)
    except json.JSONDecodeError as error:
        raise NotStrictJson(describe(error)) from None
    except RecursionError:
        raise NotStrictJson(f"it is nested deeper than {max_depth} levels") from None
    # Brackets inside strings are counted too, so this is an upper bound that spares most lines the exact count.
    if data.count(b"[") + data.count(b"{") > max_depth and _deeper(value, max_depth):
        raise NotStrictJson(f"it is nested deeper than {max_depth} levels")
    # A surrogate can only come from an escape: UTF-8 has none.
    if "\\u" in text and _SURROGATE_ESCAPE.search(text) and _has_surrogate(value):
        raise NotStrictJson("a string holds half a surrogate pair")
    return value


_WORDS = {
    "Expecting value": "expected a value",
    "Illegal trailing comma before end of array": "expected a value",
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Illegal trailing comma before end of object": "expected a key in double quotes",
    "Expecting ':' delimiter": "expected a colon",
    "Expecting ',' delimiter": "expected a comma or a closing bracket",
    "Unterminated string starting at": "an unclosed string begins",
    "Invalid control character": "a control character stands in a string",
    "Invalid \\escape": "an unknown escape stands in a string",
    "Invalid \\uXXXX escape": "an unknown escape stands in a string",
    "Extra data": "text follows the end of the document",
}


def describe(error: json.JSONDecodeError) -> str:
    """Return what is wrong with a text and where, the same on every version of Python.

    Versions of CPython differ in wording, and from 3.13 on in the place of a trailing comma: there the comma is named,
    before the bracket after it. What is returned is kept in ledgers and compared years later.
    """
    at = error.pos
    if error.msg.startswith("Illegal trailing comma"):
        at += 1 + len(error.doc[at + 1 :]) - len(error.doc[at + 1 :].lstrip(_WHITE))
    line = error.doc.count("\n", 0, at) + 1
    column = at - error.doc.rfind("\n", 0, at)
    words = next((ours for theirs, ours in _WORDS.items() if error.msg.startswith(theirs)), "it is not JSON")
    return f"{words} at line {line} column {column}"


def _decoder(
    integer: Callable[[str], Any], real: Callable[[str], Any], constant: Callable[[str], Any]
) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=constant, parse_int=integer, parse_float=real, strict=True
    )


@lru_cache(maxsize=8)
def _spelled(number: Callable[[str], Any], constant: Callable[[str], Any]) -> json.JSONDecoder:
    return _decoder(number, number, constant)


def _decoded(text: str, decoder: json.JSONDecoder) -> Any:
    """What the decoder's own `decode` gives, without its two searches for white space where there mostly is none."""
    if text[:1] in _WHITE:
        return decoder.decode(text)
    value, end = decoder.raw_decode(text)
    return value if end == len(text) or not text[end:].strip(_WHITE) else decoder.decode(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise NotStrictJson(f"the key {json.dumps(twice)} stands twice in one object")
    return members


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


_DECODER = _decoder(_in_range(int), _in_range(float), _constant)


def _deeper(value: Any, limit: int) -> bool:
    """Whether containers are nested deeper than that, looked at level by level."""
    level = [value] if isinstance(value, (dict, list)) else []
    depth = 0
    while level and depth <= limit:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return depth > limit


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
