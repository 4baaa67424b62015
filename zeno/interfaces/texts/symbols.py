"""Definitions and scopes as rows of text for models."""

from collections.abc import Iterator

from zeno.interfaces.status import Result
from zeno.interfaces.visible import one_line


def symbol_rows(symbols: list[Result]) -> Iterator[str]:
    """Yield a row for each symbol of a file: its lines, its kind, its name with its containers."""
    ranges = [write_range(one.get("start_line") or one["line"], one.get("end_line")) for one in symbols]
    width = max(map(len, ranges), default=0)
    for lines, one in zip(ranges, symbols, strict=True):
        name = ".".join(part for part in (one.get("container"), one["name"]) if part)
        yield f"{lines:>{width}}\t{one['kind']} {one_line(name)}"


def scope_row(hit: Result) -> str:
    """Return the row that names the definition around a hit; empty outside of all."""
    scope = hit.get("scope")
    if scope is None:
        return ""
    return f"in {scope['kind']} {one_line(scope['name'])} ({write_range(scope['line'], scope['end_line'])})"


def write_range(first: int, last: int | None) -> str:
    """Return lines as `3-5`, `3`, or `3-?` where the last is not known."""
    return str(first) if first == last else f"{first}-{last or '?'}"
