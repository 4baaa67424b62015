"""Seal citations: add the digest of what the cited lines, or the cited definition, say now."""

from typing import Any

from zeno.code.table import FactTable
from zeno.errors import InvalidArgs
from zeno.files.file_tree import FileTree
from zeno.meter import Meter
from zeno.results.definitions import find_definition, read_source
from zeno.text.file_lines import Window, receipt

_FEWER = "cite its lines with the sha256 that read_file gives, or fewer at a time"


def seal(citation: dict[str, Any], tree: FileTree, meter: Meter) -> dict[str, Any]:
    """Return a citation with lines and digest. Raises ZenoError if the lines cannot be read or are not there."""
    named = {name: citation[name] for name in ("symbol",) if name in citation}
    if "start_line" in citation and "end_line" in citation:
        first, last = citation["start_line"], citation["end_line"]
    elif named:
        first, last = _find_lines(citation, tree, meter)
    else:
        raise InvalidArgs("a citation needs start_line and end_line, or symbol")
    window = Window(first, last, meter.charge_text)
    with tree.open(citation["path"], "path") as file:
        file.require_text()
        meter.charge_bytes(file.path, file.size, _FEWER)
        window.feed(file.chunks())
    if not first <= last <= window.total:
        lines = "1 line" if window.total == 1 else f"{window.total} lines"
        raise InvalidArgs(f"{citation['path']!r} has {lines}; {first}-{last} cannot be cited")
    digest = citation.get("sha256") or receipt("\n".join(window.lines))
    return {"path": file.path, **named, "start_line": first, "end_line": last, "sha256": digest}


def _find_lines(citation: dict[str, Any], tree: FileTree, meter: Meter) -> tuple[int, int]:
    with tree.open(citation["path"], "path") as file:
        file.require_text()
        meter.charge_bytes(file.path, file.size, _FEWER)
        text = read_source(file, meter, _FEWER)
    table = FactTable()
    try:
        facts = table.of(file.path, text, meter.check)
    finally:
        table.close()
    found = find_definition(facts, citation["symbol"], file.path, "symbol")
    return found.start_line, found.end_line or found.line
