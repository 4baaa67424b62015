"""The result of describe as text for models."""

import json

from zeno.interfaces.status import Asked, Result
from zeno.interfaces.visible import visible_json


def write_text(result: Result, _args: Asked) -> tuple[list[str], str]:
    """Return JSON, which models read best where there are schemas in it."""
    told = {name: value for name, value in result.items() if name != "metrics"}
    return [visible_json(json.dumps(told, ensure_ascii=False, separators=(",", ":")))], ""
