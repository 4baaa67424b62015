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
        telling = _telling(pattern) if case_sensitive else pattern
        return Plan(
            scanner(telling, case_sensitive=case_sensitive, literal=True),
            literal(pattern, case_sensitive=case_sensitive),
        )
    try:
        understood = expression(pattern, case_sensitive=case_sensitive)
    except NotUnderstood:
        return Plan(None, NOTHING)
    return Plan(scanner(understood.lines, case_sensitive=case_sensitive), understood.demand)


# How often characters come in text and source, roughly, the frequent ones first; all others are rare.
_FREQUENT = " etaoinsrldcupmfhgby_vw.,x=0()1-\"k'2/:"


def _telling(text: str) -> str:
    """A part of a literal that is found sooner: RE2 looks for first and last byte at once, so these should be rare."""
    weights = [len(_FREQUENT) - found if (found := _FREQUENT.find(char)) >= 0 else 0 for char in text]
    first = min(range(len(text)), key=lambda index: (weights[index], index))
    last = min(range(len(text)), key=lambda index: (weights[index] if abs(index - first) > 2 else 99, -index))
    return text[min(first, last) : max(first, last) + 1] if abs(first - last) > 2 else text
