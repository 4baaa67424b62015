"""The field that says which of two answers was shown first, and whether verdicts are about that order or about names.

Where two answers were judged in both orders, verdicts say it themselves: if the letter changes with the order, it is
that of a place; if it stays, that of an answer.
"""

import re
from collections import defaultdict
from typing import Any

from normalizer.containers.values import fetch
from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile, Profile

_NO_LETTER = re.compile("[^a-z0-9]|first|then|order|vs")
_FIRST = frozenset(("ab", "a", "original", "normal", "forward", "false", "0", "unswapped", "straight"))
_OTHER = frozenset(("ba", "b", "swapped", "swap", "reversed", "reverse", "flipped", "true", "1", "backward"))
_ALONE = frozenset(("ab", "ba"))
"""Values that say it whatever the field is called."""
_NAMES = names.SWAPS | {"order", "ordering", "position", "positions", "direction"}
_FEWEST, _MOST_OTHERS = 5, 4
"""Pairs of rows that say it, and how many times more they must be than those that say otherwise."""


def find_order(profile: Profile) -> tuple[FieldProfile, dict[str, str]] | None:
    """Return the field that shows the order, with what its values mean; None if there is none."""
    for field in profile.fields.values():
        values = {str(value): _NO_LETTER.sub("", str(value).lower()) for value in field.texts_or_booleans()}
        meant = {text: "ab" if core in _FIRST else "ba" for text, core in values.items() if core in _FIRST | _OTHER}
        is_named = bool(names.own_words(field.pointer) & _NAMES) or set(values.values()) == _ALONE
        if is_named and len(meant) == len(values) and set(meant.values()) == {"ab", "ba"} and not field.kinds["null"]:
            return field, {text.lower() if field.kinds["boolean"] else text: order for text, order in meant.items()}
    return None


def declare_order(
    profile: Profile, found: tuple[FieldProfile, dict[str, str]], verdict: dict[str, Any], apart: list[str]
) -> tuple[dict[str, Any], str]:
    """Return what a dialect declares of the order, if rows tell what verdicts are about, and the doubt about it.

    `apart` are the fields by which rows about the same two answers are known.
    """
    field, words = found
    pairs: dict[Any, dict[str, str]] = defaultdict(dict)
    for row in profile.rows:
        order = fetch(row, steps_of(field.pointer))
        meant = verdict["words"].get(str(fetch(row, steps_of(verdict["at"]))))
        if meant in ("a", "b"):
            order = words.get(str(order).lower() if type(order) is bool else str(order), "")
            pairs[tuple(str(fetch(row, steps_of(at))) for at in apart)][order] = meant
    both = [given for given in pairs.values() if len(given) == len("ab")]
    changed = sum(given["ab"] != given["ba"] for given in both)
    about = next(
        (
            about
            for about, count in (("positions", changed), ("answers", len(both) - changed))
            if count >= _FEWEST and count >= _MOST_OTHERS * (len(both) - count)
        ),
        None,
    )
    if about is None:
        return {}, f"{field.pointer} may say that the order was swapped: verdicts are read as about the answers by name"
    told = (
        f"{field.pointer} is the order shown, and verdicts are about {about}: in {changed} of {len(both)} pairs of "
        "rows the verdict changes with the order"
    )
    return {"verdict_about": about, "order": {"at": field.pointer, "words": words}}, told
