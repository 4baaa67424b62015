"""Explain schema violations: suggest known names for an unknown member, and show the wrong value."""

import json
from typing import Any

import contract_spec as spec

from normalizer.documents.lossless import dumps
from normalizer.documents.pointers import steps_of
from normalizer.errors import did_you_mean

_LONGEST = 60


def violation_in_words(schema: str, value: Any, violation: spec.Violation) -> str:
    """Return a violation in words, with similar names for an unknown member or the wrong value of a known one."""
    *above, last = steps_of(violation.pointer) or [""]
    if violation.keyword == "additionalProperties":
        known = _members(_schema_at(schema, value, above))
        return f"{violation.message}: {did_you_mean(last, known)}" if known else violation.message
    if violation.keyword in ("required", "type"):
        return violation.message
    wrong = _value_at(value, steps_of(violation.pointer))
    shown = dumps(wrong)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
    near = ""
    if violation.keyword == "enum" and isinstance(wrong, str):
        allowed = json.loads(violation.message.removeprefix("must be one of "))
        guess = did_you_mean(wrong, [each for each in allowed if isinstance(each, str)])
        near = f"; {guess}" if guess.startswith("did") else ""
    return f"{violation.message}, not {shown}{near}"


def _members(schema: dict[str, Any]) -> list[str]:
    return list(schema.get("properties", {}))


def _value_at(value: Any, steps: list[str]) -> Any:
    for step in steps:
        members = dict(enumerate(value)) if isinstance(value, list) else value
        key = int(step) if isinstance(value, list) else step
        value = members.get(key) if isinstance(members, dict) else None
    return value


def _schema_at(name: str, value: Any, steps: list[str]) -> dict[str, Any]:
    """Return the schema of the value at a path; an empty one if it cannot be determined."""
    document = spec.schema(name)
    node: dict[str, Any] = document
    for step in ["", *steps] if steps else [""]:
        if step:
            node = node.get("properties", {}).get(step) or node.get("items") or node.get("additionalProperties") or {}
            value = _value_at(value, [step]) if isinstance(value, (dict, list)) else None
        node, document, name = _resolve(node, document, name)
        for branch in node.get("oneOf", []):
            inner, _, _ = _resolve(branch, document, name)
            if isinstance(value, dict) and inner.get("properties", {}).get("kind", {}).get("const") == value.get(
                "kind"
            ):
                node = inner  # `kind` selects the alternative
    return node


def _resolve(node: dict[str, Any], document: Any, name: str) -> tuple[dict[str, Any], Any, str]:
    """Return the schema that a reference leads to, and its document."""
    while "$ref" in node:
        file, _, fragment = str(node["$ref"]).partition("#")
        if file:
            name = f"{name.rpartition('/')[0]}/{file}"
            document = spec.schema(name)
        node = document
        for step in steps_of(fragment):
            node = node[step]
    return node, document, name
