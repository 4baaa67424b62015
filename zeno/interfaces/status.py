"""The last line of a text for models: is the answer complete, what does it cover, and what is the next call?"""

import json

from zeno.interfaces.rows import Asked, Result, quote
from zeno.results.selected_files import in_words

_NO_LIMIT = (1 << 53) - 1
_REASONS = {"too_large": "over max_bytes", "not_regular": "not regular"}
"""Reasons to skip a file whose name does not say enough."""
_NO_GAPS = ("binary", "unsupported", "unparsed")
"""Reasons that leave an answer complete. The first two are told where nothing was found."""
_LISTS = ("hits", "references", "symbols", "files", "counts")


def completeness(result: Result, args: Asked) -> str:
    """Say whether a list is all there is, of how many files, and where it is cut how to continue."""
    reasons = [reason for reason, number in result.get("skipped", {}).items() if number]
    told = [_state(result, args)] if "complete" in result or result["truncated"] else []
    if selected := result.get("files_selected"):
        # Behind a colon all of them were gone through, but for those that were skipped.
        worth_telling = _NO_GAPS[2:] if any(map(result.get, _LISTS)) else _NO_GAPS
        kinds = [f"{result['skipped'][reason]:,} {reason}" for reason in reasons if reason in worth_telling]
        told.append(", ".join([count(selected, "file"), *kinds]))
        told = told if result["truncated"] else [": ".join(told)]
        reasons = [reason for reason in reasons if reason not in _NO_GAPS]
    if skipped := [_count_skipped(result, reason) for reason in reasons]:
        told.append(f"skipped {', '.join(skipped)}")
    if left_out := in_words(result.get("left_out", {})):
        told.append(left_out)
    return "; ".join(told)


def _count_skipped(result: Result, reason: str) -> str:
    """Return how many files were skipped for a reason, with those that are named behind it."""
    named = ", ".join(quote(one["path"]) for one in result.get("skipped_files", ()) if one["reason"] == reason)
    return f"{result['skipped'][reason]:,} {_REASONS.get(reason, reason)}{f' ({named})' if named else ''}"


def _state(result: Result, args: Asked) -> str:
    """Say in a word or two whether a list is all there is."""
    if result["truncated"]:
        return cut(result)
    if "cursor" in args:
        return "last page"
    if result.get("files_selected") == 0:
        return "not complete, no file was selected"
    if "not_followed" in result and "skipped_files" not in result:
        return "lines complete, callers not"
    return "complete" if result["complete"] else "not complete"


def cut(result: Result) -> str:
    """Say which limits cut a list, and how to continue."""
    limits = result["truncated_by"]
    if "cursor" in result:
        go_on = f'continue with cursor="{result["cursor"]}"'
    else:
        go_on = f"raise {' and '.join(limits)} or narrow glob"
    return f"cut by {', '.join(limits)}, {go_on}"


def next_ranges(ranges: list[Result], args: Asked) -> str:
    """Return the arguments of read_file that read on after ranges which a limit cut, as JSON."""
    asked = [args, *args.get("ranges", ())]
    rest = []
    for position, one in enumerate(ranges):
        end = asked[position].get("end_line", _NO_LIMIT) if position < len(asked) else _NO_LIMIT
        start = max(one["end_line"] + 1, one["start_line"])
        if start <= min(end, one["total_lines"]):
            limit = {} if end == _NO_LIMIT else {"end_line": end}
            rest.append({"path": one["path"], "start_line": start, **limit})
    first, *others = rest
    return json.dumps({**first, "ranges": others} if others else first)


def next_peek(result: Result, args: Asked) -> str:
    """Return the call of read_file that reads what was left out of head and tail; "" where the other one has it."""
    total = result["total_lines"]
    shown_to, shown_from = result["head"]["end_line"], result["tail"]["start_line"] or total + 1
    head_to, tail_from = min(args["head_lines"], total), max(1, total - args["tail_lines"] + 1)
    first = shown_to + 1 if head_to > shown_to else max(tail_from, shown_to + 1)
    last = shown_from - 1 if tail_from < shown_from else min(head_to, shown_from - 1)
    return f"read_file start_line={first} end_line={last}" if first <= last else ""


def count(number: int, what: str) -> str:
    """Return `1 hit` or `2,000 hits`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
