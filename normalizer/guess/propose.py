"""The readings of a file, the likeliest first, with what each would make of it; or why there is none."""

from typing import BinaryIO, NamedTuple

from normalizer.containers.readers.rows import UnreadableContainer
from normalizer.documents.lossless import dumps
from normalizer.guess import names
from normalizer.guess.duels import duel_readings
from normalizer.guess.free_text import free_text_readings
from normalizer.guess.preview import Preview, preview
from normalizer.guess.readings import FileReading
from normalizer.guess.rows import FileRows, read_rows
from normalizer.guess.scores import score_readings

_MOST = 4
"""Readings that are shown."""
_SURE = 4
"""Comparisons of a greater weight are no scores."""


class Proposals(NamedTuple):
    """Readings that give records, of one way of finding the rows."""

    rows: FileRows
    readings: list[tuple[FileReading, Preview]]


def propose(stream: BinaryIO) -> Proposals | str:
    """Return the readings of a file, or why there is none."""
    try:
        ways = read_rows(stream)
    except UnreadableContainer as error:
        return str(error)
    for rows in ways:
        if why := _summary(rows):
            return why
        duels, scores = duel_readings(rows), score_readings(rows)
        if duels and duels[0].weight > _SURE:
            scores = []
        if not duels and not scores:
            duels = free_text_readings(rows)
        best = max((reading.weight for reading in (*duels, *scores)), default=0)
        readings = [reading for reading in (*scores, *duels) if reading.weight == best]
        shown = []
        for reading in readings[:_MOST]:
            made = preview(stream, dumps(reading.dialect).encode(), reading.rubric)
            if made.valid and made.valid >= made.invalid:
                shown.append((reading, made))
        if shown:
            return Proposals(rows, shown)
    return "no field of its rows looks like a score or a verdict"


def _summary(rows: FileRows) -> str:
    """Say so if the rows are a table of results: each is about one model, with a rate or an interval."""
    said = [names.own_words(pointer) for pointer in rows.profile.fields]
    summed = any(own & names.SUMMARIES or own >= {"win", "rate"} for own in said)
    named = [
        field
        for field in rows.profile.fields.values()
        if names.own_words(field.pointer) & (names.GENERATORS | {"name"}) and field.is_unique
    ]
    if summed and (named or rows.looked_at <= 100):
        return "it is a table of results, not of judgements: `normalizer check` compares it with a ledger"
    return ""
