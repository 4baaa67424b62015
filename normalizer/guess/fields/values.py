"""How the values of a field are written: what a dialect declares for them, and the scale on which they stand."""

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

from normalizer.containers.conversions import MISSING, number, readable_by
from normalizer.containers.values import fetch
from normalizer.documents.lossless import Number, exact_value
from normalizer.documents.pointers import steps_of
from normalizer.documents.rubric import MOST
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile, is_failure
from normalizer.guess.rows import FileRows

_PLACES = 12
_FEW = 12
"""Texts that are listed as failures at most."""


_SAID = 4
"""Decimal places of numbers that a judge says."""


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
    if (scale := _scale_in_words(texts)) is not None:
        told = ", ".join(f"{text} as {worth}" for text, worth in scale.items())
        ends = {"kind": "integers", "minimum": min(map(int, scale.values())), "maximum": max(map(int, scale.values()))}
        return Declared(_with({"labels": scale}, failed), ends, [f"{told}: is that meant?"])
    if texts and len(texts) <= _FEW and all(text.strip().lower() in names.WORTH for text in texts):
        labels = {text: Number(str(names.WORTH[text.strip().lower()])) for text in texts}
        told = ", ".join(f"{text} as {worth}" for text, worth in labels.items())
        return Declared(
            _with({"labels": labels}, failed), {"kind": "values", "values": [0, 1]}, [f"{told}: is that meant?"]
        )
    return None


def join_doubts(fields: Iterable[tuple[FieldProfile, Declared]]) -> list[str]:
    """Return what is doubtful about several fields, each doubt once, with the fields if it is about several."""
    found: dict[str, list[str]] = {}
    for field, made in fields:
        for doubt in made.doubts:
            found.setdefault(doubt, []).append(field.pointer)
    return [doubt if at[0] in doubt else f"{doubt} ({', '.join(at)})" for doubt, at in found.items()]


def widest_scale(scales: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a scale that has the values of all of these."""
    if any(scale["kind"] == "values" for scale in scales):
        return scales[0]
    bounds = [scale[end] for scale in scales for end in ("minimum", "maximum")]
    kind = "integers" if all(scale["kind"] == "integers" for scale in scales) else "range"
    return {"kind": kind, "minimum": min(bounds, key=Decimal), "maximum": max(bounds, key=Decimal)}


def leave_out(rows: FileRows, scores: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    """Move what says that a dimension was not rated from its failures to what is left out. Return it by dimension.

    N/A says so by itself; a blank, null or absent member does where another dimension of the same row has a value.
    """
    steps = {name: steps_of(value["at"]) for name, value in scores.items()}
    blank = dict.fromkeys(scores, False)
    absent = dict.fromkeys(scores, False)
    for row in rows.profile.rows:
        given = {name: fetch(row, steps[name]) for name in scores}
        empty = [name for name, value in given.items() if value is MISSING or is_failure(value)]
        if len(empty) < len(scores):
            blank |= {name: True for name in empty if given[name] is not MISSING}
            absent |= {name: True for name in empty if given[name] is MISSING}
    found = {}
    for name, value in scores.items():
        failed = value.get("failed", [])
        words = [
            each
            for each in failed
            if str(each).strip().lower() in names.NOT_APPLICABLE or (blank[name] and each in ("", None))
        ]
        if not words and not absent[name]:
            continue
        found[name] = words
        if words:
            failed = [each for each in value.pop("failed") if each not in words]
            value |= {"omitted": words, **({"failed": failed} if failed else {})}
        value["absent"] = "omitted"
    return found


def _scale_in_words(texts: list[str]) -> dict[str, Number] | None:
    """Return the numbers of words that are steps of a known scale, or a word and its negation; None for others."""
    said = {text: " ".join(text.lower().split()) for text in texts}
    if len(said) == 2 and (both := {f"not {word}" for word in said.values()} & set(said.values())):
        return {text: Number(str(int(word not in both))) for text, word in said.items()}
    for steps in names.LIKERT:
        if len(said) > 1 and set(said.values()) <= set(steps):
            return {text: Number(str(steps.index(word) + 1)) for text, word in said.items()}
    return None


def _numeric(field: FieldProfile, failed: list[Any]) -> Declared | None:
    doubts: list[str] = []
    least, greatest = field.least, field.greatest
    if least is None or greatest is None or max(least.copy_abs(), greatest.copy_abs()) > MOST:
        return None
    numbers = {value: count for value, count in field.values.items() if type(value) in (Number, str)}
    below = [value for value in numbers if _exact(value) == -1]
    others = [exact for value in numbers if (exact := _exact(value)) is not None and exact != -1]
    if least == -1 and below and others and min(others) >= 0:
        if sum(numbers[value] for value in below) <= 0.2 * field.said:
            least = min(others)
            failed += [Number("-1"), "-1"] if field.kinds["numeric"] else [Number("-1")]
            doubts.append(f"-1 of {field.pointer} is read as a failure of the judge, not as a score")
        else:
            doubts.append(f"-1 of {field.pointer} is read as a score, not as a failure of the judge")
    if field.kinds["text"]:
        garbage = sorted(str(value) for value in numbers if _exact(value) is None and not is_failure(value))
        if not garbage or len(garbage) > _FEW:
            return None
        failed += garbage
        doubts.append(f"{', '.join(map(repr, garbage))} of {field.pointer}: read as failures of the judge")
    if field.places > _SAID:
        doubts.append(f"numbers of {field.pointer} have {field.places} decimal places: are they computed, not said?")
    ways = field.patterns | ({"plain"} if field.kinds["number"] else set())
    if len(ways) > 1 and ways - {"plain", "decimal_comma"}:
        doubts.append(f"numbers of {field.pointer} are written in several ways: {', '.join(sorted(ways))}")
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
