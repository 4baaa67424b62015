"""Reasons: why a record is INVALID or a bundle is not what it should be. Values, collected in full, never raised."""

from functools import cache
from typing import NamedTuple

import contract_spec as spec

from normalizer.documents.lossless import dumps


class Reason(NamedTuple):
    """One finding. The code is from the closed taxonomy of `reason.json`."""

    code: str
    pointer: str
    message: str


@cache
def _rank() -> dict[str, int]:
    codes = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]
    return {code: rank for rank, code in enumerate(codes)}


def sort(reasons: list[Reason]) -> list[Reason]:
    """The reasons in the order of the taxonomy, then of their pointers."""
    return sorted(set(reasons), key=lambda reason: (_rank()[reason.code], reason.pointer, reason.message))


def reasons_json(reasons: list[Reason]) -> str:
    """The reasons as a JSON list."""
    return dumps([reason._asdict() for reason in reasons])


def one_a_place(violations: list[spec.Violation]) -> list[spec.Violation]:
    """Return schema violations of a value, one for each place; a wrong type comes before its consequences."""
    by_weight = sorted(violations, key=lambda violation: violation.keyword != "type")
    return list({violation.pointer: violation for violation in reversed(by_weight)}.values())
