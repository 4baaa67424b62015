"""The protocol version identifier: a digest of the eval schemas and of the rules they are enforced by."""

import hashlib
import json
from functools import cache

import contract_spec as spec

RULES = (
    "rules/judging.json",
    "rules/limits.json",
    "rules/number_patterns.json",
    "rules/phases.json",
    "rules/reasons.json",
    "rules/rubrics/prompt-drift-v1.json",
)


@cache
def version() -> str:
    """The identifier that `normalizer protocol` prints and that runs record."""
    names = [f"schemas/{name}" for name in spec.names() if name.startswith("eval/")] + list(RULES)
    documents = {name: spec.resource(name) for name in names}
    canonical = json.dumps(documents, sort_keys=True, separators=(",", ":"))
    return "eval-" + hashlib.sha256(canonical.encode()).hexdigest()[:16]
