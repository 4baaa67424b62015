"""Match relative paths against globs: Python's fnmatch with two additions, compiled to RE2 for linear time.

`**/` at the start of a component also matches the empty text. `{a,b}` are alternatives, expanded first.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import contract_spec as spec

from zeno.errors import InvalidArgs
from zeno.text.path_names import Paths
from zeno.text.regex import full_matcher, scanner

# Nested braces multiply the alternatives: more than this many are refused.
MAX_ALTERNATIVES = 1024
# Limit on the characters of all alternatives of one argument: braces also repeat the text around them.
MAX_EXPANDED = 1 << 20
# Every character behind a star may cost a step for each byte of a name: with this many, a name of 60 bytes that is made
# for it takes two milliseconds. Plain names may be any number: they cost one step together.
MAX_CHARACTERS: int = spec.resource("rules/request_limits.json")["max_glob_characters"]
WILDCARD = re.compile(r"[*?\[{]")
"""A character that makes a glob more than a plain path."""
# `**/` before a star is redundant.
_NEEDLESS = re.compile(r"(^|/)(?:\*\*/)+(?=\*)")


class Globs:
    """Compiled globs. A path matches if one of them does."""

    def __init__(self, alternatives: list[str], field: str, case_sensitive: bool) -> None:
        self._alternatives = alternatives
        self._case_sensitive = case_sensitive
        self._pattern = "|".join(f"(?:{translate(text)})" for text in alternatives)
        self._matches = full_matcher(self._pattern, field, case_sensitive) if alternatives else None

    def __call__(self, path: str) -> bool:
        """Whether a path matches."""
        return self._matches is not None and self._matches(path.encode())

    def of(self, paths: Paths) -> list[str]:
        """Return the paths that match, in order. Simple globs and plain names are matched in one pass."""
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
            scan = scanner(f"^(?:{self._pattern})$", case_sensitive=self._case_sensitive)
        if scan is None or paths.text is None:
            return [path for path in paths if self(path)]
        return paths.find(scan)


def matcher(globs: Iterable[str], field: str, *, case_sensitive: bool = True) -> Globs:
    """Compile globs. `field` names the argument in errors. Raises InvalidArgs if they are too large."""
    alternatives = _expand(globs, field)
    characters = sum(len(text) for text in alternatives if WILDCARD.search(text))
    if characters > MAX_CHARACTERS:
        raise InvalidArgs(
            f"{field} has {characters} characters in globs with wildcards, braces expanded, and may have "
            f"{MAX_CHARACTERS}; use fewer or shorter globs"
        )
    return Globs(alternatives, field, case_sensitive)


def subtree_matcher(
    globs: Iterable[str], field: str, *, case_sensitive: bool, anywhere: bool = False
) -> Callable[[str], bool]:
    """Compile globs that also match everything below what they match, and with `anywhere` match in every directory.

    All globs share one prefix and one suffix: hundreds of alternatives that each begin with a star would be more than
    RE2 can turn into an automaton, and matching would be some hundred times slower.
    """
    alternatives = "|".join(f"(?:{translate(text)})" for text in _expand(globs, field))
    above = "(?:(?s:.*)/)?" if anywhere else ""
    matches = full_matcher(f"{above}(?:{alternatives})(?:/(?s:.*))?", field, case_sensitive)
    return lambda path: matches(path.encode())


def _expand(globs: Iterable[str], field: str) -> list[str]:
    """Return the alternatives of all globs. Raises InvalidArgs if they are too large."""
    alternatives: list[str] = []
    room = MAX_EXPANDED
    for glob in globs:
        texts = expand(glob, field, room)
        room -= sum(len(text) + 1 for text in texts) if len(texts) > 1 else 0
        alternatives += texts
    return alternatives


def reach(globs: Sequence[str], prefixes: Sequence[str] = ()) -> Callable[[str], bool]:
    """Return a test for directories (ending in a slash): could a file below match, by each glob's literal prefix?"""
    literals = [WILDCARD.split(glob, maxsplit=1)[0] for glob in globs]
    open_ended = (*(part for part, glob in zip(literals, globs, strict=True) if part != glob), *prefixes)
    targets = [*literals, *prefixes]
    return lambda path: (
        path == "./" or path.startswith(open_ended) or any(target.startswith(path) for target in targets)
    )


def _ends(glob: str) -> tuple[str, str] | None:
    """Return prefix and suffix if the glob requires nothing else, or None."""
    glob = _NEEDLESS.sub(r"\1", glob)
    head, star, tail = glob.partition("*")
    tail = tail.lstrip("*")
    component = head == "" or head.endswith("/")
    if not star or "*" in tail or (component and tail.startswith("/")) or any(char in glob for char in "?["):
        return None
    return head, tail


def expand(glob: str, field: str, room: int = MAX_EXPANDED) -> list[str]:
    """Return the alternatives of a glob with all braces expanded, in order. Raises InvalidArgs over the limits."""
    braces = {start: found for start, found in sorted(_partners(glob).items()) if found[1]}
    if not braces:
        return [glob]
    # One alternative, and at least one more for each comma, however braces nest or follow each other.
    _require_sense(1 + sum(len(commas) for _, commas in braces.values()), 0, field, room)
    starts = list(braces)
    resolved: dict[int, list[str]] = {}

    def resolve(start: int, end: int) -> list[str]:
        """Return the alternatives of a part of the glob whose inner braces are expanded."""
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

    # Innermost first: a brace inside others opens after them.
    for start in reversed(starts):
        end, commas = braces[start]
        parts = [text for a, b in pairwise([start, *commas, end]) for text in resolve(a + 1, b)]
        _require_sense(len(parts), _size(parts), field, room)
        resolved[start] = parts
    return resolve(0, len(glob))


def _size(texts: list[str]) -> int:
    return sum(map(len, texts))


def _require_sense(count: int, size: int, field: str, room: int) -> None:
    """Raise InvalidArgs if the number of alternatives or their characters exceed the limits."""
    if count > MAX_ALTERNATIVES:
        raise InvalidArgs(f"{field}: the braces stand for more than {MAX_ALTERNATIVES} alternatives; use fewer")
    if size + count > room:
        raise InvalidArgs(f"{field}: the braces stand for too much text; use fewer or shorter alternatives")


def _partners(glob: str) -> dict[int, tuple[int, list[int]]]:
    """Map each opening brace that is closed to its closing brace and its own commas."""
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
    """Translate a glob without braces to an RE2 expression for whole paths."""
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
    """Return the offset of the `]` that closes a class opened just before `start`. In first place `]` is a member."""
    first = start + 1 if glob.startswith("!", start) else start
    end = glob.find("]", first + 1)
    return end if end >= 0 else None


def _class(body: str) -> str:
    """Translate a character class exactly as fnmatch does: drop backward ranges first, then look for `!`."""
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
    """Split a class at the dashes that form ranges."""
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
