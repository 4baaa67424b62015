"""Which records a number is made of: every VALID record with its levels and what became of it, by one query.

`counted` are the records of a group's numbers. The others have the reason why they are in none, as in `left_out`.
"""

from collections.abc import Iterator
from fractions import Fraction
from sys import intern
from typing import Any, NamedTuple

from normalizer.aggregate.eligibility import Kind, Levels, Rules
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.parsed_lines import COLUMNS, ID, MEMBERS
from normalizer.aggregate.query import Query
from normalizer.aggregate.units import prepare_records
from normalizer.ledger.open_ledgers import OpenLedgers

_NAMES = tuple(name for name in MEMBERS if name != "self_judged")


class ListedRecord(NamedTuple):
    """A VALID record of a selection."""

    id: str
    status: str
    """counted, or the reason for which it is in no number."""
    levels: Levels
    kind: Kind
    members: dict[str, Any]
    """Its metadata, as far as numbers may depend on it."""
    worths: dict[str, Fraction] | None
    """Exact values of its scores; None where one is not on the scale."""


def select_statuses(query: Query, rules: Rules) -> str:
    """Return SQL over prepared records that adds `status`: counted, or the reason for which it is in no number."""
    # A group whose counted records are all self-judged has no number.
    among = ", ".join([*query.keys, "became"])
    final = (
        f"CASE WHEN became = 'counted' AND MIN(self) OVER (PARTITION BY {among}) = 1 THEN 'self_judged' ELSE became END"
    )
    return f"SELECT *, {final} AS status FROM (SELECT *, {rules.status()} AS became FROM {query.table}) AS r"


def list_records(engine: Engine, query: Query, given: OpenLedgers, rules: Rules) -> Iterator[ListedRecord]:
    """Yield every VALID record of ledgers, in no particular order; of a bundle in two ledgers, those of the first."""
    width, unit = len(query.by), 10**query.places
    columns = [COLUMNS[name][1] if name in COLUMNS else name for name in _NAMES]
    taken = ", ".join(["status", ID, "self", "off", "factors", *query.keys, *columns, *query.measures[:-1]])
    # Scores off the scale are shown as such whatever is counted, so that they are always read exactly.
    with prepare_records(engine, query, given, diagnostic=True, ids=True) as query:
        known = f"({select_statuses(query, rules)}) AS s"
        for status, record_id, own, off, factors, *rest in engine.rows(f"SELECT {taken} FROM {known}"):
            levels, values, scores = rest[:width], rest[width : width + len(columns)], rest[width + len(columns) :]
            pairs = zip(_NAMES, values, strict=True)
            members = {
                name: intern(value) if type(value) is str else value for name, value in pairs if value is not None
            }
            if factors:
                members["factors"] = dict(factors)
            kind = Kind(
                int(members["phase"]),
                members.get("protocol_version"),
                bool(own),
                bool(off),
                members["judge_kind"],
                members.get("leg"),
            )
            worths = None
            if not off:
                worths = {
                    name: Fraction(int(score), unit)
                    for name, score in zip(query.rubric.dimensions, scores, strict=True)
                }
            yield ListedRecord(record_id, intern(status), tuple(levels), kind, members, worths)
