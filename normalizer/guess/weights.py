"""How much each field looks like a score: by its name, by what stands around it, and by the scale of its neighbours."""

from collections import defaultdict
from typing import Any

from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.item_properties import find_properties
from normalizer.guess.fields.profile import FieldProfile
from normalizer.guess.fields.unexplained import join_names, may_judge
from normalizer.guess.roles import find_judges, names_judge
from normalizer.guess.rows import FileRows

GENERIC = 2
"""The weight of a name that any number may have, such as `value`."""
_NAMED = 3
"""The weight of the name of a criterion."""
_FEW = 11
"""Values of a scale without a name."""
_MANY = 3
"""Columns of yes and no that are a list of questions."""
_YES_NO = frozenset(("yes", "no", "y", "n"))


def weigh_fields(rows: FileRows) -> tuple[dict[str, float], list[str]]:
    """Return the weight of each field that may be a score, and doubts about those that seem to be none."""
    fields = rows.profile.fields
    if "columns" in rows.container:
        return {at: float(_has_few_values(field)) for at, field in fields.items()}, []
    given = set(find_properties(rows.profile, find_judges(rows.profile.fields.values())))
    found = {at: _weight(rows, field) for at, field in fields.items() if at not in given}
    if any(_is_category(field) for field in fields.values()):
        # The judge said these words; what a program measured beside them is no judgement.
        found = {at: weight for at, weight in found.items() if not names.own_words(at) & names.METRICS}
    for at, weight in _weigh_neighbours(rows, found).items():
        found[at] = max(found[at], weight)
    if not any(found.values()) and (lone := _find_lone(rows)) is not None:
        found[lone.pointer] = GENERIC
    kept = [fields[at] for at in given if _weight(rows, fields[at])]
    doubts = [
        f"these fields are the same for all judges of an item, so that they are not read as scores: {join_names(kept)}"
    ]
    return found, doubts if kept else []


def _weight(rows: FileRows, field: FieldProfile) -> float:
    """How much the name of a field and those of what it stands in sound like a score."""
    own, said = names.own_words(field.pointer), names.all_words(field.pointer)
    if own & names.NO_SCORES or said & {"logprob", "logprobs", "usage", "metrics"}:
        return 0
    if (field.is_unique and "id" in own) or own & names.SUMMARIES or own >= {"win", "rate"}:
        return 0
    # One item of a list says less about the row than a field of its own.
    inner = 1.5 if any(step.isdigit() for step in steps_of(field.pointer)) else 0
    if (names.states_scale(field.pointer) or _keeps_ends(field)) and field.is_numeric:
        return 4 - inner
    if own <= names.JUDGES and field.is_boolean:
        return _NAMED - inner
    if own & names.METRICS:
        return 1
    if said & names.SCORES:
        # All members of an object that is called scores are as likely.
        return 4 - inner
    if own and (own <= names.CRITERIA or (names.are_qualities(field.pointer) and not field.is_boolean)):
        return _NAMED - inner
    if _ends_in_quality(field):
        return _NAMED - inner
    if _is_judged(rows, field):
        return _NAMED - inner
    return GENERIC - inner if own & (names.LABELS | names.CRITERIA) else 0


def _ends_in_quality(field: FieldProfile) -> bool:
    """Whether a field with a few whole numbers is called by a criterion after other words: `structural_simplicity`."""
    said = names.words((steps_of(field.pointer) or [""])[-1])
    is_scale = field.is_numeric and field.places <= 0 and _has_few_values(field)
    return len(said) > 1 and names.is_quality(said[-1]) and is_scale and not names_judge(field)


def _keeps_ends(field: FieldProfile) -> bool:
    """Whether the name of a field ends with the ends of a scale, and no value is outside of it."""
    ends = names.ends_of_scale(field.pointer)
    return (
        ends is not None
        and field.least is not None
        and field.greatest is not None
        and ends[0] <= field.least
        and field.greatest <= ends[1]
    )


def is_sure(pointer: str) -> bool:
    """Whether the name of a field says that it is a judgement: a score, a verdict, a known criterion, a scale."""
    said = names.all_words(pointer)
    return bool(said & (names.SCORES | names.CRITERIA | names.VERDICTS)) or names.states_scale(pointer)


def _is_judged(rows: FileRows, field: FieldProfile) -> bool:
    """Whether a field is a verdict in words for 0 and 1, a member of a judgement, or stands alone beside its reason."""
    own = names.own_words(field.pointer)
    *parents, _ = steps_of(field.pointer) or [""]
    is_member = bool(parents and set(names.words(parents[-1])) & names.JUDGEMENTS)
    if not (field.is_boolean or _has_worths(field)):
        return is_member and field.is_numeric and not field.is_unique and not names_judge(field)
    if is_member or (own & names.VERDICTS and not own & names.JUDGES):
        return True
    beside = [other for at, other in rows.profile.fields.items() if steps_of(at)[:-1] == parents]
    alone = [other for other in beside if other.is_boolean or _has_worths(other)] == [field]
    return alone and bool(parents) and any(names.own_words(other.pointer) & names.REASONS for other in beside)


def _is_category(field: FieldProfile) -> bool:
    """Whether a field is a judgement in a few words, such as MAJOR and MINOR."""
    return bool(names.own_words(field.pointer) & names.VERDICTS) and field.kinds["text"] > 0 and may_judge(field)


