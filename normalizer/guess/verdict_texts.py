"""Readings of verdicts that are the name of the winner, a score for two answers, or that stand in free text."""

from collections import Counter
from itertools import combinations
from operator import eq
from typing import Any

import contract_spec as spec

from normalizer.containers.conversions import MISSING, Read, Scope, extractor
from normalizer.containers.values import fetch, reader
from normalizer.documents.lossless import Number, exact_value
from normalizer.documents.pointers import steps_of
from normalizer.guess.duels import (
    CERTAIN,
    CORE,
    Pair,
    duel_readings,
    find_pairs,
    find_sides,
    make_duel,
    make_verdict,
    meanings_of,
)
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile, is_failure
from normalizer.guess.readings import FileReading
from normalizer.guess.rows import FileRows

_WEIGHT = 2
_MOST_SAID = 0.8
"""The share of texts in which a pattern must find one verdict."""
_WINNERS = frozenset(("better", "best", "chosen", "pick", "picked", "preference", "preferred", "winner", "winning"))
_LOSERS = {"winner": "loser", "chosen": "rejected", "preferred": "dispreferred", "better": "worse"}
"""Words for the one that won, and for the other beside it."""
_MOST_NAMES = 6
"""Fields among whose values the name of a winner is looked for."""


def winner_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings of fields that name the winner, and those in which the same words mean sides."""
    sides = find_pairs(rows)
    made = {field.pointer: _winner_by_name(rows, field, sides) for field in rows.profile.fields.values()}
    named = {pointer: reading for pointer, reading in made.items() if reading is not None}
    if not named and (beaten := _winner_beside_loser(rows, has_sides=bool(sides))):
        return beaten
    others = duel_readings(rows) if named else []
    said = [one for one in others if one.dialect["comparison"].get("verdict", {}).get("at") in named]
    return [*named.values(), *said]


def _winner_beside_loser(rows: FileRows, *, has_sides: bool) -> list[FileReading]:
    """Return the reading of two fields with names of which one won in every row: `winner` and `loser`.

    Names stand in several rows, unlike answers; where other fields have two sides, they are no words for sides.
    """
    fields = {names.own_words(at): field for at, field in rows.profile.fields.items()}
    for own, won in fields.items():
        for word, other in _LOSERS.items():
            lost = fields.get(own - {word} | {other}) if word in own else None
            if lost is None or not all(one.is_short and one.kinds["text"] == one.rows for one in (won, lost)):
                continue
            called = {*won.texts(), *lost.texts()}
            if len(called) <= won.rows and not (has_sides and _are_sides(called)):
                declared = {"a": {"at": won.pointer}, "b": {"at": lost.pointer}, "verdict": {"text": "a"}}
                used, title = {won.pointer, lost.pointer}, f"comparisons: {won.pointer} won against {lost.pointer}"
                doubts = [f"nothing says which of the two was shown first: {won.pointer} and {lost.pointer}"]
                return [make_duel(rows, title, declared, [], used, doubts, 7)]
    return []


def _are_sides(words: set[str]) -> bool:
    """Whether one of the words also says which side won, such as `a`."""
    return any(CORE.sub("", word.strip().lower()) in {*CERTAIN, *"c0123"} for word in words)


def _has_other_winners(
    given: list[tuple[dict[str, Any], str]], compared: tuple[dict[str, Any], dict[str, Any]]
) -> bool:
    """Whether generators are called by words for sides, and stand on the other side in a row than these words say."""
    if not all("at" in one for one in compared):
        return False
    places = dict(zip("ab", (steps_of(one["at"]) for one in compared), strict=True))
    meant = [(row, name, CERTAIN.get(CORE.sub("", name.strip().lower()), "")) for row, name in given]
    return any(side in places and fetch(row, places[side]) != name for row, name, side in meant)


def _winner_by_name(rows: FileRows, field: FieldProfile, sides: list[Pair]) -> FileReading | None:
    """Return the reading of a field whose values are names: those in two other fields, or two words; else None."""
    said = {value for value in field.values if type(value) is str and not is_failure(value)}
    draws = {value for value in said if " ".join(value.lower().split()) in names.DRAWS}
    winners = said - draws
    if not names.own_words(field.pointer) & _WINNERS or field.kinds["number"] or len(winners) < 2:
        return None
    steps = steps_of(field.pointer)
    given = [(row, str(value)) for row in rows.profile.rows if (value := fetch(row, steps)) in winners]
    compared = _find_names(rows, field, given)
    if _are_sides(winners) and (compared is None or not _has_other_winners(given, compared)):
        return None
    if compared is None:
        if len(winners) != 2:
            return None
        first, second = sorted(winners)
        compared = {"text": first}, {"text": second}
    failed = sorted((value for value in field.values if is_failure(value)), key=str)
    value = {"at": field.pointer, **({"words": dict.fromkeys(sorted(draws), "draw")} if draws else {})}
    value |= {**({"failed": failed} if failed else {}), "absent": "failed"}
    used = {field.pointer} | {one["at"] for one in compared if "at" in one}
    used |= {one.pointer for pair in sides for one in pair}
    if names.is_side(compared[1].get("at", ""), 0) or names.is_side(compared[0].get("at", ""), 1):
        compared = compared[1], compared[0]
    places = [one["at"] for one in compared if "at" in one]
    doubts = [] if names.is_side(places[0] if places else "", 0) else ["nothing says which of the two was shown first"]
    doubts = [f"{told}: {' and '.join(places)}" if places else told for told in doubts]
    declared = {"a": compared[0], "b": compared[1], "winner": value}
    title = f"comparisons: {field.pointer} names the winner"
    return make_duel(rows, title, declared, [], used, doubts, 7)


def _find_names(
    rows: FileRows, field: FieldProfile, given: list[tuple[dict[str, Any], str]]
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return where the two names stand of which each row has one as its winner: two fields, or one and a word."""
    others = [other for other in rows.profile.fields.values() if other is not field and other.is_short]
    known = [other for other in others if other.kinds["text"] and set(other.values) & {name for _, name in given}]
    won = {
        other.pointer: {place for place, (row, name) in enumerate(given) if fetch(row, steps_of(other.pointer)) == name}
        for other in known[:_MOST_NAMES]
    }
    whole = set(range(len(given)))
    for one, other in combinations(won, 2):
        if won[one] | won[other] == whole and won[one] and won[other]:
            return {"at": one}, {"at": other}
    for one, places in won.items():
        rest = {given[place][1] for place in whole - places}
        if len(rest) == 1 and places:
            return {"text": rest.pop()}, {"at": one}
    return None


