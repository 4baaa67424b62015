"""Ask the syntax tree of a text for definitions and roles. Runs C code: call it in a helper process only.

Every step takes time linear in the number of nodes: no parent or sibling is looked up, since tree-sitter finds those
from the root, and a hostile text may nest a hundred thousand levels deep.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

from zeno.code.facts import ROLES, Facts, Symbol, numbers
from zeno.code.languages import MAX_NODES, Grammar
from zeno.code.names import split_name, without_arguments

_ROLE = {role: index for index, role in enumerate(ROLES)}
# Captures that belong to a definition without being it.
_BESIDE = ("name", "owner", "verb", "flag")
_BLANKS = re.compile(rb"\s*")
_FAR = 1 << 32
MAX_ERROR_CHILDREN = 1000
MAX_DEPTH = 64
"""Chains of containers grow no further: the names of a thousand nested definitions would fill the memory."""


class _Definition(NamedTuple):
    kind: str
    start: int
    """Offset of the first byte."""
    end: int
    at: int
    """Offset of the name."""
    name: str
    owner: str
    """Containers that the definition itself names."""
    line: int
    first_line: int
    last_line: int


class _Container(NamedTuple):
    kind: str
    extent: tuple[int, int]
    end: int
    name_at: int
    chain: str
    """The names from the outermost definition to this one."""
    depth: int
    outer: "_Container | None"
    """Its own container."""


_TOP = _Container("", (-1, _FAR), _FAR, -1, "", 0, None)


@cache
def _prepare(grammar: Grammar) -> tuple[Any, Any, Any]:
    """Return parser and queries: definitions, roles."""
    from tree_sitter import Language, Parser, Query

    language = Language(getattr(import_module(grammar.package.replace("-", "_")), grammar.function)())
    return Parser(language), Query(language, grammar.definitions), Query(language, grammar.roles)


def load(grammar: Grammar) -> None:
    """Prepare a grammar ahead of its first text."""
    _prepare(grammar)


def ask_tree(text: bytes, grammar: Grammar) -> Facts | None:
    """Return the facts of a text by its syntax tree; None if the tree is too large or too broken.

    No definition that touches lines which could not be parsed has an end.
    """
    from tree_sitter import QueryCursor

    parser, definitions, roles = _prepare(grammar)
    root = parser.parse(text).root_node
    if root.descendant_count > MAX_NODES:
        return None
    unparsed = _find_unparsed(root)
    if unparsed is None:
        return None
    captures = QueryCursor(roles).captures(root)
    matches = QueryCursor(definitions).matches(root)
    matches.sort(key=lambda match: match[0])
    found = _distinct(_definition(captured, text, grammar) for _, captured in matches)
    starts = sorted(captures.get("start", ()), key=attrgetter("start_byte"))
    found = list(_with_attributes(found, starts, text))
    symbols = list(_with_containers(found, grammar.methods))
    return Facts(
        grammar.extractor,
        [_without_end(symbol, unparsed) for symbol in symbols],
        unparsed,
        numbers([number for stretch in _flatten(captures) for number in stretch]),
        numbers(sorted({node.start_byte for node in captures.get("call", ())})),
    )


def _lines(node: Any) -> tuple[int, int]:
    """Return the first and last line of a node, counted from 1. One that ends before a line's first byte ends above."""
    (first, _), (last, column) = node.start_point, node.end_point
    return first + 1, last + (column > 0 or last == first)


def _find_unparsed(root: Any) -> list[tuple[int, int]] | None:
    """Return the lines that could not be parsed; None if an error has too many children.

    A query takes time quadratic in the number of a node's children if none of them has a name, as those of errors.
    """
    found = []
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            if node.child_count > MAX_ERROR_CHILDREN:
                return None
            found.append(_lines(node))
        stack += [child for child in node.children if child.has_error]
    return _merge(found)


