"""Regular expressions of a dialect: the value inside a text, and texts that say that a judge failed."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import re2

from normalizer.containers.conversions import MISSING, Read
from normalizer.errors import UnusableDocument

_MEMORY = 1 << 23
"""Bytes that a compiled pattern may take: a dialect may come from anybody."""


@cache
def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(pattern, options)


def _require_pattern(pattern: str, at: str) -> Any:
    try:
        return _compile(pattern)
    except re2.error:
        raise UnusableDocument(f"the dialect's {at}: {pattern!r} is no regular expression of RE2") from None


def extractor(pattern: str, at: str) -> Callable[[Read], Read]:
    """Return a function that takes the value of the pattern's group out of a text. `at` names it in errors."""
    compiled = _require_pattern(pattern, at)
    if compiled.groups != 1:
        raise UnusableDocument(f"the dialect's {at}: {pattern!r} must have one group, which is the value")

    def extract(read: Read) -> Read:
        if type(read.value) is not str:
            return read
        found: str | None = None
        for match in compiled.finditer(read.value):
            group = match.group(1)
            if group is None or group == found:
                continue
            if found is not None:
                return Read(MISSING, read.take, failed=f"its pattern is found with {found!r} and with {group!r}")
            found = group
        return read._replace(value=MISSING) if found is None else Read(found, read.take, "pattern")

    return extract


def failure_finder(patterns: Sequence[str], at: str) -> Callable[[Any], str]:
    """Return a function that says by which pattern a value is a failure; it returns "" if it is none."""
    compiled = [(pattern, _require_pattern(pattern, at)) for pattern in patterns]

    def find(value: Any) -> str:
        if type(value) is not str:
            return ""
        return next((f"it is like {pattern}" for pattern, each in compiled if each.search(value)), "")

    return find
