"""The result of peek as text for models."""

from zeno.interfaces.rows import Asked, Result, number_lines, one_line, tell_clipped
from zeno.interfaces.status import count, next_peek


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return the head and the tail, and the number of lines."""
    head, tail, total = result["head"], result["tail"], result["total_lines"]
    body = number_lines(head, head["start_line"]) if head["end_line"] else []
    if tail["end_line"]:
        # On a short file the tail repeats lines of the head.
        rows = number_lines(tail, tail["start_line"])
        seen = max(0, head["end_line"] - tail["start_line"] + 1)
        gap = ["…"] if tail["start_line"] > head["end_line"] + 1 else []
        body += gap + rows[seen:]
    status = f"{one_line(result['path'])}: {count(total, 'line')}"
    if result.get("truncated") and (rest := next_peek(result, args)):
        status += f"; cut by max_chars, continue with {rest}"
    return body, status + tell_clipped([head, tail], args)
