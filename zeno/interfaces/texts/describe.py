"""The result of describe as text for models."""

import json

from zeno.interfaces.rows import Asked, Result, visible_json


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return JSON, which models read best where there are schemas in it."""
    told = {name: value for name, value in result.items() if name != "metrics"}
    return [visible_json(json.dumps(told, ensure_ascii=False, separators=(",", ":")))], ""
