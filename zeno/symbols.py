"""Heuristic symbols: what a source file defines, found by rules that are data.

Each language is one JSON file in the contract (`rules/languages/<language>.json`,
schema `schemas/zeno/language.json`). It says how comments and strings look and
lists RE2 patterns for definitions. This module knows no language. It works in
two passes over the UTF-8 bytes of a text:

1. blank: comments and strings become spaces, byte for byte, line ends kept, so
   that prose is never mistaken for code and offsets stay true;
2. match: every rule is searched for in the blanked text.

Both passes take linear time. All patterns run under RE2. The scanner never looks
at a byte twice in the same state, because an unterminated comment or string
runs to the end of its line or of the text instead of being given up and tried
again. The rules keep to the discipline written down in the schema: whatever a
pattern reads past a line end stops at a character that no pattern reads across.
"""

import json
import re
from bisect import bisect_left
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import re2

_WORDS = re.compile(r"\w+")
_PART = re.compile(r"%\{([a-z]+)\}")
_SPACES = bytes(10 if byte == 10 else 32 for byte in range(256))
# Unicode classes make large automata; with too little memory RE2 would fall
# back to its slow (still linear) engine.
_MEMORY = 64 << 20


class Symbol(NamedTuple):
    """One definition: its kind, its name and the 1-based line of the name."""

    kind: str
    name: str
    line: int


class _Span(NamedTuple):
    """A comment or string that one regular expression cannot describe."""

    inside: Any  # matches whatever matters within: escape, end, nested begin
    nested: bool  # the begin counts inside, as in /* /* */ */
    close: bytes  # of fenced strings: the text of the end, % standing for the fence
    heredoc: bool  # the end is a line of its own holding the fence
    code: Any  # matches what matters within interpolated code


class _Rule(NamedTuple):
    kind: str
    pattern: Any
    name: int
    head: int
    inside: Any
    like: frozenset[str]


class _Language(NamedTuple):
    code: Any  # matches the next comment, string, or begin of a span
    spans: dict[bytes, _Span]
    reserved: frozenset[str]
    rules: list[_Rule]


def language_of(path: str) -> str | None:
    """Name the language of a file by the last component of its path.

    An exact file name wins over extensions, and the longest extension over
    shorter ones. Case matters (`.R` and `.r` are both listed). `.h` is read as
    C++, whose rules find what the C rules find, and Objective-C classes too.
    """
    file_name = path.rpartition("/")[2]
    index = _index()
    if file_name in index["filenames"]:
        return index["filenames"][file_name]
    dot = file_name.find(".")
    while dot >= 0:
        if language := index["extensions"].get(file_name[dot:]):
            return language
        dot = file_name.find(".", dot + 1)
    return None


def symbols_of(path: str, text: str) -> list[Symbol]:
    """List the symbols that a text defines, in the order of the text.

    An unknown language has no symbols. The text is decoded and its lines end
    with "\\n"; nothing is raised, whatever the text.
    """
    language = language_of(path)
    if language is None:
        return []
    rules = _load(language)
    # A lone surrogate cannot be encoded; it is no part of any name.
    data = _blank(text.encode(errors="replace"), rules)
    found: dict[int, tuple[str, str]] = {}
    for rule in rules.rules:
        names = {name for kind, name in found.values() if kind in rule.like}
        for start, name, head in _matches(rule, data):
            if rule.like and name not in names:
                continue
            if name in rules.reserved or not rules.reserved.isdisjoint(_WORDS.findall(head)):
                continue
            # The first rule that claims a name decides on its kind.
            found.setdefault(start, (rule.kind, name))
    symbols: dict[Symbol, None] = {}
    line, seen = 1, 0
    for start in sorted(found):
        line += data.count(b"\n", seen, start)
        seen = start
        symbols[Symbol(*found[start], line)] = None
    return list(symbols)


def _matches(rule: _Rule, data: bytes) -> list[tuple[int, str, str]]:
    """Find where a rule matches: offset of the name, the name, the words before."""
    result = []
    regions = [(0, len(data))]
    if rule.inside is not None:
        regions = [match.span() for match in rule.inside.finditer(data)]
    for position, end in regions:
        while match := rule.pattern.search(data, position, end):
            start, stop = match.span(rule.name)
            head = match.group(rule.head).decode(errors="replace") if rule.head else ""
            result.append((start, match.group(rule.name).decode(errors="replace"), head))
            # The last character, often a brace, may begin the next match.
            position = max(stop, match.end() - 1)
    return result


def _blank(data: bytes, language: _Language) -> bytes:
    """Put spaces for comments and strings, so that only code is left."""
    pieces: list[bytes] = []
    kept = position = 0
    fences: dict[bytes, list[int]] = {}
    while match := language.code.search(data, position):
        begin, position = match.span()
        if match.lastindex:
            span = language.spans.get(match.lastgroup)
            if span is None:  # only the group of this token is to go
                begin, position = match.span(match.lastindex)
            else:
                if span.heredoc:
                    fences = fences or _lone_words(data)
                begin, position = _end(data, match, span, language, fences)
        pieces += data[kept:begin], data[begin:position].translate(_SPACES)
        kept = position
    pieces.append(data[kept:])
    return b"".join(pieces)


def _end(data: bytes, match: Any, span: _Span, language: _Language, fences: dict[bytes, list[int]]) -> tuple[int, int]:
    """Find what to blank for a span that begins with a match."""
    begin, position = match.span()
    if span.inside is not None:
        return begin, _leave(data, position, span, language)
    fence = match.group(match.lastindex + 1)
    if not span.heredoc:
        return begin, _after(data, position, span.close.replace(b"%", fence))
    lines = fences.get(fence, [])
    line = bisect_left(lines, position)
    if line == len(lines):  # a shift operator, not a heredoc
        return position, position
    return data.find(b"\n", position), lines[line]


