"""Replace comments and strings by spaces, so that only code is left.

The syntax of comments and strings is data: the `lexis` object of
`rules/languages/<language>.json`. Every byte of a comment or string becomes a
space; line ends and all offsets stay.

The scan takes linear time: it runs under RE2 and never backtracks. A comment or
string that is not closed runs to the end of its line or of the text.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

import re2

_SPACES = bytes(10 if byte == 10 else 32 for byte in range(256))
_NEVER = r"[^\x00-\x{10FFFF}]"
# Unicode classes make large automata; with too little memory RE2 would fall back
# to its slow (still linear) engine.
_MEMORY = 64 << 20


def compile_pattern(pattern: str) -> Any:
    """Compile for RE2 over UTF-8 bytes; ^ and $ mean the ends of any line."""
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return re2.compile(f"(?m){pattern}".encode(), options)


class _Fenced(NamedTuple):
    """A string whose closing delimiter repeats a part of the opening one."""

    close: bytes | None  # % stands for that part; None is a heredoc: a line of it


class _Nested(NamedTuple):
    """A comment that can contain comments, or a string that can contain code.

    Its token ends where the inner comment or code begins. Comments and strings
    without any are plain tokens.
    """

    inside: Any  # what to stop at in prose
    code: Any  # what to stop at in the code within

    def make_stack(self) -> list[tuple[Any, "_Nested", int]]:
        """Return the initial stack of the scan: pattern, span and number of open brackets."""
        if self.code is None:
            return [(self.inside, self, 2)]
        return [(self.inside, self, 1), (self.code, self, 1)]


class Blanker:
    """Blanks the comments and strings of one language."""

    def __init__(self, lexis: dict[str, Any]) -> None:
        """Compile the `lexis` object of a language."""
        quote = re2.escape
        self._spans: dict[bytes, _Fenced | _Nested] = {}
        tokens: list[str] = list(lexis.get("tokens", ()))

        def span(pattern: str, token: str = "(?:") -> bytes:  # noqa: S107 - a token of a language, not a secret
            group = f"span{len(tokens)}"
            tokens.append(f"{token}(?P<{group}>{pattern}))")
            return group.encode()

        for pattern in lexis.get("heredocs", ()):
            self._spans[span(pattern)] = _Fenced(None)
        for fenced in lexis.get("fenced", ()):
            self._spans[span(fenced["open"])] = _Fenced(fenced["close"].encode())
        for comment in lexis.get("block_comments", ()):
            first, last = quote(comment["open"]), quote(comment["close"])
            token = rf"{first}(?s:.*?)(?:{last}|\z"
            if comment["nested"]:
                inside = compile_pattern(f"(?P<more>{first})|(?P<last>{last})")
                self._spans[span(first, token + "|")] = _Nested(inside, None)
            else:
                tokens.append(token + ")")
        tokens += [rf"{quote(comment)}[^\n]*" for comment in lexis.get("line_comments", ())]
        with_code = []
        for string in lexis.get("strings", ()):
            first, last = quote(string["open"]), quote(string["close"])
            escaped = quote(string["escape"]) + "(?s:.)" if "escape" in string else _NEVER
            other, end = ("(?s:.)", r"\z") if string["lines"] else (r"[^\n]", "$")
            token = f"{first}(?:{escaped}|{other})*?(?:{last}|{end}"
            if "code" in string:
                into = quote(string["code"]["open"])
                with_code.append((span(into, token + "|"), escaped, last, string))
            else:
                tokens.append(f"(?:{token}))+")
        code = "|".join(tokens) or _NEVER
        for group, escaped, last, string in with_code:
            stop = "" if string["lines"] else r"|(?P<stop>\n)"
            into, more, back = (quote(string["code"][key]) for key in ("open", "nest", "close"))
            self._spans[group] = _Nested(
                compile_pattern(f"(?P<code>{into})|{escaped}|(?P<last>{last}){stop}"),
                # The braces come first: a token may begin with one, too.
                compile_pattern(f"(?P<more>{more})|(?P<last>{back})|{code}{stop}"),
            )
        self._code = compile_pattern(code)

    def blank(self, data: bytes) -> bytes:
        """Return the text with spaces in place of comments and strings."""
        blanked = bytearray(data)
        for begin, end in self._prose(data):
            blanked[begin:end] = data[begin:end].translate(_SPACES)
        return bytes(blanked)

    def _prose(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield start and end of each comment and string."""
        lines: dict[bytes, list[int]] | None = None
        position = 0
        searching = True
        while searching:
            searching = False
            for match in self._code.finditer(data, position):
                span = self._spans.get(match.lastgroup)
                if span is None:  # a token, or the part of it that is a group
                    yield match.span(match.lastindex or 0)
                    continue
                begin, position = match.span()
                if isinstance(span, _Nested):
                    position = self._leave(data, position, span)
                elif span.close is not None:
                    position = _end_of_fenced(data, match, span.close)
                else:
                    lines = _lone_words(data) if lines is None else lines
                    begin, position = _heredoc(data, match, lines)
                yield begin, position
                searching = True  # from where the span ends
                break

    def _leave(self, data: bytes, position: int, span: _Nested) -> int:
        """Return the end of a nested span."""
        stack = span.make_stack()
        while stack:
            pattern, span, depth = stack.pop()
            match = pattern.search(data, position)
            if match is None:
                return len(data)
            position = match.end()
            group = match.lastgroup
            if group == b"stop":  # the line ends, and with it the string
                position = match.start()
                if pattern is span.code:
                    stack.pop()
                continue
            depth += (group == b"more") - (group == b"last")
            if depth:
                stack.append((pattern, span, depth))
            if group == b"code":
                stack.append((span.code, span, 1))
            inner = self._spans.get(group)
            if isinstance(inner, _Nested):
                stack += inner.make_stack()
            elif inner is not None and inner.close is not None:
                position = _end_of_fenced(data, match, inner.close)
        return position


def _end_of_fenced(data: bytes, match: Any, close: bytes) -> int:
    close = close.replace(b"%", match.group(match.lastindex + 1))
    at = data.find(close, match.end())
    return len(data) if at < 0 else at + len(close)


def _heredoc(data: bytes, match: Any, lines: dict[bytes, list[int]]) -> tuple[int, int]:
    """Return start and end of a heredoc's lines; an empty range if it has no end, since `<<` was a shift then."""
    ends = lines.get(match.group(match.lastindex + 1), [])
    following = bisect_left(ends, match.end())
    if following == len(ends):
        return match.end(), match.end()
    return data.find(b"\n", match.end()), ends[following]


def _lone_words(data: bytes) -> dict[bytes, list[int]]:
    """Map the lines that could end a heredoc to their offsets, in one pass.

    Searching for the end of each heredoc separately would take quadratic time if
    many begin and none ends.
    """
    found: dict[bytes, list[int]] = {}
    position = 0
    for line in data.split(b"\n"):
        if word := line.strip().rstrip(b";,)"):
            found.setdefault(word, []).append(position)
        position += len(line) + 1
    return found
