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


def enforced(phase: int, relaxed: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names of the constraints a run of that phase is held to."""
    rule = rules()["phases"][str(phase)]
    names = frozenset(rule["enforces"])
    return names - relaxed if rule["relaxations"] else names


def may_relax(phase: int) -> bool:
    """Whether a run of that phase may state relaxations."""
    return bool(rules()["phases"][str(phase)]["relaxations"])


def statements(phase: int, relaxed: frozenset[str] = frozenset()) -> list[str]:
    """Return the sentences that tell a judge which constraints are enforced."""
    names = enforced(phase, relaxed)
    constraints = rules()["constraints"].items()
    return [rule["statement"] for name, rule in constraints if name in names and rule.get("for_judge", True)]


def eligibility(record: dict[str, Any]) -> Eligibility:
    """Whether a VALID record may be aggregated: it is one thing to be well formed and another to count.

    `diagnostic` never counts in a final claim. `self_judged` counts beside cross-judged records, never alone.
    """
    if not rules()["phases"][str(int(record["phase"]))]["aggregated"]:
        return "diagnostic"
    return "self_judged" if is_self_judged(record) else "eligible"


def is_self_judged(record: dict[str, Any]) -> bool:
    """Whether a VALID record's judge judged an output of its own model: by its label, or by equal names."""
    judge = record.get("judge_model")
    outcome = record.get("outcome", {})
    generators = (record.get("generator_model"), outcome.get("a"), outcome.get("b"))
    return record.get("self_judged") is True or (judge is not None and judge in generators)
