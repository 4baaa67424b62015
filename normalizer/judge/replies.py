"""Check whether a reply can become an entry: it must be strict JSON of the entry's shape. Nothing is repaired.

Its scores are not checked against the rubric here: they are the judge's answer, which `normalize` screens.
"""

from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents import lossless
from normalizer.documents.settings import LIMITS


class CheckedReply(NamedTuple):
    """A reply's members, or why it cannot be used."""

    members: dict[str, Any] | None
    problem: str | None


def read_reply(data: bytes, *, truncated: bool = False) -> CheckedReply:
    """Parse and check the bytes of a reply."""
    if truncated:
        return CheckedReply(None, "it is longer than a reply may be")
    if not data.strip():
        return CheckedReply(None, "it is empty")
    try:
        value = lossless.parse(data, LIMITS["max_depth"])
    except spec.NotStrictJson as error:
        return CheckedReply(None, f"it is not strict JSON: {error}")
    violations = spec.violations("eval/judge_reply.json", lossless.to_builtin(value))
    if violations:
        where, _, what = violations[0]
        return CheckedReply(None, f"it does not have the shape of a reply: {spec.dotted('reply', where)} {what}")
    return CheckedReply(value, None)
