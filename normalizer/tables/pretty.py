"""Indented JSON with exact decimals."""

import json
from decimal import Decimal
from typing import Any


def dumps(value: Any, indent: str = "") -> str:
    """Return a value as indented ASCII JSON; lists of plain values are on one line."""
    inner = indent + "  "
    if isinstance(value, dict):
        if not value:
            return "{}"
        members = [f"{inner}{json.dumps(str(key))}: {dumps(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    if isinstance(value, (list, tuple)):
        if not any(isinstance(item, (dict, list, tuple)) for item in value):
            return "[" + ", ".join(dumps(item) for item in value) + "]"
        return "[\n" + ",\n".join(inner + dumps(item, inner) for item in value) + f"\n{indent}]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value)
