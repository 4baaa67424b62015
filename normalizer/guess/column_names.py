"""Names of several columns of scores: those of judges, or words that columns of answers have, too."""

from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile
from normalizer.guess.rows import FileRows


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
