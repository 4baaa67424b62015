"""Who calls a name, who calls those, and so on: by name alone, for nothing is resolved.

`FactSink` passes on files with the facts of their texts, for every search that classifies lines.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from zeno.code.facts import Symbol
from zeno.code.kept_facts import KeptFacts
from zeno.code.languages import is_code
from zeno.code.tokens import Roles
from zeno.meter import Meter
from zeno.search.corpus import Corpus
from zeno.search.sink import SearchedFile, Wish

MAX_NAMES = 64
"""Names whose callers are looked for in one answer."""
MAX_CALLERS = 16
"""A name that more definitions call is a common one, which says little: its callers are counted and not followed."""
# Files that are parsed side by side before their lines are classified.
_AT_ONCE = 32
_BYTES_AT_ONCE = 4 << 20
# Other names are no words for a search, or too long for one.
_WORD = re.compile("[0-9A-Za-z_]{1,1000}")
# Characters of the names in one search: a pattern with more may search only some text.
_CHARS_AT_ONCE = 1200

Take = Callable[[SearchedFile, list[int], KeptFacts], None]
"""Takes a file, the indexes of its matching lines, and its facts."""
SearchNames = Callable[[Collection[str], Take], object]
"""Searches all files for the lines with one of these names, and passes them on."""
_Definition = tuple[str, Symbol]
"""A definition behind the path of its file."""


class FactSink:
    """Passes on files with their matching lines and the facts of their texts, some files at a time."""

    def __init__(self, corpus: Corpus, meter: Meter, take: Take) -> None:
        self._corpus = corpus
        self._meter = meter
        self._pass_on = take
        self._group: list[tuple[SearchedFile, list[int]]] = []
        self._room = _BYTES_AT_ONCE
        self.wish = Wish.MORE

    def take(self, found: SearchedFile) -> None:
        """Take a file that may match."""
        if matching := list(found.matching):
            self._group.append((found, matching))
            self._room -= found.lines.size
            if len(self._group) == _AT_ONCE or self._room < 0:
                self.flush()

    def flush(self) -> None:
        """Pass on the files that were taken."""
        group, self._group, self._room = self._group, [], _BYTES_AT_ONCE
        known = self._corpus.facts.of_all([found.source for found, _ in group], self._meter.check)
        for (found, matching), facts in zip(group, known, strict=True):
            self._pass_on(found, matching, facts)


class Callers(NamedTuple):
    """Definitions with calls of some names, and names that were not followed."""

    definitions: list[dict[str, Any]]
    not_followed: list[dict[str, Any]]


def find_callers(
    first: Iterable[str], done: str, levels: int, search: SearchNames, unclear: Iterable[str] = ()
) -> Callers:
    """Follow names, each once, this many levels up: to the definitions around their calls, and to the names of these.

    The name `done` is not followed again; it is `unclear` where it may have calls that are not known. Callers one level
    further up are only counted: they are left out.
    """
    calls: defaultdict[_Definition, list[str]] = defaultdict(list)
    not_followed: dict[str, dict[str, Any]] = {name: {"name": name, "reason": "unparsed"} for name in unclear}
    seen = {done}
    names = set(first) - seen
    for level in range(levels + 1 if levels else 0):
        room = MAX_NAMES + 1 - len(seen)
        followed = sorted(filter(_WORD.fullmatch, names))
        not_followed |= {name: {"name": name, "reason": "not_a_word"} for name in names.difference(followed)}
        not_followed |= {name: {"name": name, "reason": "limit"} for name in followed[room:]}
        names, followed = set(), followed[:room]
        seen.update(followed)
        found = _find_around(followed, search)
        not_followed |= {name: {"name": name, "reason": "unparsed"} for name in found.unclear}
        for name, definitions in found.calls.items():
            uses = found.uses[name]
            if uses and not definitions and name not in not_followed:
                not_followed[name] = {"name": name, "reason": "used", "callers": len(uses)}
            if len(definitions) > MAX_CALLERS or (definitions and level == levels):
                reason = "common" if len(definitions) > MAX_CALLERS else "depth"
                not_followed[name] = {"name": name, "reason": reason, "callers": len(definitions)}
                continue
            names |= {symbol.name for _, symbol in definitions} - seen - not_followed.keys()
            for definition in definitions:
                calls[definition].append(name)
    rows = [
        {"path": path, "scope": _scope(symbol), "calls": sorted(called)}
        for (path, symbol), called in sorted(calls.items(), key=_order)
    ]
    return Callers(rows, [not_followed[name] for name in sorted(not_followed)])


def is_unclear(path: str, facts: KeptFacts, line: int, role: str, around: Symbol | None) -> bool:
    """Whether a line may have a call that is not known, or not whose: several functions begin on it, it is code without
    a grammar, or was not parsed and lies in no definition."""
    if role not in ("definition", "call", "use", "text") or not is_code(path):
        return False
    return facts.begins_several(line) or (role != "definition" and around is None and not facts.is_parsed(line))


class _Around(NamedTuple):
    """The definitions around the lines with some names, in all files."""

    calls: dict[str, set[_Definition]]
    uses: dict[str, set[_Definition]]
    """Around lines that have the role `use`, as where a function is passed on."""
    unclear: set[str]
    """Names with lines that may have calls which are not known."""


def _find_around(names: list[str], search: SearchNames) -> _Around:
    """Return the definitions around the calls and uses of each name."""
    found = _Around({name: set() for name in names}, {name: set() for name in names}, set())
    word = re.compile(rb"\b(?:" + "|".join(names).encode() + rb")\b")

    def take(file: SearchedFile, matching: list[int], facts: KeptFacts) -> None:
        roles: dict[str, Roles] = {}
        for at in matching:
            text = file.lines[at]
            for name in {each.decode() for each in word.findall(text)}:
                if name not in roles:
                    roles[name] = Roles(facts, name)
                role = roles[name].of(at + 1, file.lines.offset(at), text)
                around = facts.find_scope(at + 1) if role in ("call", "use") else None
                if around is not None:
                    (found.calls if role == "call" else found.uses)[name].add((file.path, around))
                if is_unclear(file.path, facts, at + 1, role, around if role == "call" else None):
                    found.unclear.add(name)

    for some in _divide(names):
        search(some, take)
    return found


def _divide(names: list[str]) -> list[list[str]]:
    """Divide names into lists that one search is enough for."""
    parts: list[list[str]] = []
    room = 0
    for name in names:
        if len(name) + 2 > room:
            parts.append([])
            room = _CHARS_AT_ONCE
        parts[-1].append(name)
        room -= len(name) + 2  # each adds a state or two to those of its characters
    return parts


def _scope(symbol: Symbol) -> dict[str, Any]:
    return {"kind": symbol.kind, "name": symbol.path, "line": symbol.line, "end_line": symbol.end_line}


def _order(entry: tuple[_Definition, object]) -> tuple[str, int, str]:
    path, symbol = entry[0]
    return path, symbol.line, symbol.path
