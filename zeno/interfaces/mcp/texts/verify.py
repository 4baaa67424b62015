"""The result of verify as text for models."""

from zeno.interfaces.mcp.status import Asked, Result, count
from zeno.interfaces.visible import one_line, visible

_MATCHES = {
    "white_space": "but for white space at the ends of lines",
    "run": "some of the cited lines",
    "part": "a part of the cited line",
}


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return the verdict on each citation."""
    body = []
    for item in result["items"]:
        row = f"{one_line(item['path'])}:{item['start_line']}-{item['end_line']} {item['verdict']}"
        if item.get("match", "exact") != "exact":
            row += f" ({_MATCHES[item['match']]})"
        if "differs_at" in item:
            row += f" at line {item['differs_at']}"
        if "moved_to" in item:
            row += f" to {item['moved_to']['start_line']}-{item['moved_to']['end_line']}"
        body.append(row + (f" ({visible(item['reason'])})" if "reason" in item else ""))
    wrong = sum(item["verdict"] != "ok" for item in result["items"])
    return body, f"{count(len(body), 'citation')}, {f'{wrong} wrong' if wrong else 'ok'}"
