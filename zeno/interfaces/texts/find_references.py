"""The result of find_references as text for models."""

from collections.abc import Iterator
from itertools import groupby

from zeno.interfaces.rows import CLIPPED, Asked, Result, scope_row, tell_clipped, visible, write_path
from zeno.interfaces.status import completeness, count


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return totals by role, then lines below their paths and the definitions around them.

    Each has its role, unless all that were asked for have the same one.
    """
    totals = [f"{number:,} {role}" for role, number in result["totals"].items() if number]
    body = [f"totals: {', '.join(totals)}"] if totals else []
    references = result["references"]
    only = len(totals) == 1 or len(args.get("roles", ())) == 1
    for path, of_file in groupby(references, lambda one: one["path"]):
        body.append(write_path(path))
        for scope, of_scope in groupby(of_file, scope_row):
            body += [scope] if scope else []
            for one in of_scope:
                body += _rows(one, "" if only else f"{one['role']} ")
    found = count(len(references), "line") if references else "no lines"
    shown = [line for one in references for line in one.get("context", [one])]
    return body, f"{found}; {completeness(result, args)}{tell_clipped(shown, args)}"


def _rows(one: Result, role: str) -> Iterator[str]:
    """The line of a reference behind its role; with context its neighbours, too, and all as they are indented."""
    for line in one.get("context", [one]):
        own = line["line"] == one["line"]
        mark = "" if "context" not in one else "> " if own else "  "
        text = visible(line["text"])
        text = text if "context" in one else text.strip()
        if line.get("clipped"):
            # The text around a name may begin inside its line.
            text = f"{CLIPPED if own else ''}{text}{CLIPPED}"
        yield f"{mark}{role if own else ''}{line['line']}\t{text}"
