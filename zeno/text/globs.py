"""Globs over relative paths, purely: Python's fnmatch with two additions, run by RE2 so that none can be slow.

`**/` at the start of a component also matches nothing; `{a,b}` are alternatives, expanded before anything else is read.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from zeno.errors import InvalidArgs
from zeno.text.path_names import Paths
from zeno.text.regex import full_matcher, scanner

# Nested braces multiply. No person writes a glob with more alternatives; a hostile one stops here.
MAX_ALTERNATIVES = 1024
# They also repeat what stands around them: so many characters may come of all the braces of one argument.
MAX_EXPANDED = 1 << 20
WILDCARD = re.compile(r"[*?\[{]")
"""What makes a glob more than a path."""
# Before a star, which matches as much, `**/` says nothing.
_NEEDLESS = re.compile(r"(^|/)(?:\*\*/)+(?=\*)")


class Globs:
    """Some globs, compiled: a path matches if one of them does."""

    def __init__(self, alternatives: list[str], field: str, case_sensitive: bool) -> None:
        self._alternatives = alternatives
        self._case_sensitive = case_sensitive
        self._pattern = "|".join(f"(?:{translate(text)})" for text in alternatives)
        self._matches = full_matcher(self._pattern, field, case_sensitive) if alternatives else None

    def __call__(self, path: str) -> bool:
        """Whether a path matches."""
        return self._matches is not None and self._matches(path.encode())

    def of(self, paths: Paths) -> list[str]:
        """The paths that match, in order; the same as asking about each, but in one go where that is possible."""
        simple = self._case_sensitive and len(self._alternatives) == 1
        ends = _ends(self._alternatives[0]) if simple else None
        if ends is not None:
            head, tail = ends
            if not head:
                return [path for path in paths if path.endswith(tail)]
            shortest = len(head) + len(tail)
            return [path for path in paths if path.startswith(head) and path.endswith(tail) and len(path) >= shortest]
        scan = None
        if self._matches is not None:
            scan = scanner(f"(?m:^)(?:{self._pattern})(?m:$)", case_sensitive=self._case_sensitive)
        if scan is None or paths.text is None:
            return [path for path in paths if self(path)]
        return paths.found(scan)


def matcher(globs: Iterable[str], field: str, *, case_sensitive: bool = True) -> Globs:
    """The globs, compiled. `field` names the argument in errors."""
    alternatives: list[str] = []
    room = MAX_EXPANDED
    for glob in globs:
        texts = expand(glob, field, room)
        room -= sum(len(text) + 1 for text in texts) if len(texts) > 1 else 0
        alternatives += texts
    return Globs(alternatives, field, case_sensitive)


def reach(globs: Sequence[str], prefixes: Sequence[str] = ()) -> Callable[[str], bool]:
    """Whether a file below a directory could match: what stands before a glob's first wildcard must not forbid it."""
    literals = [WILDCARD.split(glob, maxsplit=1)[0] for glob in globs]
    open_ended = (*(part for part, glob in zip(literals, globs, strict=True) if part != glob), *prefixes)
    targets = [*literals, *prefixes]
    return lambda path: (
        path == "./" or path.startswith(open_ended) or any(target.startswith(path) for target in targets)
    )


def _ends(glob: str) -> tuple[str, str] | None:
    """What a path must begin and end with, where that is all that a glob asks for."""
    glob = _NEEDLESS.sub(r"\1", glob)
    head, star, tail = glob.partition("*")
    tail = tail.lstrip("*")
    component = head == "" or head.endswith("/")
    if not star or "*" in tail or (component and tail.startswith("/")) or any(char in glob for char in "?["):
        return None
    return head, tail


