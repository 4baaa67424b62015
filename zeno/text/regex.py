"""The one door to RE2, which defines the dialect: every match is linear in the text, whatever the pattern."""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import re2

from zeno.errors import InvalidArgs, InvalidPattern

Matches = Callable[[bytes], bool]
"""Whether a text, as UTF-8, matches."""

Finds = Callable[[bytes], tuple[int, int] | None]
"""Where in a text, as UTF-8, the first match begins and ends."""

Scan = Callable[[bytes | bytearray, int, int], tuple[int, int]]
"""Where in a part of a text the first match starts and ends; (-1, -1) where there is none."""

# The library's own `search` makes three objects for each call; a search makes thousands of calls.
_UNANCHORED = re2._re2.RE2.Anchor.UNANCHORED
_WHOLE = re2._re2.RE2.Anchor.ANCHOR_BOTH


# Above this length RE2 may refuse a literal for its size, and says so.
_SHORT = 1024


def searcher(pattern: str, field: str, *, case_sensitive: bool = True, literal: bool = False) -> Matches:
    """Finds what a client asked for anywhere in a text; `field` names the argument in the refusal."""
    if literal and len(pattern) <= _SHORT:
        # What RE2 says of a literal, without the time to make a matcher for it, or not before it is needed.
        needle = pattern.encode()
        if case_sensitive:
            return lambda text: needle in text
        return lambda text: _any_case(needle)(_UNANCHORED, text, 0, len(text))[0][0] >= 0
    match = _asked(pattern, field, case_sensitive, literal)
    return lambda text: match(_UNANCHORED, text, 0, len(text))[0][0] >= 0


def finder(pattern: str, field: str, *, case_sensitive: bool = True, literal: bool = False) -> Finds:
    """The same, but tells where."""
    match = _asked(pattern, field, case_sensitive, literal)

    def find(text: bytes) -> tuple[int, int] | None:
        found: tuple[int, int] = match(_UNANCHORED, text, 0, len(text))[0]
        return found if found[0] >= 0 else None

    return find


def _asked(pattern: str, field: str, case_sensitive: bool, literal: bool) -> Any:
    try:
        return _compile(pattern.encode(), _options(case_sensitive, literal))
    except re2.error as error:
        if literal:
            raise InvalidPattern(f"{field} is too long a text to search for; search for a part of it") from None
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error.args[0])
        raise InvalidPattern(
            f"{field} is not an RE2 regular expression: {reason} (RE2 has no back-references, no look-around and no "
            f"repetition above 1000)"
        ) from None


def full_matcher(pattern: str, field: str, case_sensitive: bool = True) -> Matches:
    """Matches whole texts against what a glob was translated to; well formed, so only its size can be refused."""
    try:
        match = _compile(pattern.encode(), _options(case_sensitive, False))
    except re2.error:
        raise InvalidArgs(f"{field} is too large a glob; use fewer or shorter alternatives") from None
    return lambda text: match(_WHOLE, text, 0, len(text))[0][0] >= 0


def scanner(pattern: str, *, case_sensitive: bool = True, literal: bool = False) -> Scan | None:
    """Finds matches in a text of many lines, none of them across a line's end; None where RE2 has no room for it."""
    try:
        if literal and not case_sensitive:
            match = _any_case(pattern.encode())
        else:
            match = _compile(pattern.encode(), _options(case_sensitive, literal, within_lines=True))
    except re2.error:
        return None

    def scan(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
        found: tuple[int, int] = match(_UNANCHORED, text, start, end)[0]
        return found

    return scan


def program_size(pattern: str) -> int:
    """How many instructions RE2 compiles a regular expression to; 0 for one that it refuses."""
    try:
        size: int = re2._re2.RE2(pattern.encode(), _options(True, False)).ProgramSize()
    except (re2.error, UnicodeEncodeError):
        return 0
    return max(0, size)


@lru_cache(maxsize=1)
def _any_case(needle: bytes) -> Any:
    # Kept for the search under way, which asks about single lines and about texts of many. That it finds nothing across
    # the ends of lines makes no difference to a single one, which holds none.
    return _compile(needle, _options(False, True, within_lines=True))


def bytes_matcher(pattern: bytes) -> Matches:
    """Matches whole texts that are just bytes, one by one, against what an ignore rule was translated to."""
    match = _compile(pattern, _options(True, False, encoded=False))
    return lambda text: match(_WHOLE, text, 0, len(text))[0][0] >= 0


@cache
def _options(case_sensitive: bool, literal: bool, within_lines: bool = False, encoded: bool = True) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.UTF8 if encoded else re2.Options.Encoding.LATIN1
    options.case_sensitive = case_sensitive
    options.literal = literal
    options.never_nl = within_lines
    options.log_errors = False
    # Nobody asks for groups, and thousands of nested ones cost gigabytes.
    options.never_capture = True
    return options


def _compile(pattern: bytes, options: Any) -> Any:
    # Not by way of re2.compile: it keeps its last 128 patterns, each with a cache of megabytes.
    compiled = re2._re2.RE2(pattern, options)
    if not compiled.ok():
        raise re2.error(compiled.error())
    return compiled.Match
