"""The result of find_references as text for models."""

from collections.abc import Iterator
from itertools import groupby

from zeno.interfaces.rows import Asked, Result, one_line, scope_row, visible
from zeno.interfaces.status import completeness, count


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return totals by role, then lines below their paths and the definitions around them, each with its role."""
    totals = [f"{number:,} {role}" for role, number in result["totals"].items() if number]
    body = [f"all lines by role: {', '.join(totals)}"] if totals else []
    references = result["references"]
    for path, of_file in groupby(references, lambda one: one["path"]):
        body.append(one_line(path))
        for scope, of_scope in groupby(of_file, scope_row):
            body += [scope] if scope else []
            for one in of_scope:
                body += _rows(one)
    found = count(len(references), "line") if references else "no lines"
    return body, f"{found}; {completeness(result, args, 'searched')}"


def _rows(one: Result) -> Iterator[str]:
    for line in one.get("context", [one]):
        mark = f"{one['role']} " if line["line"] == one["line"] else "  "
        yield f"{mark}{line['line']}\t{visible(line['text'])}{' [clipped]' if line.get('clipped') else ''}"