def _has_worths(field: FieldProfile) -> bool:
    """Whether all values are words that stand for 0 and 1, such as yes and FAIL."""
    said = {text.strip().lower() for text in field.texts()}
    return bool(said) and said <= set(names.WORTH) and not field.is_numeric


def _weigh_neighbours(rows: FileRows, weights: dict[str, float]) -> dict[str, float]:
    """Return the weights of fields that others beside them make likely: yes and no, a common first word, one scale.

    Three columns of yes and no are a list of questions, whatever they are called; fewer are, beside criteria. Of
    columns that begin with one word for who rated, or that have a few numbers between the same ends, where two are
    called by criteria, the others are criteria, too.
    """
    found: dict[str, float] = {}
    groups: dict[Any, list[FieldProfile]] = defaultdict(list)
    named: dict[Any, int] = defaultdict(int)
    for at in weights:
        field = rows.profile.fields[at]
        *parents, last = steps_of(at) or [""]
        said = names.words(last)
        named[tuple(parents)] += weights[at] >= _NAMED
        if _has_worths(field) and {text.strip().lower() for text in field.texts()} <= _YES_NO:
            groups["yes or no", *parents].append(field)
        elif field.is_unique or not said or not field.is_numeric or names.own_words(at) & names.NO_SCORES:
            continue
        elif len(said) > 1 and said[0] in names.FILLERS:
            groups[said[0], *parents].append(field)
        elif not names_judge(field) and not names.own_words(at) & (names.METRICS | names.ITEMS | names.SUMMARIES):
            groups["one scale", *parents, _ends(field, is_member=bool(parents))].append(field)
    for (kind, *parents), fields in groups.items():
        if kind == "yes or no":
            likely = len(fields) >= _MANY or named[tuple(parents)] > 0
        else:
            qualities = [field for field in fields if names.are_qualities(field.pointer)]
            likely = len(qualities) >= 2 or (bool(qualities) and _have_same_values(fields))
        if likely:
            found |= dict.fromkeys((field.pointer for field in fields), _NAMED)
        elif kind == "one scale" and (alike := _find_alike(fields, weights)):
            found |= dict.fromkeys(alike, _NAMED)
        elif kind == "one scale" and _are_grid(fields):
            found |= dict.fromkeys((field.pointer for field in fields), GENERIC)
    return found


def _find_alike(fields: list[FieldProfile], weights: dict[str, float]) -> list[str]:
    """Return the fields that begin or end with the same word as one that is called by a criterion."""
    ends = {field.pointer: {said[0], said[-1]} if len(said := _last_words(field)) > 1 else set() for field in fields}
    sure = {word for at, words in ends.items() if weights[at] >= _NAMED for word in words}
    return [at for at, words in ends.items() if words & sure]


def _find_lone(rows: FileRows) -> FieldProfile | None:
    """Return the one field that may be a judgement, beside an item: yes and no, or a few whole numbers; else None.

    Nothing else in such rows can be what was judged, whatever the field is called.
    """
    fields = [field for field in rows.profile.fields.values() if may_judge(field)]
    if len(fields) != 1 or not (fields[0].is_boolean or (fields[0].places <= 0 and _has_few_values(fields[0]))):
        return None
    others = [field for field in rows.profile.fields.values() if field is not fields[0] and field.said]
    is_about_items = any(names.own_words(field.pointer) & (names.ITEMS | names.QUESTIONS) for field in others)
    return fields[0] if is_about_items and all(field.kinds["text"] or field.is_unique for field in others) else None


def _have_same_values(fields: list[FieldProfile]) -> bool:
    """Whether all fields have the same whole numbers, three or more, as criteria on one scale have."""
    said = {frozenset(field.texts()) for field in fields}
    return len(said) == 1 and len(fields[0].texts()) >= _MANY and fields[0].places <= 0


def _last_words(field: FieldProfile) -> tuple[str, ...]:
    return names.words(steps_of(field.pointer)[-1])


def _are_grid(fields: list[FieldProfile]) -> bool:
    """Whether columns with a few whole numbers are called by each of some words before each of others.

    `base_rel`, `base_div`, `tuned_rel` and `tuned_div` are two criteria of two systems, whatever the words mean.
    """
    said = [names.words(steps_of(field.pointer)[-1]) for field in fields]
    firsts, rests = {name[0] for name in said}, {name[1:] for name in said}
    is_full = len(fields) == len(firsts) * len(rests) == len(set(said)) and min(len(firsts), len(rests)) > 1
    return is_full and all(rests) and all(field.places <= 0 and _has_few_values(field) for field in fields)


def _ends(field: FieldProfile, *, is_member: bool) -> tuple[Any, ...]:
    """Return what is equal for fields on one scale: its greatest value, and whether it has a few values or many.

    Members of one object are of one kind: for them the end of a usual scale counts, not how much of it was seen.
    """
    values = len(field.texts())
    usual = next((end for end in (1, 5, 10, 100) if field.greatest is not None and field.greatest <= end), None)
    greatest = usual if is_member and usual is not None else field.greatest
    if values <= _FEW:
        return (greatest, "few")
    is_scale = field.places <= 0 and 2 * values <= field.rows
    return (greatest, "many") if is_scale else (field.pointer,)


def _has_few_values(field: FieldProfile) -> bool:
    """Whether the values of a field without a name are a few different ones, as those of a scale are."""
    return 1 < len(field.texts_or_booleans()) <= _FEW and not field.is_unique
