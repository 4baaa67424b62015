"""The protocol version: a digest of the schemas and rules that decide what a record is and whether it is valid.

Schemas of reports and of a judge run's own files are left out, and so are descriptions and examples: none of them
changes a record, so ledgers stay verifiable when they change.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

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
    documents = {f"schemas/{name}": remove_annotations(spec.schema(name)) for name in schemas()}
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


def remove_annotations(schema: Any) -> Any:
    """A schema without what only describes."""
    if isinstance(schema, list):
        return [remove_annotations(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value
        if key in _VALUES
        else {name: remove_annotations(inner) for name, inner in value.items()}
        if key in _BY_NAME
        else remove_annotations(value)
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


Eligibility = Literal["eligible", "diagnostic", "self_judged"]


@cache
def rules() -> dict[str, Any]:
    """`rules/phases.json`."""
    document: dict[str, Any] = spec.resource("rules/phases.json")
    return document


@cache
def list_enforced(phase: int, relaxed: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names of the constraints that are enforced in a run of that phase."""
    rule = rules()["phases"][str(phase)]
    names = frozenset(rule["enforces"])
    return names - relaxed if rule["relaxations"] else names


@cache
def must_record(phase: int) -> tuple[str, ...]:
    """The run metadata fields that a run of that phase must record, in the order of the rules."""
    names = list_enforced(phase)
    constraints = rules()["constraints"].items()
    return tuple(rule["records"] for name, rule in constraints if name in names and "records" in rule)


def may_relax(phase: int) -> bool:
    """Whether a run of that phase may state relaxations."""
    return bool(rules()["phases"][str(phase)]["relaxations"])


def statements(phase: int, relaxed: frozenset[str] = frozenset()) -> list[str]:
    """Return the sentences that tell a judge which constraints are enforced."""
    names = list_enforced(phase, relaxed)
    constraints = rules()["constraints"].items()
    return [rule["statement"] for name, rule in constraints if name in names and rule.get("for_judge", True)]


def eligibility(record: dict[str, Any]) -> Eligibility:
    """Return whether a VALID record may be aggregated. Not every valid record is eligible.

    `diagnostic` never counts in a final claim. `self_judged` counts beside cross-judged records, never alone.
    """
    if not rules()["phases"][str(int(record["phase"]))]["aggregated"]:
        return "diagnostic"
    return "self_judged" if is_self_judged(record) else "eligible"


def judges_itself(metadata: dict[str, Any]) -> bool:
    """Whether the judge is a generator: that of the file, or one of the two of a comparison."""
    judge = metadata.get("judge_model")
    outcome = metadata.get("outcome", {})
    return judge is not None and judge in (metadata.get("generator_model"), outcome.get("a"), outcome.get("b"))


def is_self_judged(metadata: dict[str, Any]) -> bool:
    """Whether a record counts as self-judged: it says so, or its judge is its generator."""
    return metadata.get("self_judged") is True or judges_itself(metadata)
