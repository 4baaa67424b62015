"""How to look for a pattern whose matches may run over several lines.

A match holds literals, and each literal without a line feed stands in one line. So a file with a match has a line with
such a literal, and the plan that finds these lines, with index and scans, also finds the files to search. RE2 then
looks at their whole text.
"""

import re

from zeno.index.regex_reader import Expression, NotUnderstood, expression
from zeno.search.plan import Plan

# A shorter literal stands in almost every file.
MIN_LITERAL = 2


def plan_for_text(pattern: str, *, regex: bool, case_sensitive: bool) -> Plan:
    """Return a plan for lines such that every file with a match of the pattern has one of these lines."""
    if not regex:
        literal = max(pattern.split("\n"), key=len)
        return _everything() if not literal else Plan(literal, regex=False, case_sensitive=case_sensitive)
    try:
        understood = expression(pattern, case_sensitive=case_sensitive)
    except NotUnderstood:
        return _everything()
    choices = [one for one in map(_within_lines, understood.needles) if one]
    if choices:
        # Few and long literals are rare and cheap to look for.
        literals = min(choices, key=lambda one: (len(one), -min(map(len, one)), sorted(one)))
        return Plan("|".join(map(re.escape, sorted(literals))), regex=True, case_sensitive=True)
    literal = _in_any_case(understood)
    return _everything() if not literal else Plan(literal, regex=False, case_sensitive=False)


def _everything() -> Plan:
    """A plan that rules no line out: the empty pattern is in all of them."""
    return Plan("", regex=True, case_sensitive=True)


def _within_lines(needles: frozenset[bytes]) -> frozenset[str]:
    """Return the longest part of each needle within a line; nothing if one of them is too short."""
    parts = {max(needle.split(b"\n"), key=len).decode("utf-8", "ignore") for needle in needles}
    return frozenset(parts) if min(map(len, parts)) >= MIN_LITERAL else frozenset()


def _in_any_case(understood: Expression) -> str:
    """Return the longest literal of a pattern that may stand in either case; empty if there is none."""
    parts = [part for tail in understood.tails for part in tail.literal.split(b"\n")]
    literal = max((part.decode("utf-8", "ignore") for part in parts), key=len, default="")
    return literal if len(literal) >= MIN_LITERAL else ""
