"""The outcome of a comparison: who won, in the entry's own terms.

A verdict about positions, given on answers that were shown in swapped order, is turned back here and nowhere else;
`outcome.turned` records it.
"""

from decimal import Decimal
from typing import Any

from normalizer.documents.lossless import Number, exact_value
from normalizer.documents.rubric import exact_sum

_OTHER = {"a": "b", "b": "a"}
_SHOWN_FIRST = {"ab": "a", "ba": "b"}


def generators(envelope: dict[str, Any], entry: dict[str, Any]) -> tuple[Any, Any]:
    """The generators of A and B; B's is the bundle's baseline where the entry names none."""
    return entry.get("a"), entry.get("b", envelope.get("baseline"))


def order_of(entry: dict[str, Any]) -> Any:
    """The order shown, `unknown` where the entry records none."""
    return entry.get("order", "unknown")


def about(envelope: dict[str, Any], entry: dict[str, Any]) -> Any:
    """The meaning of `a` and `b` in the verdict: the answers by name, or the positions shown."""
    return entry.get("verdict_about", envelope.get("verdict_about", "answers"))


def outcome(envelope: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any] | None:
    """The verdict in the entry's own terms, or None where the entry does not say enough for one."""
    a, b = generators(envelope, entry)
    order, frame = order_of(entry), about(envelope, entry)
    if type(a) is not str or type(b) is not str or order not in (*_SHOWN_FIRST, "unknown") or not a or not b:
        return None
    if frame not in ("answers", "positions") or "verdict" not in entry:
        return None
    told = verdict_winner(entry["verdict"])
    if told is None:
        return None
    winner, share = told
    turned = frame == "positions" and order == "ba"
    if winner in _OTHER and frame == "positions" and order == "unknown":
        return None
    if turned:
        winner = _OTHER.get(winner, winner)
        share = None if share is None else exact_sum([Decimal(1), -share])
    found: dict[str, Any] = {"a": a, "b": b, "winner": winner}
    if share is not None:
        found["share"] = Number(f"{share:f}")
    return {**found, "shown_first": _SHOWN_FIRST.get(order, "unknown"), "turned": turned}


def verdict_winner(verdict: Any) -> tuple[str, Decimal | None] | None:
    """The winner a verdict names, and A's share where it is a preference; None where it is not a verdict."""
    if verdict is None:
        return "missing", None
    if type(verdict) is Number:
        preference = exact_value(verdict)
        if preference is None or not 1 <= preference <= 2:
            return None
        middle = Decimal("1.5")
        winner = "a" if preference < middle else "b" if preference > middle else "draw"
        return winner, exact_sum([Decimal(2), -preference])
    if type(verdict) is str:
        return (verdict, None) if verdict in ("a", "b", "draw", "both_bad") else None
    if type(verdict) is dict and verdict.keys() == {"a", "b"}:
        scores = [exact_value(score) if type(score) is Number else None for score in (verdict["a"], verdict["b"])]
        if scores[0] is None or scores[1] is None:
            return None
        return ("a" if scores[0] > scores[1] else "b" if scores[1] > scores[0] else "draw"), None
    return None
