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
        demand = literal(pattern, case_sensitive=case_sensitive)
        return Plan(_sooner(demand) or scanner(pattern, case_sensitive=case_sensitive, literal=True), demand)
    try:
        understood = expression(pattern, case_sensitive=case_sensitive)
    except NotUnderstood:
        return Plan(None, NOTHING)
    demand = understood.demand
    return Plan(_sooner(demand) or scanner(understood.lines, case_sensitive=case_sensitive), demand)


def _sooner(demand: Demand) -> Scan | None:
    """Finds the needles that a matching line must hold: RE2 finds literals many times sooner than most patterns."""
    scans = [scanner(_telling(needle.decode()), literal=True) for needle in sorted(demand.needles) if _is_text(needle)]
    found = [scan for scan in scans if scan is not None]
    if not found or len(found) < len(demand.needles):
        return None
    if len(found) == 1:
        return found[0]

    def scan(text: bytes, start: int, end: int) -> tuple[int, int]:
        nearest = (-1, -1)
        for one in found:
            place = one(text, start, end)
            if place[0] >= 0:
                # What comes after the nearest so far is of no interest.
                nearest, end = place, place[1]
        return nearest

    return scan


def _is_text(needle: bytes) -> bool:
    """Whether a needle begins and ends with whole characters."""
    return needle.isascii() or needle.decode("utf-8", "ignore").encode() == needle


# How often characters come in text and source, roughly, the frequent ones first; all others are rare.
_FREQUENT = " etaoinsrldcupmfhgby_vw.,x=0()1-\"k'2/:"


def _telling(text: str) -> str:
    """A part of a literal that is found sooner: RE2 looks for first and last byte at once, so these should be rare.

    Most of the literal stays, for a part that is found where the whole is not costs more than it saves.
    """
    weights = [len(_FREQUENT) - found if (found := _FREQUENT.find(char)) >= 0 else 0 for char in text]
    room = len(text) * 2 // 5 if len(text) < 256 else 0
    choices = [(start, stop) for start in range(room + 1) for stop in range(len(text) - room + start, len(text) + 1)]
    start, stop = min(choices, key=lambda ends: (weights[ends[0]] + weights[ends[1] - 1], ends[0] - ends[1]))
    return text[start:stop]
