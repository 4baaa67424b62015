"""The result of read_file as text for models."""

from zeno.interfaces.rows import Asked, Result, number_lines, one_line, tell_clipped
from zeno.interfaces.status import count, next_ranges


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return the lines, numbered, and which they are."""
    if "ranges" in result:
        return _ranges(result, args)
    path, first, last, total = (result[name] for name in ("path", "start_line", "end_line", "total_lines"))
    if last < first:
        return [], f"{one_line(path)}: no lines here, the file has {total}"
    status = f"{one_line(path)}: lines {first}-{last} of {total}"
    if result["truncated"]:
        # A start line beside a symbol chooses among definitions.
        go_on = f"start_line={last + 1}" + (" and without symbol" if "symbol" in args else "")
        status += f"; cut by {', '.join(result['truncated_by'])}, continue with {go_on}"
    return number_lines(result, first), status + tell_clipped([result], args)


def _ranges(result: Result, args: Asked) -> tuple[list[str], str]:
    """Several ranges, each below a row that names its path and lines."""
    ranges = [result, *result["ranges"]]
    body: list[str] = []
    for one in ranges:
        path, first, last, total = (one[name] for name in ("path", "start_line", "end_line", "total_lines"))
        if last < first:
            why = f"no room left for line {first} of {total}" if first <= total else f"no lines here, it has {total}"
            body.append(f"{one_line(path)}: {why}")
            continue
        body.append(f"{one_line(path)}: lines {first}-{last} of {total}{tell_clipped([one], args)}")
        body += number_lines(one, first)
    status = count(len(ranges), "range")
    if result["truncated"]:
        status += f"; cut by {', '.join(result['truncated_by'])}, continue with {next_ranges(ranges, args)}"
    return body, status
