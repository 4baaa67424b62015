"""Readings of scores that stand in free text: yes or no at its beginning, a number at its beginning or after a word."""

from typing import Any

import contract_spec as spec

from normalizer.containers.conversions import MISSING, Read, extractor
from normalizer.containers.values import fetch
from normalizer.documents.pointers import steps_of
from normalizer.guess.fields.profile import FieldProfile
from normalizer.guess.fields.values import declare_score
from normalizer.guess.readings import FileReading, make_reading, name_fields
from normalizer.guess.roles import find_roles
from normalizer.guess.rows import FileRows

_WEIGHT = 1
_MOST_SAID = 0.8
"""The share of texts in which a pattern must find one value."""
_MOST_VALUES = 11
"""Values of a scale. More different numbers are rather something that is counted."""


def text_score_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings of fields in whose texts a pattern finds a few different scores."""
    patterns = spec.resource("rules/guess_words.json")["score_patterns"]
    found = []
    for field in rows.profile.fields.values():
        # Texts that hardly ever are the same, so that they are no words for verdicts.
        if field.kinds["text"] and 2 * len(field.values) > field.rows:
            made = (_reading(rows, field, pattern) for pattern in patterns)
            found += [reading for reading in made if reading is not None][:1]
    return found


def _reading(rows: FileRows, field: FieldProfile, pattern: str) -> FileReading | None:
    extract, steps = extractor(pattern, field.pointer), steps_of(field.pointer)
    texts = [value for row in rows.profile.rows if type(value := fetch(row, steps)) is str]
    inside = FieldProfile(field.pointer)
    for text in texts:
        if (value := extract(Read(text, "")).value) is not MISSING:
            inside.add(value)
    said = inside.texts()
    if inside.rows < _MOST_SAID * len(texts) or not 1 < len({text.lower() for text in said}) <= _MOST_VALUES:
        return None
    if (how := declare_score(inside)) is None:
        return None
    name = steps[-1] if steps else "score"
    roles = find_roles(rows, {field.pointer})
    score: dict[str, Any] = {"at": field.pointer, "pattern": pattern, **how.value}
    doubts = [f"scores are found in {field.pointer} by {pattern}: is it what a judge said, and not what was judged?"]
    if lacking := len(texts) - inside.rows:
        doubts.append(f"{lacking} of {len(texts)} texts have no score, or several: read as failures of the judge")
    declared = {"fields": {"file": roles.item, "scores": {name: score}, **name_fields(roles)}, "key": roles.key}
    title = f"scores: {field.pointer} has the score in its text"
    return make_reading(rows, title, declared, {name: how.scale}, roles, _WEIGHT, [*doubts, *how.doubts])
