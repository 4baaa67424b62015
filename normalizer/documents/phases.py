"""The rules of each phase, read from the spec: which constraints are enforced, and what may be aggregated."""

from functools import cache
from typing import Any, Literal

import contract_spec as spec

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
