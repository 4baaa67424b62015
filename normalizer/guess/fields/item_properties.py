"""Numbers that belong to an item and not to a judgement of it: they are the same for all who judged."""

from collections import defaultdict
from typing import Any

from normalizer.containers.values import fetch
from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile, Profile, is_failure

_MOST = 0.9
"""The share of items, judged by several, in which a property is the same."""
_SOME = 0.3
"""The share of them in which something else differs, so that those who judged are not of one mind in everything."""
_FEWEST = 5
"""Items that several judged."""


def find_properties(profile: Profile, judges: list[FieldProfile]) -> list[str]:
    """Return the fields whose numbers are the same for all judges of an item, where others differ; none if unknown."""
    groups = _items(profile, judges[0]) if judges else []
    if not groups:
        return []
    differing = {
        at: sum(_differ(rows, steps_of(at)) for rows in groups) / len(groups)
        for at, field in profile.fields.items()
        if field not in judges and (field.is_numeric or field.is_boolean) and len(field.values) > 1
    }
    if max(differing.values(), default=0) < _SOME:
        return []
    return [at for at, share in differing.items() if share <= 1 - _MOST]


def _items(profile: Profile, judge: FieldProfile) -> list[list[dict[str, Any]]]:
    """Return the rows of each item that several judged, by the field that makes most such items of the rows."""
    who = steps_of(judge.pointer)
    best: list[list[dict[str, Any]]] = []
    for field in profile.fields.values():
        # Rows with one and the same score are no rows of one item.
        is_name = field.kinds["text"] > 0 or bool(names.own_words(field.pointer) & names.ITEMS)
        if field is judge or not is_name or not 1 < len(field.values) <= field.rows // 2:
            continue
        groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        for row in profile.rows:
            value = fetch(row, steps_of(field.pointer))
            if type(value) not in (list, dict) and not is_failure(value):
                groups[value].append(row)
        several = [rows for rows in groups.values() if len({str(fetch(row, who)) for row in rows}) > 1]
        once = [rows for rows in several if len({str(fetch(row, who)) for row in rows}) == len(rows)]
        if len(once) >= _FEWEST and 2 * len(once) > len(groups) and len(once) > len(best):
            best = once
    return best


def _differ(rows: list[dict[str, Any]], steps: list[str]) -> bool:
    return len({str(fetch(row, steps)) for row in rows}) > 1
