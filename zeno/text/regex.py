"""Wrapper of RE2, which defines the dialect of regular expressions. Matching takes linear time for every pattern."""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import re2
from stringzilla import find as find_bytes

from zeno.errors import InvalidArgs, InvalidPattern
from zeno.meter import Scan

Matches = Callable[[bytes], bool]
"""Takes a text as UTF-8; returns whether it matches."""

Finds = Callable[[bytes], tuple[int, int] | None]
"""Takes a text as UTF-8; returns start and end of the first match, or None."""

# The public `search` makes three objects for each call, and a search makes thousands of calls.
_UNANCHORED = re2._re2.RE2.Anchor.UNANCHORED
_WHOLE = re2._re2.RE2.Anchor.ANCHOR_BOTH


# RE2 may refuse longer literals for their size.
_SHORT = 1024


def searcher(pattern: str, field: str, *, case_sensitive: bool = True, literal: bool = False) -> Matches:
    """Return a test whether a text contains a match. Raises InvalidPattern, naming `field`, if RE2 refuses it."""
    short = literal and len(pattern) <= _SHORT
    # Short literals need no expression, or not before it is used.
    match = None if short else _compile_asked(pattern, field, case_sensitive, literal)
    needle = pattern.encode()
    if literal and case_sensitive:
        # The verdict of RE2, in time that does not depend on the length of the literal.
        return lambda text: needle in text
    if match is None:
        return lambda text: _any_case(needle)(_UNANCHORED, text, 0, len(text))[0][0] >= 0
    return lambda text: match(_UNANCHORED, text, 0, len(text))[0][0] >= 0


def finder(pattern: str, field: str, *, case_sensitive: bool = True, literal: bool = False) -> Finds:
    """Return a function that finds the first match in a text. Raises InvalidPattern, naming `field`."""
    match = _compile_asked(pattern, field, case_sensitive, literal)
    if literal and case_sensitive:
        match = _exactly(pattern.encode())

    def find(text: bytes) -> tuple[int, int] | None:
        found: tuple[int, int] = match(_UNANCHORED, text, 0, len(text))[0]
        return found if found[0] >= 0 else None

    return find


def _compile_asked(pattern: str, field: str, case_sensitive: bool, literal: bool) -> Any:
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


def _exactly(needle: bytes) -> Any:
    """Return a function like RE2's `Match` that finds a literal, in time that does not depend on its length."""

    def match(_anchor: object, text: bytes | bytearray, start: int, end: int) -> list[tuple[int, int]]:
        found = text.find(needle, start, end)
        return [(found, found + len(needle) if found >= 0 else -1)]

    return match


def _scan_by(match: Any) -> Scan:
    def scan(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
        found: tuple[int, int] = match(_UNANCHORED, text, start, end)[0]
        return found

    return scan


def full_matcher(pattern: str, field: str, case_sensitive: bool = True) -> Matches:
    """Return a test of whole texts for an expression made from globs. Raises InvalidArgs if it is too large."""
    try:
        match = _compile(pattern.encode(), _options(case_sensitive, False))
    except re2.error:
        raise InvalidArgs(f"{field} is too large a glob; use fewer or shorter alternatives") from None
    return lambda text: match(_WHOLE, text, 0, len(text))[0][0] >= 0


def scanner(pattern: str, *, case_sensitive: bool = True, literal: bool = False) -> Scan | None:
    """Return a scan of a text of many lines for matches within a line; None if the pattern is too large for RE2.

    `^` and `$` of a regular expression are the ends of lines.
    """
    try:
        if literal and not case_sensitive:
            match = _any_case(pattern.encode())
        else:
            asked = pattern if literal else f"(?m){pattern}"
            match = _compile(asked.encode(), _options(case_sensitive, literal, within_lines=True))
    except re2.error:
        return None
    return _scan_by(match)


def literal_scan(needle: bytes) -> Scan:
    """Return a scan for a literal that is not empty.

    RE2 finds literals at a speed that depends on how frequent their first and last bytes are (2 to 30 GB/s on source
    code, StringZilla 13 to 27), and at eight times the cost of a call.
    """
    length = len(needle)

    def scan(text: bytes | bytearray, start: int, end: int) -> tuple[int, int]:
        found: int = find_bytes(text, needle, start, end)
        return found, found + length

    return scan


def text_scanner(pattern: str, field: str, *, case_sensitive: bool = True, literal: bool = False) -> Scan:
    """Return a scan of a whole text for matches that may run over several lines; `^` and `$` are the ends of lines.

    Raises InvalidPattern, naming `field`.
    """
    match = _compile_asked(pattern if literal else f"(?m){pattern}", field, case_sensitive, literal)
    if literal and case_sensitive:
        match = _exactly(pattern.encode())
    return _scan_by(match)


def program_size(pattern: str, *, literal: bool = False) -> int:
    """Return the number of instructions of a compiled pattern; 0 if RE2 refuses it."""
    try:
        size: int = re2._re2.RE2(pattern.encode(), _options(True, literal)).ProgramSize()
    except (re2.error, UnicodeEncodeError):
        return 0
    return max(0, size)


def states(pattern: str, *, case_sensitive: bool = True, literal: bool = False) -> int:
    """Return a measure of the work that a pattern takes on a byte of text; 0 if RE2 refuses it.

    It is the size of the program that matches single bytes. There a class takes a few instructions, as it does when it
    is matched; in the program for UTF-8 `\\pL` has 800 of them, but only a few are looked at for one byte.
    """
    if literal and case_sensitive:
        # Looked for letter by letter, whatever its length.
        return 1
    try:
        size: int = re2._re2.RE2(pattern.encode(), _options(case_sensitive, literal, encoded=False)).ProgramSize()
    except (re2.error, UnicodeEncodeError):
        size = -1
    return size if size > 0 else program_size(pattern, literal=literal)


@lru_cache(maxsize=1)
def _any_case(needle: bytes) -> Any:
    # Cached for the current search, which uses it on single lines and on whole texts. `never_nl` makes no difference
    # for a single line, which has no line feed.
    return _compile(needle, _options(False, True, within_lines=True))


def bytes_matcher(pattern: bytes) -> Matches:
    """Return a test of whole byte strings for an expression made from an ignore rule."""
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
    # Groups are never read, and thousands of nested ones cost gigabytes.
    options.never_capture = True
    return options


def _compile(pattern: bytes, options: Any) -> Any:
    # Not `re2.compile`: it keeps the last 128 patterns, each with a cache of megabytes.
    compiled = re2._re2.RE2(pattern, options)
    if not compiled.ok():
        raise re2.error(compiled.error())
    return compiled.Match
