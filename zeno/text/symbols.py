"""Find the definitions in a source file by rules that are data. The result is heuristic.

Each language is one JSON file of the contract (`rules/languages/<language>.json`,
schema `schemas/zeno/language.json`) with the syntax of comments and strings and
RE2 patterns of definitions; this module knows no language. Comments and strings
are blanked first, then every rule is searched for in the rest.

All of it takes linear time. RE2 never backtracks, and the schema requires that
the part of a pattern that reads beyond its line ends at a character that the
pattern does not cross, so no part of a text is read once for each definition.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import contract_spec as spec

from zeno.text.blanking import Blanker, compile_pattern

_PART = re.compile(r"%\{([a-z]+)\}")
_WORD = re.compile(r"\w+")


class RuleMatch(NamedTuple):
    """One definition: its kind, its name and the 1-based line of the name."""

    kind: str
    name: str
    line: int


class _Rule(NamedTuple):
    kind: str
    pattern: Any
    inside: Any
    like: frozenset[str]


class _Language(NamedTuple):
    blanker: Blanker
    reserved: frozenset[str]
    rules: tuple[_Rule, ...]


def language_of(path: str) -> str | None:
    """Return the language of a file by the last component of its path, or None.

    An exact file name wins over extensions, and the longest extension over
    shorter ones; case matters. `.h` is read as C++, whose rules find what the
    rules of C find, and the classes of Objective-C besides.
    """
    return _language_of_name(path.rpartition("/")[2])


@lru_cache(maxsize=1 << 16)
def _language_of_name(file_name: str) -> str | None:
    index = _index()
    if language := index["filenames"].get(file_name):
        return language
    dot = file_name.find(".")
    while dot >= 0:
        if language := index["extensions"].get(file_name[dot:]):
            return language
        dot = file_name.find(".", dot + 1)
    return None


def symbols_of(path: str, text: str) -> list[RuleMatch]:
    """List the symbols that a text defines, in the order of the text.

    A file of unknown language has none. Only a line feed ends a line.
    """
    name_of_language = language_of(path)
    if name_of_language is None:
        return []
    language = _language(name_of_language)
    # A lone surrogate cannot be encoded, and is never part of a name.
    data = language.blanker.blank(text.encode(errors="replace"))
    found: dict[int, tuple[str, str]] = {}
    for rule in language.rules:
        known = {name for kind, name in found.values() if kind in rule.like}
        for start, name, head in _matches(rule, data):
            if rule.like and name not in known:
                continue
            if language.reserved.isdisjoint((name, *_WORD.findall(head))):
                # The first rule that finds a name decides its kind.
                found.setdefault(start, (rule.kind, name))
    symbols: dict[RuleMatch, None] = {}
    line, counted = 1, 0
    for start in sorted(found):
        line += data.count(b"\n", counted, start)
        counted = start
        symbols[RuleMatch(*found[start], line)] = None
    return list(symbols)


def _matches(rule: _Rule, data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield a rule's matches: offset of the name, the name, and the words before it."""
    groups = rule.pattern.groupindex
    name, head = groups[b"name"], groups.get(b"head")
    regions = [(0, len(data))]
    if rule.inside is not None:
        regions = [match.span() for match in rule.inside.finditer(data)]
    for position, end in regions:
        while match := rule.pattern.search(data, position, end):
            before = match[head].decode(errors="replace") if head else ""
            yield match.start(name), match[name].decode(errors="replace"), before
            # The last character, often a brace, may begin the next match.
            position = max(match.end(name), match.end() - 1)


@cache
def _index() -> dict[str, dict[str, str]]:
    index: dict[str, dict[str, str]] = _read("languages.json")
    return index


@cache
def _language(name: str) -> _Language:
    """Read and compile the data of one language."""
    data = _read("languages", f"{name}.json")
    parts: dict[str, str] = {}

    def expand(pattern: str) -> str:
        return _PART.sub(lambda part: parts[part[1]], pattern)

    for part, pattern in data.get("parts", {}).items():
        parts[part] = expand(pattern)  # a part may use those before it

    rules = (
        _Rule(
            kind=rule["kind"],
            pattern=compile_pattern(expand(rule["pattern"])),
            inside=compile_pattern(expand(rule["inside"])) if "inside" in rule else None,
            like=frozenset(rule.get("like", ())),
        )
        for rule in data["rules"]
    )
    return _Language(Blanker(data["lexis"]), frozenset(data.get("reserved", ())), tuple(rules))


def _read(*names: str) -> Any:
    return spec.resource("/".join(("rules", *names)))
