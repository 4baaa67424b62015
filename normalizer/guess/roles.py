"""Which fields name the item, the generator and the judge of a row, and what tells rows apart."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from normalizer.documents.lossless import Number
from normalizer.documents.pointers import escape, steps_of
from normalizer.guess import names
from normalizer.guess.profile import FieldProfile
from normalizer.guess.rows import FileRows

NO_JUDGE, NO_GENERATOR = "unnamed-judge", "unnamed-generator"
_MOST_LEVELS = 30
_MOST_FACTORS = 6


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
    fields = [field for field in rows.profile.fields.values() if field.pointer not in used and field.is_short]
    generators = sorted((field for field in fields if _names_generator(field)), key=_generator_rank)
    judges = [field for field in fields if _names_judge(field)]
    doubts = []
    if len(generators) > 1:
        others = ", ".join(field.pointer for field in generators[1:3])
        doubts.append(f"the generator is taken from {generators[0].pointer}; {others} may be meant instead")
    generator = {"at": generators[0].pointer} if generators else _of_document(rows, names.GENERATORS)
    judge = {"at": judges[0].pointer} if judges else _of_document(rows, names.JUDGES)
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
    item = _join([pointer for pointer in told_by if pointer not in named])
    key = ["file", *(named[pointer] for pointer in told_by if pointer in named)]
    return Roles(generator, judge, factors, _join(told_by), item, key, doubts)


def _names_generator(field: FieldProfile) -> bool:
    said = names.own_words(field.pointer)
    if said & names.JUDGES or field.is_boolean or (field.is_numeric and (field.places > 0 or "id" not in said)):
        return False
    return bool(said & names.GENERATORS and not said & {"version", "output", "prompt"}) or said >= {
        "response",
        "source",
    }


def _generator_rank(field: FieldProfile) -> tuple[int, int, str]:
    said = names.own_words(field.pointer)
    return (0 if "model" in said else 1, len(field.pointer), field.pointer)


def _names_judge(field: FieldProfile) -> bool:
    said = names.own_words(field.pointer)
    is_name = "model" in said or "name" in said or "id" in said or len(said) == 1
    return bool(said & names.JUDGES) and is_name and not field.is_numeric and not field.is_boolean


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
    levels = [field for field in fields if field not in ids and len(field.values) > 1 and not field.kinds["null"]][:6]
    for first in ids:
        if first.kinds["null"] or first.rows < rows.looked_at:
            continue
        if first.is_unique:
            return [first.pointer]
        more = [field for field in (*others, *ids, *levels) if field is not first and field.rows == rows.looked_at]
        for size in (0, 1, 2):
            for chosen in combinations(more, size):
                pointers = [first.pointer, *(field.pointer for field in chosen)]
                if _tell_apart(rows, pointers, pair):
                    return pointers
    return []


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
