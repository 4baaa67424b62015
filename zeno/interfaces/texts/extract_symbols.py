"""The result of extract_symbols as text for models."""

from zeno.interfaces.rows import Asked, Result, one_line, symbol_rows, write_range
from zeno.interfaces.status import count, cut
from zeno.text.symbols import language_of

# Ranges of lines that could not be parsed, beyond this many, are not listed.
_MAX_RANGES = 5


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return a row for each symbol, and the path."""
    symbols = result["symbols"]
    status = f"{one_line(result['path'])}: {count(len(symbols), 'symbol')}"
    if not symbols and language_of(result["path"]) is None:
        status += " (its language is not known); use peek or grep"
    if "unparsed" in result:
        ranges = [write_range(one["start_line"], one["end_line"]) for one in result["unparsed"]]
        more = " and more" if len(ranges) > _MAX_RANGES else ""
        status += f"; could not parse lines {', '.join(ranges[:_MAX_RANGES])}{more}"
    return list(symbol_rows(symbols)), status + (f"; {cut(result)}" if result["truncated"] else "")
