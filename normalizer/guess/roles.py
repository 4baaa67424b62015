"""Which fields name the item, the generator and the judge of a row, and what tells rows apart."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from normalizer.containers.values import fetch
from normalizer.documents.lossless import Number
from normalizer.documents.pointers import escape, steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile, Profile, is_failure
from normalizer.guess.rows import FileRows

NO_JUDGE, NO_GENERATOR = "unnamed-judge", "unnamed-generator"
_DIGEST = 128
"""Characters of an id that is a digest."""
ASPECT = "criterion"
"""The factor that is the criterion of a row, where each row is about one."""
_MOST_LEVELS = 30
_MOST_FACTORS = 6
_MOST_LEVEL_FIELDS, _MOST_MORE = 6, 3
"""Fields that are tried beside an id, and how many of them together."""


class Roles(NamedTuple):
    """The fields of rows by what they are for; a value of a dialect, or None where no field is for that."""

    generator: dict[str, Any] | None
    judge: dict[str, Any] | None
    factors: dict[str, dict[str, Any]]
    identity: dict[str, Any]
    """The value that tells the rows apart."""
    item: dict[str, Any]
    """Its part without generator and judge: answers to one question are about one item."""
    key: list[str]
    """The key of a dialect: `file`, and those of generator and judge that tell rows of one item apart."""
    doubts: list[str]


def find_roles(rows: FileRows, used: set[str], pair: Sequence[str] = ()) -> Roles:
    """Find the roles of all fields but those that are used already; `pair` are those of the two that are compared."""
    rows = _drop_unjudged(rows, used)
    fields = [field for field in rows.profile.fields.values() if field.pointer not in used and _is_name(field)]
    generators = sorted((field for field in fields if _names_generator(field)), key=_generator_rank)
    judges = find_judges(fields)
    doubts = []
    if not generators:
        generators = [one for one in fields if names_compared(one, rows)]
        doubts += [f"the generator is taken from {one.pointer}: is that what is compared?" for one in generators[:1]]
    if len(generators) > 1:
        others = ", ".join(field.pointer for field in generators[1:3])
        doubts.append(f"the generator is taken from {generators[0].pointer}; {others} may be meant instead")
    if judges and (len(judges) > 1 or "user" in names.own_words(judges[0].pointer)):
        others = "; ".join(f"{field.pointer} may be meant instead" for field in judges[1:3])
        doubts.append(f"the judge is taken from {judges[0].pointer}{others and '; '}{others}")
    generator = {"at": generators[0].pointer} if generators else _of_document(rows, names.GENERATORS)
    judge = {"at": judges[0].pointer} if judges else _of_document(rows, names.JUDGES)
    if judge is None and generator is not None and "of" in generator:
        doubts.append(f"{generator['at']} of the document is taken for the generator of all rows: it may be the judge")
    named = {
        field.pointer: role
        for role, some in (("generator_model", generators), ("judge_model", judges))
        for field in some[:1]
    }
    factors = {
        "_".join(names.words(steps_of(field.pointer)[-1])) or "field": {"at": field.pointer}
        for field in [one for one in fields if one.pointer not in named and _is_level(one, rows)][:_MOST_FACTORS]
    }
    unnamed = [field for field in fields if field.pointer not in named]
    told_by = _find_id_fields(rows, unnamed, generators[:1] + judges[:1], pair)
    if not told_by and not rows.has_keys:
        doubts.append("no field tells the rows apart, so each row is an item of its own, named by its number")
    elif told_by and not _names_item(told_by[0]):
        doubts.append(f"{told_by[0]} is taken for the item: with judge and generator it tells the rows apart")
    repeats = [pointer for pointer in told_by if names_repeat(rows.profile.fields[pointer])][:1]
    aspects = [pointer for pointer in told_by if names_aspect(rows.profile.fields[pointer])][:1]
    first, *more = [pointer for pointer in told_by if pointer not in (*named, *repeats, *aspects)] or [""]
    if more:
        doubts.append(f"the item is {first} with {', '.join(more)}: is each about the item, or about who judged?")
    item = _join([first, *more] if first or more else [])
    key = ["file", *(named[pointer] for pointer in told_by if pointer in named)]
    if repeats:
        doubts.append(f"{repeats[0]} is taken for the number of a repetition: those of one item count together")
        factors["repeat"] = {"at": repeats[0]}
        key.append("repeat")
    if aspects:
        doubts.append(
            f"each row is about one {aspects[0]}: the table is by it, and a mean over all of them says little"
        )
        factors = {name: value for name, value in factors.items() if value["at"] != aspects[0]}
        factors[ASPECT] = {"at": aspects[0]}
        key.append(ASPECT)
    return Roles(generator, judge, factors, _join(told_by), item, key, doubts)


def _drop_unjudged(rows: FileRows, used: set[str]) -> FileRows:
    """Return the rows without those in which nothing was judged, which often name nothing either."""
    steps = [steps_of(pointer) for pointer in used]
    kept = [row for row in rows.profile.rows if not all(is_failure(fetch(row, path)) for path in steps)]
    if not steps or not kept or len(kept) == rows.looked_at:
        return rows
    profile = Profile()
    for row in kept:
        profile.add(row)
    return rows._replace(profile=profile)


def _is_name(field: FieldProfile) -> bool:
    """Whether the values of a field are short, or digests that are ids."""
    is_id = bool(names.own_words(field.pointer) & names.ITEMS) and field.characters <= _DIGEST * field.said
    return field.is_short or (is_id and field.said > 0 and not field.kinds["list"])


def _names_generator(field: FieldProfile) -> bool:
    said = names.own_words(field.pointer)
    if said & names.JUDGES or field.is_boolean or (field.is_numeric and (field.places > 0 or "id" not in said)):
        return False
    return bool(said & names.GENERATORS and not said & {"version", "output", "prompt"}) or said >= {
        "response",
        "source",
    }


def names_compared(field: FieldProfile, rows: FileRows) -> bool:
    """Whether a field names the generator, or a few methods or conditions that may be compared as generators are."""
    is_weak = bool(names.own_words(field.pointer) & names.WEAK_GENERATORS) and _is_level(field, rows)
    return is_weak or (_is_name(field) and _names_generator(field))


def _generator_rank(field: FieldProfile) -> tuple[int, int, str]:
    said = names.own_words(field.pointer)
    return (0 if "model" in said else 1, len(field.pointer), field.pointer)


def names_judge(field: FieldProfile) -> bool:
    """Whether a field names who judged, or numbers them."""
    if field.pointer.startswith("/star/"):
        return field.pointer.endswith(" rater")  # the keys that lead to the judgements of `nested`
    said = names.own_words(field.pointer)
    has_id = bool(said & {"id", "ids", "idx", "index", "number", "no"})
    if "user" in said and (field.is_unique or 2 * len(field.values) > field.rows):
        return False
    if said & names.RATED_BY and said & {"by", "to"}:
        return not field.is_boolean and field.places <= 0
    if said and said <= names.RATERS - {"user"} and _are_codes(field):
        return True
    if field.is_boolean or field.places > 0 or not (said & names.JUDGES or (said & names.RATERS and has_id)):
        return False
    # People are numbered; a number beside "judge" is rather the verdict.
    is_number = field.is_numeric and not has_id and not said <= names.JUDGES - {"judge", "eval"}
    return not is_number and ("model" in said or "name" in said or has_id or len(said) == 1)


def _are_codes(field: FieldProfile) -> bool:
    """Whether all values are a letter or two, or have a digit, as people are called whose names are not told."""
    said = field.texts()
    return len(said) > 1 and field.places <= 0 and all(len(text) <= 2 or re.search(r"\d", text) for text in said)


def find_judges(fields: Iterable[FieldProfile]) -> list[FieldProfile]:
    """Return the fields that name who judged, the likeliest first."""
    return sorted((field for field in fields if names_judge(field)), key=_judge_rank)


def _judge_rank(field: FieldProfile) -> tuple[int, str]:
    said = names.own_words(field.pointer)
    return (len(said - names.JUDGES - names.RATERS - {"model", "name", "id", "ids"}) + ("user" in said), field.pointer)


def names_aspect(field: FieldProfile) -> bool:
    """Whether a field names the criterion that a row is about."""
    said = names.own_words(field.pointer) - {"id", "name"}
    return said <= names.ASPECTS and bool(said) and 1 < len(field.values) <= _MOST_LEVELS and field.kinds["text"] > 0


def names_repeat(field: FieldProfile) -> bool:
    """Whether a field numbers the repetitions of one judgement."""
    said = names.own_words(field.pointer)
    return bool(said & names.REPEATS) and "id" not in said and field.is_numeric and field.places <= 0


def _is_level(field: FieldProfile, rows: FileRows) -> bool:
    """Whether a field divides the rows into a few groups."""
    levels = len(field.values)
    return 1 < levels <= min(_MOST_LEVELS, rows.looked_at // 2) and not field.kinds["null"] and field.kinds["text"] > 0


def _of_document(rows: FileRows, wanted: frozenset[str]) -> dict[str, Any] | None:
    if type(rows.document) is not dict:
        return None
    for key, value in rows.document.items():
        if set(names.words(key)) & wanted and type(value) is str and 0 < len(value) <= 80:
            return {"of": "document", "at": f"/{escape(key)}"}
    return None


def _join(pointers: list[str]) -> dict[str, Any]:
    """Return the value of fields together; of none, the row's key or number."""
    if len(pointers) == 1:
        return {"at": pointers[0]}
    return {"template": "/".join(f"{{{pointer}}}" for pointer in pointers) or "{index}"}


