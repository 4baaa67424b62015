"""Write a result as text for people: one line of small values, then what was found, line by line.

The layout depends on the shape of a result, not on its operation: small values are on the first line as `name=value`,
long ones below, each under its name if there is more than one. The files that were selected and the names that rules
left out are one clause. Metrics are left out, except the rest of a budget, and so are the digest of the candidates and
reasons that skipped nothing.
"""

import json
from typing import Any

from zeno.results.selected_files import describe_selected, in_words


def plain(result: dict[str, Any]) -> str:
    """The text of a result."""
    told = {name: value for name, value in result.items() if name not in ("metrics", "files_digest")}
    if "skipped" in told:
        told["skipped"] = {reason: count for reason, count in told["skipped"].items() if count}
    told = {name: value for name, value in told.items() if name != "skipped" or value}
    if "budget" in result.get("metrics", {}):
        told["budget"] = result["metrics"]["budget"]
    covered = _take_coverage(told)
    # Lists that are empty because the request asked for another form.
    unasked = {"hits"} if "counts" in told or "total" in told else {"files"} if "tree" in told else set()
    told = {name: value for name, value in told.items() if name not in unasked}
    blocks = {name: value for name, value in told.items() if not _small(name, value)}
    lines = [pairs({name: value for name, value in told.items() if name not in blocks})]
    if covered:
        lines.append(covered)
    for name, value in blocks.items():
        if len(blocks) > 1:
            lines.append(f"{name}:")
        lines += _block(value)
    return "\n".join(lines[0 if lines[0] else 1 :])


def pairs(values: dict[str, Any]) -> str:
    """Small values in one line: `path=a.txt truncated=false`."""
    return " ".join(f"{name}={_word(value)}" for name, value in values.items())


def _take_coverage(told: dict[str, Any]) -> str:
    """Take `files_selected` and `left_out` out of a result; return them as one clause, "" where they are absent."""
    parts = []
    if "files_selected" in told:
        # Files that were skipped, or lie behind the last hit, were not searched.
        searched = "hits" in told and "skipped" not in told and not told["truncated"]
        parts.append(describe_selected(told.pop("files_selected"), "searched" if searched else "selected"))
    if "left_out" in told:
        parts.append(in_words(told.pop("left_out")))
    return "; ".join(filter(None, parts))


def _small(name: str, value: Any) -> bool:
    """Whether a value goes on a line of pairs; a text of a file never does."""
    if isinstance(value, list):
        return name == "truncated_by"
    if isinstance(value, dict):
        return all(_small(key, item) and not isinstance(item, dict) for key, item in value.items())
    return name != "text" or not isinstance(value, str)


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_word, value))
    if isinstance(value, dict):
        nested = any(isinstance(item, dict | list) for item in value.values())
        return json.dumps(value, ensure_ascii=False) if nested else f"({pairs(value)})"
    if isinstance(value, str):
        return value if value and value.isprintable() and " " not in value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def _block(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        head = pairs({name: item for name, item in value.items() if _small(name, item)})
        rest = [line for name, item in value.items() if not _small(name, item) for line in _block(item)]
        return [head, *rest] if head else rest
    return [line for item in value for line in _item(item)]


def _item(item: Any) -> list[str]:
    """Return one item of a list: `path:line: text` for a line of a file, else pairs; its lists are indented below."""
    if not isinstance(item, dict):
        return [item if isinstance(item, str) and item.isprintable() else _word(item)]
    if item.keys() == {"path", "lines"}:
        return [f"{_word(item['path'])}: {item['lines']} {'line' if item['lines'] == 1 else 'lines'}"]
    if "text" in item and "line" not in item:
        return _block(item)
    place = [_word(item[name]) for name in ("path", "line") if name in item]
    known = {"path", "line", "text"} if "line" in item and "text" in item else set()
    rest = {name: value for name, value in item.items() if name not in known}
    lists = {name: value for name, value in rest.items() if isinstance(value, list)}
    small = pairs({name: value for name, value in rest.items() if name not in lists})
    lines = [f"{':'.join(place)}: {item['text']}" + (f"  ({small})" if small else "")] if known else [small]
    return lines + [f"  {line}" for value in lists.values() for line in _block(value)]
