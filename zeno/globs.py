"""Globs over relative paths, purely: Python's fnmatch with two additions, run by RE2 so that none can be slow.

`**/` at the start of a component also matches nothing; `{a,b}` are alternatives, expanded before anything else is read.
"""

from collections.abc import Iterable
from itertools import pairwise

from zeno.errors import InvalidArgs
from zeno.names import Paths
from zeno.patterns import full_matcher, scanner

# Nested braces multiply. No person writes a glob with more alternatives; a hostile one stops here.
MAX_ALTERNATIVES = 1024
# They also repeat what stands around them: so many characters may come of all the braces of one argument.
MAX_EXPANDED = 1 << 20


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


def _ends(glob: str) -> tuple[str, str] | None:
    """What a path must begin and end with, where that is all that a glob asks for."""
    while glob.startswith("**/*") or "/**/*" in glob:
        glob = glob[3:] if glob.startswith("**/*") else glob.replace("/**/*", "/*", 1)
    head, star, tail = glob.partition("*")
    tail = tail.lstrip("*")
    component = head == "" or head.endswith("/")
    if not star or "*" in tail or (component and tail.startswith("/")) or any(char in glob for char in "?["):
        return None
    return head, tail


def expand(glob: str, field: str, room: int = MAX_EXPANDED) -> list[str]:
    """The alternatives of a glob with its braces resolved, innermost braces included."""
    done: list[str] = []
    pending = [("", glob)]
    size = 0
    while pending:
        head, rest = pending.pop()
        braces = _first_braces(rest)
        if braces is None:
            done.append(head + rest)
        else:
            start, end, parts = braces
            # Each part after the first repeats what stands around the braces.
            size += (len(head) + len(rest) - (end - start) + 1) * (len(parts) - 1)
            if size > room:
                raise InvalidArgs(f"{field}: the braces stand for too much text; use fewer or shorter alternatives")
            # The last alternative is expanded last, so that the order is the order of writing.
            pending += [(head + rest[:start], part + rest[end:]) for part in reversed(parts)]
        if len(done) + len(pending) > MAX_ALTERNATIVES:
            raise InvalidArgs(f"{field}: the braces stand for more than {MAX_ALTERNATIVES} alternatives; use fewer")
    return done


def _first_braces(glob: str) -> tuple[int, int, list[str]] | None:
    """Where the first brace with a partner and a comma starts and ends, and the parts between its commas."""
    partners = _partners(glob)
    for start in sorted(partners):
        end, commas = partners[start]
        if commas:
            cuts = [start, *commas, end]
            return start, end + 1, [glob[a + 1 : b] for a, b in pairwise(cuts)]
    return None


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