def _find_id_fields(
    rows: FileRows, fields: list[FieldProfile], others: list[FieldProfile], pair: Sequence[str]
) -> list[str]:
    """Return the fields that tell rows of one pair apart: an id, or one with several others; none if there are none."""
    if rows.has_keys:
        return []
    ids = sorted(
        (field for field in fields if names.own_words(field.pointer) & names.ITEMS or not field.pointer[1:]),
        key=_id_rank,
    )[:3]
    # The text of a question tells as much as its number, where rows have no number.
    ids += sorted((field for field in fields if _is_question(field) and field not in ids), key=_id_rank)[:1]
    levels = [field for field in fields if field not in ids and len(field.values) > 1 and not field.kinds["null"]]
    levels.sort(key=lambda field: (field.is_boolean, not field.kinds["text"], field.pointer))
    named = [field.pointer for field in others if field.rows == rows.looked_at and not field.kinds["null"]]
    ids = [field for field in ids if field.rows == rows.looked_at and not field.kinds["null"]]
    for first in ids:
        # A question that several answer is the item, also where each row has a number of its own.
        if not first.is_unique and (named or pair) and _tell_apart(rows, [first.pointer, *named], pair):
            return _without_needless(rows, [first.pointer], named, pair)
    for first in ids:
        more = [field for field in (*ids, *levels[:_MOST_LEVEL_FIELDS]) if field is not first]
        more = [field for field in more if field.rows == rows.looked_at and not field.kinds["null"]]
        for size in range(_MOST_MORE + 1):
            for chosen in combinations(more, size):
                pointers = [first.pointer, *(field.pointer for field in chosen)]
                # Answers of several generators, by several judges, are of one item: they need no more to tell apart.
                if _may_tell_apart(rows, [*pointers, *named]) and _tell_apart(rows, [*pointers, *named], pair):
                    return _without_needless(rows, pointers, named, pair)
    # No field is called an id, and one or two with generator and judge are in each row once.
    few = [one for one in levels if one.places <= 0 and not one.is_boolean and not one.is_unique and named]
    few = sorted(few, key=_id_rank)[:_MOST_LEVEL_FIELDS]
    for chosen in (*combinations(few, 1), *combinations(few, 2)):
        pointers = [field.pointer for field in chosen]
        if _tell_apart(rows, [*pointers, *named], pair):
            return _without_needless(rows, pointers, named, pair)
    return []


