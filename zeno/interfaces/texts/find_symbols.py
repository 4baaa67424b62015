"""The result of find_symbols as text for models."""

from functools import partial

from zeno.interfaces.rows import Asked, Result, below_paths, symbol_rows
from zeno.interfaces.status import completeness, count

# More symbols than these do not repeat the name that was asked for.
_FEW = 2


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return the symbols below the paths of their files."""
    symbols = result["symbols"]
    is_repeated = len(symbols) > _FEW and "name" in args and args.get("match", "exact") == "exact"
    asked = args["name"].rpartition(".")[2] if is_repeated else None
    body = list(below_paths(symbols, partial(symbol_rows, asked=asked)))
    files = len({one["path"] for one in symbols})
    found = f"{count(len(symbols), 'symbol')} in {count(files, 'file')}" if symbols else "no symbols"
    return body, f"{found}; {completeness(result, args)}"
