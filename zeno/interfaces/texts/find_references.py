"""The result of find_references as text for models."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby

from zeno.interfaces.rows import (
    CLIPPED,
    Asked,
    Result,
    below_paths,
    name_scope,
    one_line,
    scope_row,
    tell_clipped,
    visible,
    write_range,
)
from zeno.interfaces.status import completeness, count

# Names that were not followed, of which a text names so many; the result has all.
_NAMES = 20


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return totals by role, then lines below their paths and the definitions around them.

    Each has its role, unless all that were asked for have the same one.
    """
    totals = [f"{number:,} {role}" for role, number in result["totals"].items() if number]
    body = [f"totals: {', '.join(totals)}"] if totals else []
    references = result["references"]
    only = len(totals) == 1 or len(args.get("roles", ())) == 1
    body += below_paths(references, partial(_reference_rows, only=only, args=args))
    if callers := result.get("callers"):
        body.append("callers of callers, by name alone:")
        body += below_paths(callers, _caller_rows)
    body += _not_followed_rows(result.get("not_followed", ()))
    found = count(len(references), "line") if references else "no lines"
    shown = [line for one in references for line in one.get("context", [one])]
    return body, f"{found}; {completeness(result, args)}{tell_clipped(shown, args, 'read_file has more')}"


def _reference_rows(references: list[Result], *, only: bool, args: Asked) -> Iterator[str]:
    """The lines of one file below the definitions around them, behind their roles unless there is only one."""
    for scope, of_scope in groupby(references, scope_row):
        lines = list(of_scope)
        if len(lines) == 1 and _is_whole_scope(lines[0], args):
            yield _definition_row(lines[0], "" if only else "definition ")
            continue
        yield from [scope] if scope else []
        for one in lines:
            yield from _rows(one, "" if only else f"{one['role']} ")


def _caller_rows(callers: list[Result]) -> Iterator[str]:
    """Definitions in one file that call names of callers. A dot stands for the containers of the row above."""
    above = ""
    for one in callers:
        scope = one["scope"]
        container, name = scope["name"].rpartition(".")[::2]
        shown = one_line(f".{name}") if container and container == above else name_scope(scope)
        above = container
        yield f"{write_range(scope['line'], scope['end_line'])}\t{shown} calls {', '.join(one['calls'])}"


def _not_followed_rows(names: Iterable[Result]) -> Iterator[str]:
    """The names whose callers were left out: those for which `callers` is too low, then the others."""
    too_deep = [one for one in names if one["reason"] == "depth"]
    others = [one for one in names if one["reason"] != "depth"]
    if too_deep:
        yield f"depth reached, not followed: {_name_some(too_deep)}; raise callers, or ask for these"
    if others:
        yield f"not followed: {_name_some(others)}"


def _name_some(names: list[Result]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(map(_with_callers, names[:_NAMES])) + more


def _with_callers(one: Result) -> str:
    """A name with the number of its callers, if they were counted, or why some may not be known."""
    name = one_line(one["name"])
    if one["reason"] == "unparsed":
        return f"{name} (unparsed)"
    if one["reason"] == "used":
        return f"{name} (not called, used in {count(one['callers'], 'definition')})"
    return f"{name} ({count(one['callers'], 'caller')})" if "callers" in one else name


def _is_whole_scope(one: Result, args: Asked) -> bool:
    """Whether a line begins the definition that it is in, and is about it, so that one row says all of both."""
    if one["role"] != "definition" or "context" in one or "scope" not in one:
        return False
    scope = one["scope"]
    return bool(scope["line"] == one["line"] and scope["name"].rpartition(".")[2].strip("~=?!") == args.get("name"))


def _definition_row(one: Result, role: str) -> str:
    """The first line of a definition behind all its lines and its containers."""
    scope = one["scope"]
    container = scope["name"].rpartition(".")[0]
    (row,) = _rows(one, "")
    text = row.partition("\t")[2]
    lines = write_range(scope["line"], scope["end_line"])
    within = f" in {one_line(container)}" if container else ""
    return f"{role}{lines}{within}\t{text}"


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
