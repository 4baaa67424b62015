"""Names of several columns of scores: those of judges, or words that columns of answers have, too."""

from normalizer.containers.values import fetch
from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile
from normalizer.guess.rows import FileRows

_MOST_RANKED = 0.8
"""The share of rows whose numbers are ranks."""
_FINE = 3
"""Decimal places of numbers that are measured, and not given as a score."""
_SAYERS = names.JUDGES | {"expert", "human"}


def may_be_judges(fields: list[FieldProfile]) -> bool:
    """Whether fields are called like judges, by their names or by numbers."""
    if sum(names.are_qualities(field.pointer) for field in fields) > 1:
        return False
    last = [steps_of(field.pointer)[-1] for field in fields]
    stems = {tuple(word for word in names.words(name) if not word.isdigit()) for name in last}
    return len(stems) == 1 or all(set(names.words(name)) & names.JUDGES or names.names_a_model(name) for name in last)


def have_answers(rows: FileRows, fields: list[FieldProfile]) -> bool:
    """Whether each field differs from the others in words that the field of an answer has: `base_score`, `base_pred`.

    Then these words name generators.
    """
    said = [names.own_words(field.pointer) for field in fields]
    common = frozenset.intersection(*said)
    known = {names.own_words(at) for at, field in rows.profile.fields.items() if field.kinds["text"]}
    called = [own - common for own in said]
    return len(set(called)) == len(fields) and all(
        own and any(own < other and other - own <= names.ANSWERS for other in known) for own in called
    )


def is_computed(field: FieldProfile, others: list[FieldProfile]) -> bool:
    """Whether a field has fractions, and no criterion for its name, beside whole numbers that name who judged.

    A `bm25_score` beside a `judge_score` was measured by a program.
    """
    if field.places < _FINE or names.own_words(field.pointer) & _SAYERS or names.are_qualities(field.pointer):
        return False
    return any(names.own_words(other.pointer) & _SAYERS and other.places <= 0 for other in others)


def has_quality(fields: list[FieldProfile]) -> bool:
    """Whether a word of the names is a criterion."""
    return any(names.is_quality(word) for field in fields for word in names.own_words(field.pointer))


def are_ranks(rows: FileRows, fields: list[FieldProfile]) -> bool:
    """Whether each row has the numbers from 1 on in these fields, each once: then the least one is the best."""
    wanted = sorted(str(number) for number in range(1, len(fields) + 1))
    given = [sorted(str(fetch(row, steps_of(field.pointer))) for field in fields) for row in rows.profile.rows]
    return sum(one == wanted for one in given) > _MOST_RANKED * len(given)