def lone_score_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings of one field of scores in rows about two answers: a list of two, or the number of a side."""
    sides = find_sides(find_pairs(rows))
    found = []
    for field in rows.profile.fields.values() if sides else ():
        steps = steps_of(field.pointer)
        if not steps or not set(names.words(steps[-1])) <= names.SCORES:
            continue
        if field.kinds["numbers"] == rows.looked_at and all(
            len(fetch(row, steps)) == len("ab") for row in rows.profile.rows
        ):
            scores = {side: {"at": f"{field.pointer}/{place}"} for place, side in enumerate("ab")}
            used = {field.pointer} | {one.pointer for pair in sides for one in pair}
            title = f"comparisons: the greater of the two numbers of {field.pointer} wins"
            found.append(make_duel(rows, title, {"scores": scores}, sides, used, [], 6))
        for meaning in meanings_of([field], has_sides=True):
            made = make_verdict(rows, [field], meaning, sides, 2)
            told = f"{field.pointer} is one number for two answers: it is taken for the number of the better one"
            found.append(made._replace(doubts=[told, *made.doubts]))
    return found


def drop_doubles(rows: FileRows, readings: list[FileReading]) -> list[FileReading]:
    """Return the readings without verdicts that are those of the scores of both in every row, or their reverse.

    A verdict that differs in a few rows was said by the judge, and the scores beside it are not its verdict.
    """
    scored = [reading for reading in readings if "scores" in reading.dialect["comparison"]]
    if len(scored) != 1:
        return readings
    winners = _winners(rows, scored[0])
    said = {index: _winners(rows, one) for index, one in enumerate(readings) if one is not scored[0]}
    same = [readings[index] for index, given in said.items() if given == winners]
    if not same:
        near = [(index, sum(map(eq, given, winners))) for index, given in said.items()]
        near = [(index, count) for index, count in near if count >= _MOST_SAID * len(winners)]
        if len(near) != 1:
            return readings
        [(index, count)] = near
        told = f"in {len(winners) - count} of {len(winners)} rows the greater of the two scores would say otherwise"
        return [readings[index]._replace(doubts=[told, *readings[index].doubts])]
    field = same[0].dialect["comparison"]["verdict"]["at"]
    others = [one for one in readings if one.dialect["comparison"].get("verdict", {}).get("at", field) != field]
    return [scored[0]._replace(doubts=[*scored[0].doubts, f"{field} says the same in every row"]), *others]


def _winners(rows: FileRows, reading: FileReading) -> list[str | None]:
    """Return the verdict of each row: a, b or draw; None where it has none."""
    declared = reading.dialect["comparison"]
    if "verdict" in declared:
        verdict = reader(declared["verdict"], "/verdict")
        given = [verdict(Scope(row, MISSING, None, MISSING, "")).value for row in rows.profile.rows]
        return [str(value) if isinstance(value, str) else None for value in given]
    sides = [reader(declared["scores"][side], "/scores") for side in "ab"]
    found: list[str | None] = []
    for row in rows.profile.rows:
        read = [side(Scope(row, MISSING, None, MISSING, "")).value for side in sides]
        a, b = (exact_value(value) if type(value) is Number else None for value in read)
        found.append(None if a is None or b is None else "draw" if a == b else "a" if a > b else "b")
    return found


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
