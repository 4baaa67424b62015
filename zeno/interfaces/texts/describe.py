"""The result of describe as text for models and people."""

import json
from typing import Any

from zeno.interfaces.rows import Asked, Result, visible, visible_json


def write_text(result: Result, args: Asked) -> tuple[list[str], str]:
    """Return a row for each member and each operation; schemas as JSON where those of one operation were asked for."""
    told = {name: value for name, value in result.items() if name != "metrics"}
    if "op" in args:
        return [_as_json(told)], ""
    schemas = told.pop("schemas", None)
    rows = [f"{each['name']}: {visible(each['description'])}" for each in told.pop("ops", ())]
    rows += [f"{name}: {_as_json(value)}" for name, value in told.items()]
    return rows, f"{len(schemas)} schemas; op=NAME shows those of one operation" if schemas else ""


def _as_json(value: Any) -> str:
    return visible_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
