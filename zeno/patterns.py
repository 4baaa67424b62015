"""The one door to RE2, which defines the dialect: every match is linear in the text, whatever the pattern."""

from collections.abc import Callable
from functools import cache
from typing import Any

import re2

from zeno.errors import InvalidArgs, InvalidPattern

Matches = Callable[[bytes], bool]
"""Whether a text, as UTF-8, matches."""

Finds = Callable[[bytes], tuple[int, int] | None]
"""Where in a text, as UTF-8, the first match begins and ends."""


def searcher(pattern: str, field: str, *, case_sensitive: bool = True, literal: bool = False) -> Matches:
    """Finds what a client asked for anywhere in a text; `field` names the argument in the refusal."""
    compiled = _asked(pattern, field, case_sensitive, literal)
    return lambda text: compiled.search(text) is not None


def finder(pattern: str, field: str, *, case_sensitive: bool = True, literal: bool = False) -> Finds:
    """The same, but tells where."""
    compiled = _asked(pattern, field, case_sensitive, literal)

    def find(text: bytes) -> tuple[int, int] | None:
        found = compiled.search(text)
        return found.span() if found else None

    return find


def _asked(pattern: str, field: str, case_sensitive: bool, literal: bool) -> Any:
    try:
        return _compile(pattern.encode(), _options(case_sensitive, literal))
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error.args[0])
        raise InvalidPattern(
            f"{field} is not an RE2 regular expression: {reason} (RE2 has no back-references, no look-around and no "
            f"repetition above 1000)"
        ) from None


def full_matcher(pattern: str, field: str, case_sensitive: bool = True) -> Matches:
    """Matches whole texts against what a glob was translated to; well formed, so only its size can be refused."""
    try:
        compiled = _compile(pattern.encode(), _options(case_sensitive, False))
    except re2.error:
        raise InvalidArgs(f"{field} is too large a glob; use fewer or shorter alternatives") from None
    return lambda text: compiled.fullmatch(text) is not None


def bytes_matcher(pattern: bytes) -> Matches:
    """Matches whole texts that are just bytes, one by one, against what an ignore rule was translated to."""
    compiled = _compile(pattern, _options(True, False, encoded=False))
    return lambda text: compiled.fullmatch(text) is not None


@cache
def _options(case_sensitive: bool, literal: bool, encoded: bool = True) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.UTF8 if encoded else re2.Options.Encoding.LATIN1
    options.case_sensitive = case_sensitive
    options.literal = literal
    options.log_errors = False
    # Nobody asks for groups, and thousands of nested ones cost gigabytes.
    options.never_capture = True
    return options


def _compile(pattern: bytes, options: Any) -> Any:
    # The library keeps its last 128 patterns, each with a cache of megabytes: a long-lived server must not.
    re2.purge()
    return re2.compile(pattern, options)
