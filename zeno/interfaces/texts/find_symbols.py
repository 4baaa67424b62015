"""The result of find_symbols as text for models."""

from itertools import groupby

from zeno.interfaces.rows import Asked, Result, symbol_rows, write_path
from zeno.interfaces.status import completeness, count


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return the symbols below the paths of their files."""
    symbols = result["symbols"]
    body: list[str] = []
    files = 0
    for path, of_file in groupby(symbols, lambda one: one["path"]):
        files += 1
        body += [write_path(path), *symbol_rows(list(of_file))]
    found = f"{count(len(symbols), 'symbol')} in {count(files, 'file')}" if symbols else "no symbols"
    return body, f"{found}; {completeness(result, args)}"
