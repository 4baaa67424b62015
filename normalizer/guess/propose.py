"""The readings of a file, the likeliest first, with what each would make of it; or why there is none."""

from typing import BinaryIO, NamedTuple

from normalizer.containers.readers.rows import UnreadableContainer
from normalizer.documents.lossless import dumps
from normalizer.guess.duels import duel_readings
from normalizer.guess.fields import names
from normalizer.guess.fields.result_tables import has_cells
from normalizer.guess.fields.unexplained import join_names, may_judge
from normalizer.guess.grids import alike_column_readings, grid_readings
from normalizer.guess.nested import find_nested, whole_document, write_split
from normalizer.guess.preview import Preview, preview
from normalizer.guess.readings import FileReading
from normalizer.guess.rows import FileRows, read_rows
from normalizer.guess.scores import score_readings
from normalizer.guess.text_scores import text_score_readings
from normalizer.guess.verdict_texts import drop_doubles, free_text_readings, lone_score_readings, winner_readings
from normalizer.guess.weights import weigh_fields

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
    for number, rows in enumerate(ways):
        if why := _summary(rows):
            return why
        flat = _flat_readings(rows)
        for readings in (_read_deeper(rows, flat), flat):
            if shown := _usable(stream, readings):
                told = _tell_other_rows(ways[:number], ways[number + 1 :])
                return Proposals(rows, [(one._replace(doubts=[*told, *one.doubts]), made) for one, made in shown])
    near = [field for field in ways[0].profile.fields.values() if may_judge(field)]
    nearest = f"; a dialect may say that one of these is: {join_names(near)}" if near else ""
    return f"no field of its rows looks like a score or a verdict{nearest}"


def _tell_other_rows(larger: list[FileRows], smaller: list[FileRows]) -> list[str]:
    """Return the doubts about rows elsewhere in the document: of more rows nothing was read, and fewer have scores."""
    found = []
    if larger:
        others = ", ".join(f"{rows.container['rows']} ({rows.total} rows)" for rows in larger)
        found = [f"more rows stand elsewhere, and nothing in them looks like a score: {others}; these may be means"]
    scored = [rows for rows in smaller if any(weigh_fields(rows)[0].values())]
    if scored:
        others = ", ".join(f"{rows.container['rows']} ({rows.total} rows)" for rows in scored)
        found.append(f"other rows have scores, too, or means of these, and are not read: {others}")
    return found


def _usable(stream: BinaryIO, readings: list[FileReading]) -> list[tuple[FileReading, Preview]]:
    """Return the readings that make more valid records than others, with what they make."""
    shown = []
    for reading in readings[:_MOST]:
        made = preview(stream, dumps(reading.dialect).encode(), reading.rubric)
        if made.valid and made.valid >= made.invalid:
            shown.append((reading, made))
    return shown


def _read_deeper(rows: FileRows, flat: list[FileReading]) -> list[FileReading]:
    """Return the readings of judgements below the rows, where these say so, and where no others were found."""
    places = [nested for nested in find_nested(rows) if nested.is_sure or not flat]
    if type(rows.document) is dict:
        # The rows are one list of several that are alike: all of them count.
        whole = find_nested(whole_document(rows))
        places = [one for one in whole if one.covers(rows.container["rows"]) and one.rows.total > rows.total] + places
    for nested in places:
        found = [made for one in _flat_readings(nested.rows) if (made := write_split(one, nested)) is not None]
        if found:
            return found
    return []


def _flat_readings(rows: FileRows) -> list[FileReading]:
    """Return the likeliest readings of rows as they are."""
    if grid := grid_readings(rows):
        return grid
    duels = winner_readings(rows) or lone_score_readings(rows) or drop_doubles(rows, duel_readings(rows))
    scores = score_readings(rows)
    if duels and duels[0].weight > _SURE:
        scores = []
    if not duels and not scores:
        duels = free_text_readings(rows) or text_score_readings(rows) or alike_column_readings(rows)
    best = max((reading.weight for reading in (*duels, *scores)), default=0)
    return [reading for reading in (*scores, *duels) if reading.weight == best]


def _summary(rows: FileRows) -> str:
    """Say so if the rows are a table of results: each is about one model, with a rate or an interval."""
    said = [names.own_words(pointer) for pointer in rows.profile.fields]
    summed = any(own & names.SUMMARIES or own >= {"win", "rate"} for own in said)
    named = [
        field
        for field in rows.profile.fields.values()
        if names.own_words(field.pointer) & (names.GENERATORS | {"name"}) and field.is_unique
    ]
    if (summed and (named or rows.looked_at <= 100)) or has_cells(rows.profile, has_keys=rows.has_keys):
        return "it is a table of results, not of judgements: `normalizer check` compares it with a ledger"
    return ""
