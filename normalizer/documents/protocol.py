"""The protocol version: a digest of the schemas and rules that decide what a record is and whether it is valid.

Schemas of reports and of a judge run's own files are left out, and so are descriptions and examples: none of them
changes a record, so ledgers stay verifiable when they change.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import contract_spec as spec

SCHEMAS = (
    "eval/audit_item.json",
    "eval/bundle_header.json",
    "eval/bundle_limits.json",
    "eval/comparison_bundle.json",
    "eval/comparison_record.json",
    "eval/dialect.json",
    "eval/eval_record.json",
    "eval/invalid_comparison.json",
    "eval/invalid_record.json",
    "eval/joined_file.json",
    "eval/judge_bundle.json",
    "eval/judge_input.json",
    "eval/judge_reply.json",
    "eval/reason.json",
    "eval/rubric.json",
    "eval/run_manifest.json",
)
"""Schemas that decide; the schemas they refer to count with them."""
RULES = (
    "rules/judging.json",
    "rules/limits.json",
    "rules/number_patterns.json",
    "rules/phases.json",
    "rules/reasons.json",
    "rules/rubrics/prompt-drift-v1.json",
)
_ANNOTATIONS = frozenset({"$comment", "description", "examples", "title"})
_BY_NAME = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
_VALUES = frozenset({"const", "default", "enum"})


@cache
def version() -> str:
    """The identifier that `normalizer --version` prints and that runs record."""
    documents = {f"schemas/{name}": deciding(spec.schema(name)) for name in schemas()}
    documents |= {name: spec.resource(name) for name in RULES}
    canonical = json.dumps(documents, sort_keys=True, separators=(",", ":"))
    return "eval-" + hashlib.sha256(canonical.encode()).hexdigest()[:16]


def schemas() -> list[str]:
    """The names of the schemas in the digest, sorted: the stated ones and all that they refer to."""
    found: set[str] = set()
    waiting = list(SCHEMAS)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            files = (reference.partition("#")[0] for reference in _references(spec.schema(name)))
            waiting += [f"eval/{file}" for file in files if file]
    return sorted(found)


def deciding(schema: Any) -> Any:
    """A schema without what only describes."""
    if isinstance(schema, list):
        return [deciding(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value
        if key in _VALUES
        else {name: deciding(inner) for name, inner in value.items()}
        if key in _BY_NAME
        else deciding(value)
        for key, value in schema.items()
        if key not in _ANNOTATIONS
    }


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _references(inner)
