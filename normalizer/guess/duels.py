"""Readings of a file as comparisons of two answers: a verdict in words or numbers, or the scores of both."""

import re
from collections import Counter, defaultdict
from typing import Any, NamedTuple

from normalizer.containers.scope import MISSING, Scope
from normalizer.containers.values import reader
from normalizer.documents.lossless import Number, exact_value
from normalizer.documents.pointers import steps_of
from normalizer.guess import names
from normalizer.guess.profile import FieldProfile, is_failure
from normalizer.guess.readings import FileReading
from normalizer.guess.roles import NO_JUDGE, Roles, find_roles
from normalizer.guess.rows import FileRows
from normalizer.guess.values import declare_score

_CORE = re.compile(r"model|response|output|answer|assistant|system|candidate|option|is|better|wins?|[^a-z0-9<>=]")
_CERTAIN = {
    **dict.fromkeys(("a", "left", "first", "a>b", "a>>b", "b<a", "b<<a"), "a"),
    **dict.fromkeys(("b", "right", "second", "b>a", "b>>a", "a<b", "a<<b"), "b"),
    **dict.fromkeys(("tie", "draw", "equal", "same", "a=b", "b=a", "tied", "both", "equallygood"), "draw"),
    **dict.fromkeys(("bothbad", "tiebothbad", "neither", "equallybad"), "both_bad"),
}
_NUMBERED = {
    frozenset("12"): [{"1": "a", "2": "b"}],
    frozenset("012"): [{"0": "draw", "1": "a", "2": "b"}, {"0": "a", "1": "b", "2": "draw"}],
    frozenset("01"): [{"0": "a", "1": "b"}, {"1": "a", "0": "b"}],
    frozenset("123"): [{"1": "a", "2": "b", "3": "draw"}],
}
_MOST_WORDS = 10
Pair = tuple[FieldProfile, FieldProfile]


class VerdictMeaning(NamedTuple):
    """A meaning of the values of verdicts."""

    words: dict[str, str]
    failed: list[Any]
    """Values that are no verdict."""


