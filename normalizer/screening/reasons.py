"""Reasons: why a record is INVALID or a bundle is not what it should be. Values, collected in full, never raised."""

from functools import cache
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents.lossless import dumps
from normalizer.documents.pointers import steps_of


class Reason(NamedTuple):
    """One finding. The code is from the closed taxonomy of `reason.json`."""

    code: str
    pointer: str
    message: str
    file: str | None = None
    """The file that a bundle lacks, or has beside its manifest, where no record is to blame."""


class Draft(NamedTuple):
    """An entry on its way to a record: the record's text without its id, and what is needed to screen it."""

    position: int
    """Its number among the entries of the file, from 0."""
    value: Any
    """The entry in our terms."""
    name: str | None
    """The file or item that it is about."""
    key: str | None
    """Equal for entries that claim to be the same one; None if the container has compared them itself."""
    body: str
    metadata: Any
    origin: Any
    """The part of the container that the entry is made of."""
    member: str = ""
    copies: int = 1
    """How many entries claim to be this one, as far as the container has compared them."""


_SHOWN = 5


class FirstReasons:
    """The first reason of each kind, to be shown, and how many more entries have one."""

    def __init__(self) -> None:
        self._first: dict[str, Reason] = {}
        self._count: dict[str, int] = {}

    def add(self, reason: Reason, member: str = "") -> None:
        """Take note of an entry's reason; of an archive, with the member that holds the entry."""
        code = reason.code
        self._count[code] = self._count.get(code, 0) + 1
        if code not in self._first:
            where = f"in {member}: " if member else ""
            self._first[code] = reason._replace(message=where + reason.message)

    def list_reasons(self) -> list[Reason]:
        """The first of each kind, with the number of others."""
        return [
            reason._replace(message=f"{reason.message} (and {self._count[code] - 1} more)")
            if self._count[code] > 1
            else reason
            for code, reason in list(self._first.items())[:_SHOWN]
        ]


@cache
def _rank() -> dict[str, int]:
    codes = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]
    return {code: rank for rank, code in enumerate(codes)}


def sort(reasons: list[Reason]) -> list[Reason]:
    """The reasons in the order of the taxonomy, then of their pointers."""
    return sorted(
        set(reasons),
        key=lambda reason: (
            _rank()[reason.code],
            reason.pointer,
            reason.message,
            reason.file is not None,
            reason.file or "",
        ),
    )


def reasons_json(reasons: list[Reason]) -> str:
    """The reasons as a JSON list."""
    return dumps([{key: value for key, value in reason._asdict().items() if value is not None} for reason in reasons])


def find_shape_reasons(violations: list[spec.Violation]) -> list[Reason]:
    """Return what the schema finds wrong with an entry, as reasons."""
    found = []
    for violation in first_per_pointer(violations):
        if violation.pointer == "" and violation.keyword == "type":
            found.append(Reason("entry_not_an_object", "", f"the entry {violation.message}"))
            continue
        kind = {"required": "missing", "additionalProperties": "unknown"}.get(violation.keyword, "invalid")
        name = ".".join(steps_of(violation.pointer))
        found.append(Reason(f"entry_field_{kind}", violation.pointer, f"{name} {violation.message}"))
    return found


def shorten(value: Any) -> str:
    """Return a value as JSON, cut after 40 characters."""
    text = dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def first_per_pointer(violations: list[spec.Violation]) -> list[spec.Violation]:
    """Return schema violations of a value, one for each place; a wrong type comes before its consequences."""
    by_weight = sorted(violations, key=lambda violation: violation.keyword != "type")
    return list({violation.pointer: violation for violation in reversed(by_weight)}.values())
