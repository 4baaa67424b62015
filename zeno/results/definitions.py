"""Definitions as answers give them, and which one a name means."""

from typing import Any

import contract_spec as spec
from pydantic import MISSING

from zeno.code.facts import Symbol
from zeno.code.kept_facts import KeptFacts
from zeno.errors import FileTooLarge, InvalidArgs, NotFound
from zeno.files.open_file import TextFile
from zeno.meter import Meter
from zeno.results.suggestions import alternatives, similar

MAX_BYTES: int = spec.resource("rules/request_limits.json")["max_symbols_file_bytes"]
"""Larger files are refused: their text is held several times over."""
# Time to find the symbols of a text, relative to counting its lines.
_COST_OF_A_BYTE = 64
MAX_NAMED = 10
"""How many definitions of one name an error lists."""


def read_source(file: TextFile, meter: Meter, instead: str) -> bytes:
    """Return the text of a file to find definitions in. Raises FileTooLarge, which says what to do `instead`."""
    if file.size > MAX_BYTES:
        raise FileTooLarge(file.path, file.size, MAX_BYTES, instead)
    meter.expect(file.size * _COST_OF_A_BYTE)
    return file.read_text()


def has_name(symbol: Symbol, name: str) -> bool:
    """Whether a definition has a name, or a name behind some of its containers, joined by dots."""
    containers = name.removesuffix(f".{symbol.name}")
    return symbol.name == name or (containers != name and f".{symbol.container}".endswith(f".{containers}"))


def find_definition(facts: KeptFacts, name: str, path: str, field: str, start_line: int | None = None) -> Symbol:
    """Return the definition that has a name; of several, that which begins or has its name at `start_line`.

    Raises NotFound, with similar names, and InvalidArgs where several have the name on other lines.
    """
    found = [symbol for symbol in facts.symbols if has_name(symbol, name)]
    if not found:
        known = sorted({symbol.path.replace(".", "/") for symbol in facts.symbols})
        meant = [other.replace("/", ".") for other in similar(name.replace(".", "/"), known)]
        raise NotFound(path, f"it defines no {name!r}" + (f"; did you mean {alternatives(meant)}?" if meant else ""))
    chosen = [symbol for symbol in found if start_line in (None, symbol.start_line, symbol.line)]
    if len({(symbol.start_line, symbol.end_line) for symbol in chosen}) != 1:
        places = ", ".join(
            f"{symbol.path} {symbol.start_line}-{symbol.end_line or '?'}" for symbol in found[:MAX_NAMED]
        )
        more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
        raise InvalidArgs(f"{field} {name!r} is defined at lines {places}{more}: give the start_line of one of them")
    return chosen[0]


def fields(symbol: Symbol) -> dict[str, Any]:
    """Return the members of a symbol in an answer."""
    return {
        "kind": symbol.kind,
        "name": symbol.name,
        "line": symbol.line,
        "start_line": symbol.start_line if symbol.start_line < symbol.line else MISSING,
        "end_line": symbol.end_line or MISSING,
        "container": symbol.container or MISSING,
    }


def size(symbol: Symbol) -> int:
    """Return about how many bytes a symbol takes in an answer."""
    return len('{"kind":"","name":"","line":1}') + len(symbol.kind) + len(symbol.name) + len(symbol.container)


def find_scope(facts: KeptFacts, line: int) -> Any:
    """Return the scope of a line as answers give it; MISSING outside of all definitions."""
    symbol = facts.find_scope(line)
    if symbol is None:
        return MISSING
    # The result makes models of all scopes at once, as of hits.
    return {"kind": symbol.kind, "name": symbol.path, "line": symbol.line, "end_line": symbol.end_line}