def expand(glob: str, field: str, room: int = MAX_EXPANDED) -> list[str]:
    """The alternatives of a glob with its braces resolved, innermost braces included, in the order of writing."""
    braces = {start: found for start, found in sorted(_partners(glob).items()) if found[1]}
    if not braces:
        return [glob]
    # One alternative, and at least one more for each comma, however braces nest or follow each other.
    _require_sense(1 + sum(len(commas) for _, commas in braces.values()), 0, field, room)
    starts = list(braces)
    resolved: dict[int, list[str]] = {}

    def resolve(start: int, end: int) -> list[str]:
        """What stands in a range, whose braces are resolved."""
        texts, at, index = [""], start, bisect_left(starts, start)
        while index < len(starts) and starts[index] < end:
            opening = starts[index]
            literal, parts = glob[at:opening], resolved[opening]
            count = len(texts) * len(parts)
            size = _size(texts) * len(parts) + len(literal) * count + _size(parts) * len(texts)
            _require_sense(count, size, field, room)
            texts = [text + literal + part for text in texts for part in parts]
            at = braces[opening][0] + 1
            index = bisect_left(starts, at)
        _require_sense(len(texts), _size(texts) + (end - at) * len(texts), field, room)
        return [text + glob[at:end] for text in texts]

    # Innermost first: what stands in braces begins after them.
    for start in reversed(starts):
        end, commas = braces[start]
        parts = [text for a, b in pairwise([start, *commas, end]) for text in resolve(a + 1, b)]
        _require_sense(len(parts), _size(parts), field, room)
        resolved[start] = parts
    return resolve(0, len(glob))


def _size(texts: list[str]) -> int:
    return sum(map(len, texts))


def _require_sense(count: int, size: int, field: str, room: int) -> None:
    """Refuse so many alternatives, of so many characters in all."""
    if count > MAX_ALTERNATIVES:
        raise InvalidArgs(f"{field}: the braces stand for more than {MAX_ALTERNATIVES} alternatives; use fewer")
    if size + count > room:
        raise InvalidArgs(f"{field}: the braces stand for too much text; use fewer or shorter alternatives")


def _partners(glob: str) -> dict[int, tuple[int, list[int]]]:
    """For each opening brace that is closed: where, and its own commas."""
    found: dict[int, tuple[int, list[int]]] = {}
    open_: list[tuple[int, list[int]]] = []
    for index, char in enumerate(glob):
        if char == "{":
            open_.append((index, []))
        elif char == "}" and open_:
            start, commas = open_.pop()
            found[start] = (index, commas)
        elif char == "," and open_:
            open_[-1][1].append(index)
    return found


def translate(glob: str) -> str:
    """The RE2 expression that fully matches what the glob, without braces, matches."""
    out: list[str] = []
    index = 0
    while index < len(glob):
        if glob.startswith("**/", index) and (index == 0 or glob[index - 1] == "/"):
            out.append("(?:(?s:.*)/)?")
            index += 3
            continue
        char = glob[index]
        index += 1
        if char == "*":
            if not out or out[-1] != "(?s:.*)":
                out.append("(?s:.*)")
        elif char == "?":
            out.append("(?s:.)")
        elif char == "[" and (end := _class_end(glob, index)) is not None:
            out.append(_class(glob[index:end]))
            index = end + 1
        else:
            out.append(_code(char))
    return "".join(out)


def _class_end(glob: str, start: int) -> int | None:
    """Where the class that opened just before `start` closes; a bracket in first place does not close it."""
    first = start + 1 if glob.startswith("!", start) else start
    end = glob.find("]", first + 1)
    return end if end >= 0 else None


def _class(body: str) -> str:
    """A character class to the letter of fnmatch: it drops ranges that run backwards, and then looks for a `!`."""
    parts = _parts(body)
    for index in range(len(parts) - 1, 0, -1):
        if parts[index - 1][-1] > parts[index][0]:
            parts[index - 1 : index + 1] = [parts[index - 1][:-1] + parts[index][1:]]
    negated = parts[0].startswith("!")
    parts[0] = parts[0].removeprefix("!")
    if parts == [""]:
        return "(?s:.)" if negated else r"[^\x{0}-\x{10ffff}]"
    return f"[{'^' if negated else ''}{'-'.join(''.join(map(_code, part)) for part in parts)}]"


def _parts(body: str) -> list[str]:
    """A class cut at the dashes that make ranges, each from the character before the dash to the one after it."""
    parts: list[str] = []
    start = 0
    dash = body.find("-", 2 if body.startswith("!") else 1)
    while dash >= 0:
        parts.append(body[start:dash])
        start = dash + 1
        dash = body.find("-", start + 2)
    if start == len(body):
        parts[-1] += "-"
        return parts
    return [*parts, body[start:]]


def _code(char: str) -> str:
    return rf"\x{{{ord(char):x}}}"
