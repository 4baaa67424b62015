"""Fields that may be judgements, or may name something, and that a reading does not use: each is told by its name.

A reading is right only if these are what it takes them for: people look at them before they believe it. Fields are not
told if their values never change or never repeat, or are long texts, or if their names say that they count something,
tell rows apart, give a reason or are metrics.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile, Profile

_MOST_WORDS = 12
"""Different words of a field that may be verdicts."""
_SHOWN_WORDS = 3
_FEWEST_STEPS = 3
"""Different whole numbers of a field that may stand on the scale of another."""
_MOST_ZEROS = 30
_MOST_NAMED = 12
"""Fields that are named; of others only the number is told."""


def pointers_in(value: Any) -> Iterator[str]:
    """Yield the pointers of a part of a dialect, those in templates, and the names in lists."""
    if type(value) is dict:
        for key, inner in value.items():
            if key == "template":
                yield from (part.partition("}")[0].rpartition(":")[2] for part in str(inner).split("{")[1:])
            elif key == "at" and type(inner) is str:
                yield inner
            else:
                yield from pointers_in(inner)
    elif type(value) is list:
        for inner in value:
            yield from pointers_in(inner) if type(inner) in (dict, list) else (str(inner),)


def describe(field: FieldProfile) -> str:
    """Return the name of a field and what stands in it, in a few words."""
    if field.is_numeric or field.kinds["numbers"]:
        if field.least is None or field.greatest is None:
            return field.pointer
        return f"{field.pointer} ({_spell(field.least)} to {_spell(field.greatest)})"
    said = [str(value) for value in field.texts_or_booleans()]
    more = ", ..." if len(said) > _SHOWN_WORDS else ""
    return f"{field.pointer} ({', '.join(sorted(said)[:_SHOWN_WORDS])}{more})"


def _spell(number: Decimal) -> str:
    """Return a number in digits; one with more zeros than anyone reads with its exponent."""
    return f"{number:f}" if abs(int(number.as_tuple().exponent)) <= _MOST_ZEROS else str(number)


def join_names(fields: Iterable[FieldProfile]) -> str:
    """Return the fields with what stands in them, the first dozen, and how many others there are."""
    told = [describe(field) for field in fields]
    more = f" and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    return ", ".join(told[:_MOST_NAMED]) + more


def tell_judgements(profile: Profile, declared: dict[str, Any], known: Iterable[str] = ()) -> list[str]:
    """Return the doubt that names the fields that may be judgements, too; none if there are no such fields.

    `known` are fields that are explained in another way.
    """
    used = {*_pointers_beside_levels(declared), *known}
    scales = {_scale(profile.fields[at]) for at in used if at in profile.fields} - {None}
    parts = tuple(f"{part}/" for part in declared.get("parts", ()))
    lists = declared.get("split", "")
    found = [
        field
        for at, field in profile.fields.items()
        if at not in used
        and not at.startswith(parts)
        and not lists.startswith(f"{at}/")
        and not is_split(at, lists)
        and (may_judge(field) or _scale(field) in scales)
    ]
    return [f"these fields may be judgements, too, and are not used: {join_names(found)}"] if found else []


def is_split(pointer: str, split: str) -> bool:
    """Whether a field is what a `split` leads to, or a member of it."""
    wanted, given = split.split("/"), pointer.split("/")
    return (
        bool(split)
        and len(given) >= len(wanted)
        and all(one in ("*", other) for one, other in zip(wanted, given, strict=False))
    )


def _pointers_beside_levels(declared: dict[str, Any]) -> Iterator[str]:
    """Yield the pointers of a dialect without those of its levels: a verdict may look like a level."""
    for key, inner in declared.items():
        if key == "factors":
            continue
        yield from _pointers_beside_levels(inner) if key in ("fields", "comparison") else pointers_in({key: inner})


def _scale(field: FieldProfile) -> tuple[Decimal, Decimal] | None:
    """Return the ends of a few whole numbers, by which a field is told whatever it is called; None for other fields."""
    if field.least is None or field.greatest is None or field.places > 0 or field.is_unique or not field.is_numeric:
        return None
    return (field.least, field.greatest) if _FEWEST_STEPS <= len(field.values) <= _MOST_WORDS else None


def may_judge(field: FieldProfile) -> bool:
    """Whether the values of a field may be judgements, and its name does not say that they are something else."""
    own = names.own_words(field.pointer)
    if field.is_unique or (len(field.values) < 2 and not field.kinds["numbers"]):
        return False
    if own & (names.METRICS | names.ITEMS | names.SWAPS) or own <= names.REPEATS:
        return False
    if own & names.NO_SCORES and not own & names.SCORES:  # `high_quality_score` is called a score as well
        return False
    if field.is_numeric or field.kinds["numbers"]:
        return True
    said = {str(value).strip().lower() for value in field.texts_or_booleans()}
    if field.is_boolean or (said and said <= {*names.WORTH, *(word for scale in names.LIKERT for word in scale)}):
        return True
    return field.is_short and 1 < len(said) <= _MOST_WORDS and bool(own & (names.VERDICTS | names.LABELS))


def may_name(field: FieldProfile, looked_at: int) -> bool:
    """Whether a field may name who judged, or whose answer it is: a few names or whole numbers, each in some rows."""
    levels = len(field.texts_or_booleans())
    fewest = 1 if field.kinds["text"] else 2
    if field.is_boolean or field.places > 0 or not field.is_short or not fewest <= levels <= max(2, looked_at // 2):
        return False
    return not names.own_words(field.pointer) & (names.REASONS | names.METRICS)
