"""Readings of a file whose verdicts are in free text: at its start, in brackets, or after a word that announces it."""

from collections import Counter

import contract_spec as spec

from normalizer.containers.scope import MISSING, Read
from normalizer.containers.text_patterns import extractor
from normalizer.containers.values import fetch
from normalizer.documents.pointers import steps_of
from normalizer.guess.duels import find_pairs, make_duel, meanings_of
from normalizer.guess.profile import FieldProfile
from normalizer.guess.readings import FileReading
from normalizer.guess.rows import FileRows

_WEIGHT = 2
_MOST_SAID = 0.8
"""The share of texts in which a pattern must find one verdict."""


def free_text_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings of fields in whose texts a pattern finds verdicts for both sides."""
    found = []
    for field in rows.profile.fields.values():
        if field.is_short or not field.kinds["text"]:
            continue
        for pattern in spec.resource("rules/guess_words.json")["verdict_patterns"]:
            if (reading := _reading(rows, field, pattern)) is not None:
                found.append(reading)
                break
    return found


def _reading(rows: FileRows, field: FieldProfile, pattern: str) -> FileReading | None:
    extract, steps = extractor(pattern, field.pointer), steps_of(field.pointer)
    texts = [value for row in rows.profile.rows if type(value := fetch(row, steps)) is str]
    values = Counter(read.value for text in texts if (read := extract(Read(text, ""))).value is not MISSING)
    if values.total() < _MOST_SAID * len(texts):
        return None
    inside = FieldProfile(field.pointer)
    for value in values.elements():
        inside.add(value)
    meanings = meanings_of([inside], has_sides=True)
    if len(meanings) != 1:
        return None
    [meaning] = meanings
    declared = {"at": field.pointer, "pattern": pattern, "words": meaning.words, "absent": "failed"}
    if meaning.failed:
        declared["failed"] = meaning.failed
    said = ", ".join(f"{text} is {word}" for text, word in meaning.words.items())
    doubts = [f"verdicts are found in {field.pointer} by {pattern}, and read so: {said}"]
    if lacking := len(texts) - values.total():
        doubts.append(f"{lacking} of {len(texts)} texts have no verdict, or several: read as failures of the judge")
    title = f"comparisons: {field.pointer} has the verdict in its text"
    sides = [pair for pair in find_pairs(rows) if all(one.kinds["text"] for one in pair)]
    return make_duel(rows, title, {"verdict": declared}, sides, {field.pointer}, doubts, _WEIGHT)
