"""The result of verify as text for models."""

from zeno.interfaces.rows import Asked, Result, one_line, visible
from zeno.interfaces.status import count

_MATCHES = {
    "white_space": "but for white space at the ends of lines",
    "run": "some of the cited lines",
    "part": "a part of the cited line",
}


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return the verdict on each citation."""
    body = []
    for item in result["items"]:
        row = f"{one_line(item['path'])}:{_cite(item)} {item['verdict']}"
        if item.get("match", "exact") != "exact":
            row += f" ({_MATCHES[item['match']]})"
        if "differs_at" in item:
            row += f" at line {item['differs_at']}"
        if "moved_to" in item:
            row += f" to {_place(item['moved_to'])}"
        if "found_at" in item:
            row += f", now {_place(item['found_at'])}"
        body.append(row + (f" ({visible(item['reason'])})" if "reason" in item else ""))
    wrong = sum(item["verdict"] != "ok" for item in result["items"])
    return body, f"{count(len(body), 'citation')}, {f'{wrong} wrong' if wrong else 'ok'}"


def _cite(item: Result) -> str:
    """Return the definition or the lines of a citation."""
    if "symbol" in item:
        return one_line(item["symbol"])
    return f"{item['start_line']}-{item['end_line']}" if {"start_line", "end_line"} <= item.keys() else "?"


def _place(place: Result) -> str:
    """Return lines, behind their path where it is another."""
    path = f"{one_line(place['path'])}:" if "path" in place else ""
    return f"{path}{place['start_line']}-{place['end_line']}"
