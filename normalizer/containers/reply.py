"""Read the JSON in a judge's reply, and remove fences or prose around it if the dialect allows it."""

import json
import re
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents.lossless import Number, parse
from normalizer.documents.settings import LIMITS

_FENCE = re.compile(r"\s*```[A-Za-z0-9_+-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)
_decoder = json.JSONDecoder(parse_int=Number, parse_float=Number)


class ReplyValue(NamedTuple):
    """The value in a reply, or why there is none."""

    value: Any
    how: str = ""
    """`fence` or `prose`; empty where nothing stood around the JSON."""
    problem: str = ""
    declaration: str = ""
    """The unwrapping that would read it, where there is one that the dialect does not allow."""


def read(text: str, allowed: list[str]) -> ReplyValue:
    """Read a reply as strict JSON, unwrapped only as allowed."""
    value, problem = _strict(text)
    if not problem:
        return ReplyValue(value)
    for how, inner in (("fence", _find_fenced(text)), ("prose", _only_object(text))):
        if inner is None:
            continue
        value, inner_problem = _strict(inner)
        if inner_problem:
            continue
        if how in allowed:
            return ReplyValue(value, how)
        return ReplyValue(None, problem="the reply is not JSON by itself", declaration=how)
    return ReplyValue(None, problem=f"the reply holds no JSON: {problem}")


def _strict(text: str) -> tuple[Any, str]:
    try:
        return parse(text.encode("utf-8", "surrogatepass"), LIMITS["max_depth"]), ""
    except spec.NotStrictJson as error:
        return None, str(error)


def _find_fenced(text: str) -> str | None:
    match = _FENCE.fullmatch(text)
    return match[1] if match is not None and text.count("```") == 2 else None


def _only_object(text: str) -> str | None:
    """Return the text of the one JSON object in a text, if no other brace stands in the text.

    A brace that does not decode may be the outer object of one that does, whose score is then another one.
    """
    start = text.find("{")
    if start < 0:
        return None
    try:
        _, end = _decoder.raw_decode(text, start)
    except (json.JSONDecodeError, RecursionError):
        return None
    outside = text[:start] + text[end:]
    return None if "{" in outside or "}" in outside else text[start:end]
