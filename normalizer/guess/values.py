"""How the values of a field are written: what a dialect declares for them, and the scale on which they stand."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

from normalizer.containers.number_text import number, readable_by
from normalizer.documents.lossless import Number, exact_value
from normalizer.guess import names
from normalizer.guess.profile import FieldProfile, is_failure

_PLACES = 12
_FEW = 12
"""Texts that are listed as failures at most."""


class Declared(NamedTuple):
    """How a score is read."""

    value: dict[str, Any]
    """For the dialect, without where the value stands."""
    scale: dict[str, Any]
    doubts: list[str]


def declare_score(field: FieldProfile) -> Declared | None:
    """Return how the scores in a field are read; None if they are no numbers, booleans or well-known words."""
    failed = sorted((value for value in field.values if is_failure(value)), key=str)
    if field.is_boolean:
        spelled = {str(value): Number(str(int(str(value).lower() == "true"))) for value in field.texts_or_booleans()}
        how = {"booleans": True} if field.kinds["boolean"] else {"labels": spelled}
        return Declared(_with(how, failed), {"kind": "values", "values": [0, 1]}, [])
    if field.is_numeric or field.kinds["numbers"]:
        return _numeric(field, failed)
    texts = field.texts()
    if texts and len(texts) <= _FEW and all(text.strip().lower() in names.WORTH for text in texts):
        labels = {text: Number(str(names.WORTH[text.strip().lower()])) for text in texts}
        told = ", ".join(f"{text} as {worth}" for text, worth in labels.items())
        return Declared(
            _with({"labels": labels}, failed), {"kind": "values", "values": [0, 1]}, [f"{told}: is that meant?"]
        )
    return None


def _numeric(field: FieldProfile, failed: list[Any]) -> Declared | None:
    doubts: list[str] = []
    least, greatest = field.least, field.greatest
    if least is None or greatest is None:
        return None
    numbers = {value: count for value, count in field.values.items() if type(value) in (Number, str)}
    below = [value for value in numbers if _exact(value) == -1]
    if least == -1 and below and sum(numbers[value] for value in below) <= 0.2 * field.said:
        others = [exact for value in numbers if (exact := _exact(value)) is not None and exact != -1]
        if others and min(others) >= 0:
            least = min(others)
            failed += [Number("-1"), "-1"] if field.kinds["numeric"] else [Number("-1")]
            doubts.append(f"-1 of {field.pointer} is read as a failure of the judge, not as a score")
    if field.kinds["text"]:
        garbage = sorted(str(value) for value in numbers if _exact(value) is None and not is_failure(value))
        if not garbage or len(garbage) > _FEW:
            return None
        failed += garbage
        doubts.append(f"{', '.join(map(repr, garbage))} of {field.pointer}: read as failures of the judge")
    how: dict[str, Any] = {"number": sorted(field.patterns)} if field.kinds["numeric"] else {}
    if field.places > _PLACES:
        how["places"] = _PLACES
    scale = _scale(least, greatest, field.places)
    return Declared(_with(how, failed), scale, doubts)


def _scale(least: Decimal, greatest: Decimal, places: int) -> dict[str, Any]:
    if places <= 0:
        return {"kind": "integers", "minimum": int(least), "maximum": int(greatest)}
    step = Decimal(1).scaleb(-min(places, _PLACES))
    bounds = (least.quantize(step, ROUND_FLOOR), greatest.quantize(step, ROUND_CEILING))
    return {"kind": "range", "minimum": Number(f"{bounds[0]:f}"), "maximum": Number(f"{bounds[1]:f}")}


def _exact(value: Any) -> Decimal | None:
    if type(value) is Number:
        return exact_value(value)
    name = next(iter(readable_by(value)), "") if type(value) is str else ""
    found = number(value, name) if name else None
    return None if found is None else exact_value(found)


def _with(how: dict[str, Any], failed: list[Any]) -> dict[str, Any]:
    return {**how, **({"failed": failed} if failed else {}), "absent": "failed"}
