"""The result of extract_symbols as text for models."""

from zeno.interfaces.mcp.status import Asked, Result, count, cut
from zeno.interfaces.visible import one_line
from zeno.text.symbols import language_of


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return a row for each symbol, and the path."""
    symbols = result["symbols"]
    width = len(str(symbols[-1]["line"])) if symbols else 0
    body = [f"{one['line']:>{width}}\t{one['kind']} {one_line(one['name'])}" for one in symbols]
    status = f"{one_line(result['path'])}: {count(len(symbols), 'symbol')}"
    if not symbols and language_of(result["path"]) is None:
        status += " (its language is not known); use peek or grep"
    return body, status + (f"; {cut(result)}" if result["truncated"] else "")
