"""How to look for a pattern: what narrows the search, made once for each request."""

from typing import NamedTuple

from zeno.patterns import Scan, scanner
from zeno.search.expression import NOTHING, Demand, NotUnderstood, expression, literal


class Plan(NamedTuple):
    """What narrows a search. RE2's verdict on the line decides in the end."""

    scan: Scan | None
    """Finds in a text of many lines the ones that may match; None: ask about every line."""
    demand: Demand
    """What the index must know of a segment that may hold a matching line."""


def plan(pattern: str, *, regex: bool, case_sensitive: bool) -> Plan:
    """Plan the search for a pattern that RE2 has accepted."""
    if not regex:
        return Plan(
            scanner(pattern, case_sensitive=case_sensitive, literal=True),
            literal(pattern, case_sensitive=case_sensitive),
        )
    try:
        understood = expression(pattern, case_sensitive=case_sensitive)
    except NotUnderstood:
        return Plan(None, NOTHING)
    return Plan(scanner(understood.lines, case_sensitive=case_sensitive), understood.demand)
