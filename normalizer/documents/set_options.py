"""Run metadata that the user states as FIELD=VALUE, typed as its schema wants it."""

import re
from typing import Any

import contract_spec as spec

from normalizer.documents.lossless import Number
from normalizer.errors import CannotRun, did_you_mean

_WHOLE = re.compile(r"0|[1-9][0-9]*")


def metadata(given: tuple[str, ...]) -> dict[str, Any]:
    """The metadata that FIELD=VALUE texts state. A factor is `factors.NAME=LEVEL`. The schema checks it later."""
    known = list(spec.schema("eval/run_metadata.json")["properties"])
    values: dict[str, Any] = {}
    for text in given:
        field, equals, value = text.partition("=")
        if not equals:
            raise CannotRun(f"--set {text}: write FIELD=VALUE")
        group, dot, name = field.partition(".")
        if group == "factors" and dot and name:
            place, key = values.setdefault("factors", {}), name
        elif field in known and field != "factors":
            place, key = values, field
        else:
            names = [name for name in known if name != "factors"]
            hint = did_you_mean(field, [*names, "factors.NAME"])
            raise CannotRun(f"--set {field}: a run has no such field; {hint}")
        if key in place:
            raise CannotRun(f"--set {field} is given twice")
        place[key] = _convert_value(field, value)
    return values


def _convert_value(field: str, value: str) -> Any:
    if field == "phase" and _WHOLE.fullmatch(value):
        return Number(value)
    if field == "self_judged" and value in ("true", "false"):
        return value == "true"
    return value
