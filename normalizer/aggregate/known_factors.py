"""Refuse a factor that no record has, with the names that records do have."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from normalizer.aggregate.keys import FACTOR
from normalizer.errors import CannotRun

_SHOWN = 20


def refuse_unknown(named: Iterable[str], records: Iterable[dict[str, Any]]) -> None:
    """Raise CannotRun for the first of the keys `factors.NAME` whose factor none of the records has.

    The records are read once, and only if there is a key to check. They may be INVALID. Without any record nothing is
    refused: there is nothing to compare with.
    """
    wanted = [name.removeprefix(FACTOR) for name in named if name.startswith(FACTOR)]
    if not wanted:
        return
    known: set[str] = set()
    some = False
    for record in records:
        some = True
        factors = record.get("factors")
        if isinstance(factors, dict):
            known.update(factors)
    for name in wanted:
        if some and name not in known:
            raise CannotRun(_sentence(name, sorted(known)))


def _sentence(name: str, known: list[str]) -> str:
    if not known:
        return f"no record has the factor {name}: the records have no factors"
    shown = ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")
    near = [one for one in known if one.startswith(name)] + get_close_matches(name, known, n=1)
    hint = f"; did you mean {FACTOR}{near[0]}?" if near else ""
    return f"no record has the factor {name}: the factors are {shown}{hint}"