def duel_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings, the likeliest first; none where the rows do not look like comparisons."""
    pairs = find_pairs(rows)
    sides = [pair for pair in pairs if all(field.kinds["text"] for field in pair) and not _is_score(pair[0])]
    paired = {field.pointer for pair in pairs for field in pair if pair in sides or _is_score(field)}
    groups: dict[Any, list[FieldProfile]] = defaultdict(list)
    for field in rows.profile.fields.values():
        if field.pointer not in paired and names.own_words(field.pointer) & names.VERDICTS and not field.is_boolean:
            groups[_kind(field)].append(field)
    found = [
        _two_scores(rows, pair, sides)
        for pair in pairs
        if _is_score(pair[0]) and all(field.is_numeric for field in pair) and (sides or len(pairs) > 1)
    ]
    for fields in sorted(groups.values(), key=lambda each: _rank(each[0])):
        meanings = meanings_of(fields, has_sides=bool(sides))
        found += [_verdict(rows, fields, meaning, sides, len(meanings)) for meaning in meanings]
    best = max((reading.weight for reading in found), default=0)
    return _without_doubles(rows, [reading for reading in found if reading.weight == best])


def _without_doubles(rows: FileRows, readings: list[FileReading]) -> list[FileReading]:
    """Return the readings without verdicts that are those of the scores of both in every row, or their reverse."""
    scored = [reading for reading in readings if "scores" in reading.dialect["comparison"]]
    if len(scored) != 1:
        return readings
    winners = _winners(rows, scored[0])
    same = [reading for reading in readings if reading is not scored[0] and _winners(rows, reading) == winners]
    if not same:
        return readings
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


def _rank(field: FieldProfile) -> int:
    own = names.own_words(field.pointer)
    return 0 if own & {"winner", "verdict", "preference", "preferred"} else 1


def _kind(field: FieldProfile) -> Any:
    """Return a key that is equal for the fields of several raters, or of several rounds of one."""
    *parents, last = steps_of(field.pointer)
    stem = tuple(word for word in names.words(last) if not word.isdigit())
    return (len(parents), *parents[:1], stem)


def _is_score(field: FieldProfile) -> bool:
    return bool(names.own_words(field.pointer) & names.SCORES)


def find_pairs(rows: FileRows) -> list[Pair]:
    """The fields whose names differ only in 1 and 2, a and b, left and right."""
    known = {
        (*steps_of(pointer)[:-1], names.words(steps_of(pointer)[-1])): field
        for pointer, field in rows.profile.fields.items()
        if steps_of(pointer)
    }
    found = []
    for (*parents, said), field in known.items():
        for one, other in names.SIDES:
            partner = (*parents, tuple(other if word == one else word for word in said))
            if one in said and partner in known:
                found.append((field, known[partner]))
    return found


def meanings_of(fields: list[FieldProfile], *, has_sides: bool) -> list[VerdictMeaning]:
    """Return the meanings that the values of fields may have as verdicts; none if they are no verdicts."""
    counts: Counter[str] = Counter()
    failed = {}
    for field in fields:
        if field.kinds["list"] or field.kinds["numbers"]:
            return []
        for value, count in field.values.items():
            if is_failure(value):
                failed[repr(value)] = value
            elif isinstance(value, str):
                counts[str(value)] += count
            else:
                return []  # a long text
    if not 1 < len(counts) <= _MOST_WORDS:
        return []
    cores = {text: _CORE.sub("", text.strip().lower()) for text in counts}
    words = {text: _CERTAIN[core] for text, core in cores.items() if core in _CERTAIN}
    if {"a", "b"} <= set(words.values()):
        words |= {text: "draw" for text, core in cores.items() if core == "c"}
    rare = [text for text in counts if text not in words and not cores[text].isdigit()]
    if rare and 10 * sum(counts[text] for text in rare) > counts.total():
        return []
    failed |= {repr(text): text for text in rare}
    numbered = frozenset(core for text, core in cores.items() if text not in words and text not in rare)
    known = [failed[key] for key in sorted(failed)]
    if not numbered:
        return [VerdictMeaning(words, known)] if {"a", "b"} <= set(words.values()) else []
    if not has_sides and not words and numbered in (frozenset("01"), frozenset("123")):
        return []
    options = [one for one in _NUMBERED.get(numbered, []) if not words or "draw" not in one.values()]
    return [
        VerdictMeaning({**words, **{text: one[core] for text, core in cores.items() if core in one}}, known)
        for one in options
    ]


def _two_scores(rows: FileRows, pair: Pair, sides: list[Pair]) -> FileReading:
    made = [declare_score(field) for field in pair]
    scores = {
        side: {"at": field.pointer, **(one.value if one is not None else {})}
        for side, field, one in zip("ab", pair, made, strict=True)
    }
    used = {field.pointer for each in [pair, *sides] for field in each}
    return make_duel(rows, "comparisons: the greater of two scores wins", {"scores": scores}, sides, used, [], 6)


def _verdict(
    rows: FileRows,
    fields: list[FieldProfile],
    meant: VerdictMeaning,
    sides: list[Pair],
    options: int,
) -> FileReading:
    words = meant.words
    value: dict[str, Any] = {"words": words, "absent": "failed"}
    if meant.failed:
        value["failed"] = meant.failed
    meaning = ", ".join(f"{text} is {word}" for text, word in words.items())
    doubts = [f"the verdicts are read so: {meaning}"] if options > 1 or "C" in words else []
    if rare := [text for text in meant.failed if not is_failure(text)]:
        doubts.append(f"{', '.join(map(repr, rare))} of {fields[0].pointer}: read as failures of the judge")
    used = {field.pointer for field in fields} | {field.pointer for pair in sides for field in pair}
    declared: dict[str, Any]
    if len(fields) == 1:
        declared = {"verdict": {"at": fields[0].pointer, **value}}
        title = f"comparisons: {fields[0].pointer} is the verdict"
    else:
        title = f"comparisons: {len(fields)} verdicts a row, from {fields[0].pointer} on"
        declared = {"verdict": {"of": "part", "at": "", **value}, "judge": {"key": True}}
        if len(last := {field.pointer.rpartition("/")[2] for field in fields}) == 1:
            declared = {"verdict": {**declared["verdict"], "at": f"/{last.pop()}"}, "criterion": {"key": True}}
    if options > 1:
        title += f", where {meaning}"
    is_sure = bool(sides) or not set(words) <= set("0123")
    weight = 7 if names.own_words(fields[0].pointer) & {"winner", "verdict"} else 6 if is_sure else 2
    parts = [field.pointer for field in fields] if len(fields) > 1 else []
    if "criterion" in declared:
        parts = [pointer.rpartition("/")[0] for pointer in parts]
    return make_duel(rows, title, declared, sides, used, doubts, weight, parts)


def make_duel(
    rows: FileRows,
    title: str,
    declared: dict[str, Any],
    sides: list[Pair],
    used: set[str],
    doubts: list[str],
    weight: int,
    parts: list[str] | None = None,
) -> FileReading:
    """Return the reading as comparisons, with the fields that name item, answers and judge."""
    named = next((pair for pair in sides if _name_generators(pair)), None)
    roles: Roles = find_roles(rows, used, [field.pointer for field in named or ()])
    if named is not None:
        compared: dict[str, Any] = {side: {"at": field.pointer} for side, field in zip("ab", named, strict=True)}
    else:
        texts = [steps_of(field.pointer)[-1] for field in sides[0]] if sides else ["answer-1", "answer-2"]
        compared = {side: {"text": text} for side, text in zip("ab", texts, strict=True)}
        doubts = [*doubts, f"no field names the two generators: they are called {texts[0]} and {texts[1]}"]
    declared = {"judge": roles.judge or {"text": NO_JUDGE}, **declared}
    if roles.judge is None and declared["judge"] == {"text": NO_JUDGE}:
        doubts = [*doubts, f"no field names the judge: it is called {NO_JUDGE}, which the saved dialect may say better"]
    flags = [pointer for pointer in rows.profile.fields if names.own_words(pointer) & names.SWAPS]
    if flags:
        doubts = [
            *doubts,
            f"{flags[0]} may say that the order was swapped: verdicts are read as about the answers by name",
        ]
    told_apart = roles.key == ["file"] or (roles.key == ["file", "judge_model"] and declared["judge"] == roles.judge)
    comparison = {"item": roles.item if told_apart else roles.identity, **compared, **declared}
    if roles.factors:
        comparison["factors"] = roles.factors
    dialect = {
        "name": "guessed",
        "kind": "comparison",
        "phase": 1,
        "protocol_version": "this",
        "self_judged": "by_name",
        "container": [rows.container],
        "nan": True,
        **({"parts": parts} if parts else {}),
        "comparison": comparison,
    }
    return FileReading(title, dialect, None, weight, [*roles.doubts, *doubts])


def _name_generators(pair: Pair) -> bool:
    own = names.own_words(pair[0].pointer)
    return all(field.is_short for field in pair) and bool(own & (names.GENERATORS | {"name"}))
