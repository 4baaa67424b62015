"""Tables of results: each row is a mean over many judgements, which stand elsewhere."""

from normalizer.containers.values import fetch
from normalizer.documents.lossless import Number
from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile, Profile

_MOST = 500
"""Rows of a table that people read."""
_FINE = 2
"""Decimal places of means; a score has fewer."""
_FEW = 6
"""Conditions of a small table."""
_STEPS = 4
"""Parts of 1 in which a score may be given."""


def has_cells(profile: Profile, *, has_keys: bool) -> bool:
    """Whether each row is a cell of a table: a few names tell the rows apart, none is an item, and numbers are means.

    Means have fractions that no scale has, such as 3.98. The names are of models, conditions or criteria.
    """
    fields = [field for field in profile.fields.values() if field.said]
    numbers = [field for field in fields if field.is_numeric]
    labels = [field for field in fields if not field.is_numeric]
    if has_keys or not 1 < len(profile.rows) <= _MOST or not numbers or not labels:
        return False
    if any(not _names_group(field) for field in labels) or any(_is_item(field) for field in fields):
        return False
    means = [field for field in numbers if _has_means(field)]
    groups = {tuple(str(fetch(row, steps_of(field.pointer))) for field in labels) for row in profile.rows}
    return 2 * len(means) > sum(field.places > 0 for field in numbers) > 0 and len(groups) == len(profile.rows)


def _names_group(field: FieldProfile) -> bool:
    """Whether a field names what rows are grouped by: words that stand in several rows, or the names of models."""
    own = names.own_words(field.pointer)
    is_named = bool(own & (names.GENERATORS | names.WEAK_GENERATORS | {"name"}))
    is_shared = not field.is_unique and len(field.values) <= max(_FEW, field.rows // 2)
    return field.is_short and (is_named or field.is_boolean or is_shared)


def _is_item(field: FieldProfile) -> bool:
    own = names.own_words(field.pointer)
    return bool(own & (names.ITEMS | names.QUESTIONS)) and len(field.values) > 1


def _has_means(field: FieldProfile) -> bool:
    """Whether most numbers of a field have fractions that are no quarters."""
    values = [value for value in field.values if type(value) in (Number, str)]
    fine = [value for value in values if field.places >= _FINE and _is_fine(str(value))]
    return 2 * len(fine) > len(values)


def _is_fine(text: str) -> bool:
    try:
        return float(text) * _STEPS % 1 != 0
    except ValueError:
        return False