def _leave(data: bytes, position: int, span: _Span, language: _Language) -> int:
    """Find the end of a span that may nest comments, strings and code."""
    modes = [(span.inside, span)]
    depth = [1]
    while modes:
        pattern, span = modes[-1]
        match = pattern.search(data, position)
        if match is None:
            return len(data)
        position = match.end()
        group = match.lastgroup
        if group == b"more":
            depth[-1] += 1
        elif group == b"last":
            depth[-1] -= 1
            if not depth[-1]:
                modes.pop()
                depth.pop()
        elif group == b"code":
            modes.append((span.code, span))
            depth.append(1)
        elif group == b"stop":  # a line end, in a string that has to end before it
            position = match.start()
            strings = 2 if pattern is span.code else 1
            del modes[-strings:], depth[-strings:]
        elif group in language.spans:
            inner = language.spans[group]
            if inner.inside is not None:
                modes.append((inner.inside, inner))
                depth.append(1)
            elif not inner.heredoc:
                fence = match.group(match.lastindex + 1)
                position = _after(data, position, inner.close.replace(b"%", fence))
    return position


def _after(data: bytes, position: int, close: bytes) -> int:
    at = data.find(close, position)
    return len(data) if at < 0 else at + len(close)


def _lone_words(data: bytes) -> dict[bytes, list[int]]:
    """Map each line that could end a heredoc to its offsets, in one go.

    Looking for the end of each heredoc by itself would take quadratic time on a
    text of many beginnings without an end.
    """
    found: dict[bytes, list[int]] = {}
    position = 0
    for line in data.split(b"\n"):
        word = line.strip().rstrip(b";,)")
        if word:
            found.setdefault(word, []).append(position)
        position += len(line) + 1
    return found


@cache
def _index() -> dict[str, dict[str, str]]:
    index: dict[str, dict[str, str]] = json.loads(_read("languages.json"))
    return index


@cache
def _load(language: str) -> _Language:
    """Read the data of a language and compile it."""
    data = json.loads(_read("languages", f"{language}.json"))
    parts = data.get("parts", {})

    def pattern(rule: dict[str, Any], key: str) -> Any:
        if key not in rule:
            return None
        return _compile(_PART.sub(lambda part: parts[part[1]], rule[key]))

    rules = []
    for rule in data["rules"]:
        compiled = pattern(rule, "pattern")
        groups = compiled.groupindex
        rules.append(
            _Rule(
                kind=rule["kind"],
                pattern=compiled,
                name=groups[b"name"],
                head=groups.get(b"head", 0),
                inside=pattern(rule, "inside"),
                like=frozenset(rule.get("like", ())),
            )
        )
    code, spans = _lexis(data.get("lexis", {}))
    return _Language(code, spans, frozenset(data.get("reserved", ())), rules)


def _lexis(lexis: dict[str, Any]) -> tuple[Any, dict[bytes, _Span]]:
    """Build the pattern of everything to blank, and the spans it may begin."""
    quote = re2.escape
    code = list(lexis.get("tokens", ()))
    nested = []
    spans: dict[bytes, _Span] = {}

    def begin(pattern: str) -> bytes:
        group = f"span{len(code)}"
        code.append(f"(?P<{group}>{pattern})")
        return group.encode()

    for heredoc in lexis.get("heredocs", ()):
        spans[begin(heredoc)] = _Span(None, False, b"", True, None)
    for fenced in lexis.get("fenced", ()):
        spans[begin(fenced["open"])] = _Span(None, False, fenced["close"].encode(), False, None)
    for comment in lexis.get("block_comments", ()):
        first, last = quote(comment["open"]), quote(comment["close"])
        if comment["nested"]:
            inside = _compile(f"(?P<more>{first})|(?P<last>{last})")
            spans[begin(first)] = _Span(inside, True, b"", False, None)
        else:
            code.append(rf"{first}(?s:.*?)(?:{last}|\z)")
    code += [quote(comment) + r"[^\n]*" for comment in lexis.get("line_comments", ())]
    for string in lexis.get("strings", ()):
        first, last = quote(string["open"]), quote(string["close"])
        escape = quote(string["escape"]) if "escape" in string else r"[^\x00-\x{10FFFF}]"
        if "code" in string:
            nested.append((begin(first), string, escape, last))
        else:
            end = last if string["lines"] else f"{last}|$"
            other = "." if string["lines"] else r"[^\n]"
            code.append(rf"(?s:{first}(?:{escape}.|{other})*?(?:{end}|\z))")
    blank = "|".join(code)
    for group, string, escape, last in nested:
        stop = "" if string["lines"] else r"|(?P<stop>\n)"
        into, more, back = (quote(string["code"][key]) for key in ("open", "nest", "close"))
        spans[group] = _Span(
            _compile(rf"(?s:{escape}.)|(?P<code>{into})|(?P<last>{last}){stop}"),
            False,
            b"",
            False,
            _compile(rf"(?P<more>{more})|(?P<last>{back})|{blank}{stop}"),
        )
    return _compile(blank or r"[^\x00-\x{10FFFF}]"), spans


def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return re2.compile(("(?m)" + pattern).encode(), options)


def _read(*names: str) -> str:
    return files("contract_spec").joinpath("rules", *names).read_text("utf-8")