def _merge(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the same lines as ranges that neither touch nor overlap."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged


def _definition(captured: dict[str, list[Any]], text: bytes, grammar: Grammar) -> _Definition | None:
    """Return what a match of the query defines; None if its name is no name."""
    node = captured["name"][0]
    kind = next(name for name in captured if name not in _BESIDE)
    whole = captured[kind][0]
    owners, name = split_name(_text(node, text), grammar)
    if kind == "within":
        owners, name = "", without_arguments(name)
    owner = ".".join(part for part in (*(_text(part, text) for part in captured.get("owner", ())), owners) if part)
    # A qualified name ends with the name itself.
    line = node.end_point[0] if grammar.separator else node.start_point[0]
    if name in ("", "_") or "\n" in name or "\n" in owner:
        return None
    return _Definition(kind, whole.start_byte, whole.end_byte, node.start_byte, name, owner, line + 1, *_lines(whole))


def _text(node: Any, text: bytes) -> str:
    return text[node.start_byte : node.end_byte].decode(errors="replace")


def _distinct(found: Iterable[_Definition | None]) -> list[_Definition]:
    """Return one definition for each name: that of the first pattern. Sorted, outer ones first."""
    by_place: dict[int, _Definition] = {}
    for one in found:
        if one is not None:
            by_place.setdefault(one.at, one)
    return sorted(by_place.values(), key=lambda one: (one.start, -one.end, one.at))


def _with_attributes(found: list[_Definition], attributes: list[Any], text: bytes) -> Iterator[_Definition]:
    """Let definitions begin with the attributes right before them."""
    starts = [node.start_byte for node in attributes]
    # Where the blanks behind each attribute end, looked up once: many definitions may follow a long stretch of them.
    reaches = [_BLANKS.match(text, node.end_byte).end() for node in attributes]  # type: ignore[union-attr]  # always
    for one in found:
        first, start = one.first_line, one.start
        index = bisect_right(starts, start - 1) - 1
        while index >= 0 and reaches[index] == start:
            first, start = attributes[index].start_point[0] + 1, starts[index]
            index -= 1
        yield one._replace(first_line=first)


def _with_containers(found: list[_Definition], methods: frozenset[str]) -> Iterator[Symbol]:
    """Return the symbols in the order of their names, each with the definitions around it.

    A definition is a container of what begins behind its name.
    """
    around = [_TOP]
    symbols: list[tuple[int, Symbol]] = []
    for one in found:
        while one.start >= around[-1].end or (one.start, one.end) == around[-1].extent:
            around.pop()
        outer = around[-1]
        if outer.name_at >= one.start:
            outer = outer.outer or _TOP
        container = ".".join(part for part in (outer.chain, one.owner) if part)
        kind = "method" if one.kind == "function" and outer.kind in methods else one.kind
        chain = outer.chain
        if outer.depth < MAX_DEPTH:
            chain = ".".join(part for part in (container, one.name) if part)
        around.append(_Container(one.kind, (one.start, one.end), one.end, one.at, chain, outer.depth + 1, outer))
        if kind != "within":
            line = one.line
            symbols.append((one.at, Symbol(kind, one.name, line, min(one.first_line, line), one.last_line, container)))
    return (symbol for _, symbol in sorted(symbols, key=lambda pair: pair[0]))


def _without_end(symbol: Symbol, unparsed: list[tuple[int, int]]) -> Symbol:
    """Return a symbol without its extent if that touches lines that could not be parsed."""
    if not unparsed:
        return symbol
    index = bisect_right(unparsed, (symbol.end_line, _FAR)) - 1
    if index >= 0 and unparsed[index][1] >= symbol.start_line:
        return symbol._replace(start_line=symbol.line, end_line=0)
    return symbol


def _flatten(captures: dict[str, list[Any]]) -> Iterator[tuple[int, int, int]]:
    """Yield disjoint stretches of comments, strings and imports: the innermost counts.

    Code within a string is code; a string within an import belongs to the import.
    """
    spans = sorted((node.start_byte, -node.end_byte, _ROLE[role]) for role in ROLES for node in captures.get(role, ()))
    around: list[tuple[int, int]] = []
    position = 0
    for start, negative_end, role in [*spans, (_FAR, -_FAR, 0)]:
        while around and around[-1][0] <= start:
            end, outer = around.pop()
            if outer and position < end:
                yield position, end, outer
            position = max(position, end)
        if around and around[-1][1] and position < start:
            yield position, start, around[-1][1]
        position = max(position, start)
        inside_import = bool(around) and around[-1][1] == _ROLE["import"]
        around.append((-negative_end, _ROLE["import"] if inside_import and role == _ROLE["string"] else role))