def _may_tell_apart(rows: FileRows, pointers: list[str]) -> bool:
    """Whether there are as many combinations of the values of fields as rows."""
    return math.prod(len(rows.profile.fields[pointer].values) for pointer in pointers) >= rows.looked_at


def _without_needless(rows: FileRows, pointers: list[str], named: list[str], pair: Sequence[str]) -> list[str]:
    """Return the fields without those of judge and generator by which no rows are told apart."""
    for pointer in reversed(named):
        fewer = [each for each in named if each != pointer]
        if _tell_apart(rows, [*pointers, *fewer], pair):
            named = fewer
    return [pointers[0], *named, *pointers[1:]]


def _names_item(pointer: str) -> bool:
    own = names.own_words(pointer)
    return bool(own & names.ITEMS or own <= names.QUESTIONS or not pointer[1:])


def _id_rank(field: FieldProfile) -> tuple[int, int, str]:
    return (-len(field.values), len(field.pointer), field.pointer)


def _is_question(field: FieldProfile) -> bool:
    said = names.own_words(field.pointer)
    return bool(said) and said <= names.QUESTIONS and not field.is_boolean


def _tell_apart(rows: FileRows, pointers: list[str], pair: Sequence[str]) -> bool:
    steps = [steps_of(pointer) for pointer in (*pointers, *pair)]
    seen = set()
    for row in rows.profile.rows:
        values = []
        for path in steps:
            value: Any = row
            for step in path:
                value = value.get(step) if type(value) is dict else None
            if type(value) not in (str, Number) or value == "":
                return False
            values.append(value)
        # A pair is one whichever of the two is named first.
        seen.add((*values[: len(pointers)], frozenset(values[len(pointers) :])))
    return len(seen) == rows.looked_at
