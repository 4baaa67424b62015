"""Assign the rows of a trace to subcalls."""

from typing import Any


def nest(rows: list[dict[str, Any]]) -> None:
    """Give each row its depth and the row of the subcall it belongs to.

    A claim names its parent. A request whose id is a subcall's id, a slash and more belongs to that subcall; any other
    request belongs to the subcall that was started last and is still running.
    """
    running: dict[str, int] = {}
    known: dict[str, int] = {}
    claims: dict[str, int | None] = {}
    for index, row in enumerate(rows):
        kind, name, parent = row["kind"], row.get("id"), row.get("parent")
        owner = next(reversed(running.values()), None)
        if kind == "end" and name in running:
            owner = running.pop(name)
        elif parent in known:
            owner = known[parent]
        elif parent in claims:
            owner = claims[parent]
        elif isinstance(name, str) and "/" in name and kind in ("op", "open"):
            owner = known.get(name.rpartition("/")[0], owner)
        elif kind == "start" and parent is None:
            owner = None
        row["depth"] = 0 if owner is None else rows[owner]["depth"] + 1
        if owner is not None:
            row["owner"] = owner
        if kind == "start" and isinstance(name, str):
            running[name] = known[name] = index
        elif kind == "claim" and isinstance(name, str):
            claims[name] = owner
