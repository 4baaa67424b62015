"""Readings of a file as comparisons of two answers: a verdict in words or numbers, or the scores of both."""

import re
from collections import Counter, defaultdict
from typing import Any, NamedTuple

from normalizer.documents.lossless import Number
from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.orders import declare_order, find_order
from normalizer.guess.fields.profile import FieldProfile, is_failure
from normalizer.guess.fields.unexplained import pointers_in, tell_judgements
from normalizer.guess.fields.values import declare_score
from normalizer.guess.readings import FileReading, name_candidates, tell_unnamed
from normalizer.guess.roles import NO_JUDGE, Roles, find_roles, names_aspect
from normalizer.guess.rows import FileRows

CORE = re.compile(r"model|response|output|answer|assistant|system|candidate|option|is|better|wins?|[^a-z0-9<>=]")
CERTAIN = {
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
_SIGNED = re.compile(r"[+-]?[0-3](?:\.0)?")
_THIRD = {"2": "3", "b": "c"}
Pair = tuple[FieldProfile, FieldProfile]


class VerdictMeaning(NamedTuple):
    """A meaning of the values of verdicts."""

    words: dict[str, str]
    failed: list[Any]
    """Values that are no verdict."""


def duel_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings, the likeliest first; none where the rows do not look like comparisons."""
    pairs = find_pairs(rows)
    sides = find_sides(pairs)
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
    for fields in sorted(_join_criteria(groups), key=lambda each: _rank(each[0])):
        meanings = meanings_of(fields, has_sides=bool(sides))
        found += [make_verdict(rows, fields, meaning, sides, len(meanings)) for meaning in meanings]
    best = max((reading.weight for reading in found), default=0)
    return [reading for reading in found if reading.weight == best]


def find_sides(pairs: list[Pair]) -> list[Pair]:
    """Return the pairs that are texts of, or about, the two answers; verdicts of two rounds are none."""
    return [
        pair
        for pair in pairs
        if all(field.kinds["text"] for field in pair)
        and not names.own_words(pair[0].pointer) & (names.SCORES | names.VERDICTS)
    ]


def _join_criteria(groups: dict[Any, list[FieldProfile]]) -> list[list[FieldProfile]]:
    """Return the groups, those together that are called by criteria and have one last word: `fluency_label`."""
    joined: dict[Any, list[FieldProfile]] = defaultdict(list)
    for kind, fields in groups.items():
        *_, said = kind
        is_criterion = len(fields) == 1 and len(said) > 1 and all(map(names.is_quality, said[:-1]))
        joined[(*kind[:-1], said[-1:]) if is_criterion else kind] += fields
    return list(joined.values())


def _rank(field: FieldProfile) -> int:
    own = names.own_words(field.pointer)
    return 0 if own & {"winner", "verdict", "preference", "preferred"} else 1


def _kind(field: FieldProfile) -> Any:
    """Return a key that is equal for the fields of several raters, or of several rounds of one."""
    *parents, _ = steps_of(field.pointer)
    return (len(parents), *parents[:1], _stem(field))


def _stem(field: FieldProfile) -> tuple[str, ...]:
    return tuple(word for word in names.words(steps_of(field.pointer)[-1]) if not word.isdigit())


def _is_score(field: FieldProfile) -> bool:
    return bool(names.own_words(field.pointer) & names.SCORES)


def find_pairs(rows: FileRows) -> list[Pair]:
    """The fields whose names differ only in 1 and 2, a and b, left and right."""
    known = {tuple(map(names.words, steps_of(pointer))): field for pointer, field in rows.profile.fields.items()}
    found = []
    for steps, field in known.items():
        for place, said in enumerate(steps):
            for one, other in names.SIDES:
                partner, third = (
                    (*steps[:place], tuple(new if word == one else word for word in said), *steps[place + 1 :])
                    for new in (other, _THIRD.get(other, other))
                )
                # Those of a longer series, such as the ratings of three people, are no two sides.
                if one in said and partner in known and (third == partner or third not in known):
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
    if set(counts) <= {"-1", "1", "2", "3"} and 5 * counts["-1"] < counts.total():
        failed |= {"-1": Number("-1")} if counts.pop("-1", 0) else {}
    if (signed := _read_degrees(counts)) is not None:
        return [VerdictMeaning(words, [failed[key] for key in sorted(failed)]) for words in signed]
    cores = {text: CORE.sub("", text.strip().lower()) for text in counts}
    words = {text: CERTAIN[core] for text, core in cores.items() if core in CERTAIN}
    if {"a", "b"} <= set(words.values()):
        words |= {text: "draw" for text, core in cores.items() if core == "c"}
    others = [text for text in counts if text not in words]
    # Beside words for both sides, a few numbers are no verdicts.
    is_said = {"a", "b"} <= set(words.values()) and 10 * sum(counts[text] for text in others) <= counts.total()
    rare = others if is_said else [text for text in others if not cores[text].isdigit()]
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


def _read_degrees(counts: Counter[str]) -> list[dict[str, str]] | None:
    """Return what numbers on both sides of zero may mean: which side is better, and by how much; None for others."""
    if not all(_SIGNED.fullmatch(text) for text in counts) or not any(text.startswith("-") for text in counts):
        return None
    if not any(text.strip("0.") and not text.startswith("-") for text in counts):
        return None
    sides = {text: 0 if not text.strip("-0.") else 1 if text.startswith("-") else 2 for text in counts}
    return [{text: meant[side] for text, side in sides.items()} for meant in (("draw", "a", "b"), ("draw", "b", "a"))]


def _two_scores(rows: FileRows, pair: Pair, sides: list[Pair]) -> FileReading:
    made = [declare_score(field) for field in pair]
    scores = {
        side: {"at": field.pointer, **(one.value if one is not None else {})}
        for side, field, one in zip("ab", pair, made, strict=True)
    }
    used = {field.pointer for each in [pair, *sides] for field in each}
    return make_duel(rows, "comparisons: the greater of two scores wins", {"scores": scores}, sides, used, [], 6)


def make_verdict(
    rows: FileRows,
    fields: list[FieldProfile],
    meant: VerdictMeaning,
    sides: list[Pair],
    options: int,
) -> FileReading:
    """Return the reading of fields as verdicts with that meaning, one of so many options."""
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
        if (
            all(map(names.is_quality, (word for field in fields for word in _stem(field)[:-1])))
            and len(_stem(fields[0])) > 1
        ):
            declared = {"verdict": declared["verdict"], "criterion": {"key": True}}
        elif len(last := {field.pointer.rpartition("/")[2] for field in fields}) == 1:
            declared = {"verdict": {**declared["verdict"], "at": f"/{last.pop()}"}, "criterion": {"key": True}}
    if options > 1:
        title += f", where {meaning}"
    is_sure = bool(sides) or not set(words) <= set("0123")
    weight = 7 if names.own_words(fields[0].pointer) & {"winner", "verdict"} else 6 if is_sure else 2
    parts = [field.pointer for field in fields] if len(fields) > 1 else []
    if "criterion" in declared and declared["verdict"]["at"]:
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
    aspect = next((field for field in rows.profile.fields.values() if names_aspect(field)), None)
    told = [field.pointer for field in named or ()]
    told += [declared[side]["at"] for side in "ab" if "at" in declared.get(side, {})]
    if aspect is not None:
        used, told = {*used, aspect.pointer}, [*told, aspect.pointer]
        declared = {"criterion": {"at": aspect.pointer}, **declared}
    if (order := find_order(rows.profile)) is not None:
        used, told = {*used, order[0].pointer}, [*told, order[0].pointer]
    roles: Roles = find_roles(rows, used, told)
    compared: dict[str, Any] = {}
    if named is not None and "a" not in declared:
        compared = {side: {"at": field.pointer} for side, field in zip("ab", named, strict=True)}
    elif "a" not in declared:
        texts = [steps_of(field.pointer)[-1] for field in sides[0]] if sides else ["answer-1", "answer-2"]
        compared = {side: {"text": text} for side, text in zip("ab", texts, strict=True)}
        others = name_candidates(rows, {"comparison": declared})
        doubts = [*doubts, f"no field names the two generators: they are called {texts[0]} and {texts[1]}{others}"]
    declared = {"judge": roles.judge or {"text": NO_JUDGE}, **declared}
    if roles.judge is None and declared["judge"] == {"text": NO_JUDGE}:
        doubts = [*doubts, tell_unnamed(rows, {"comparison": {**compared, **declared}}, "judge", NO_JUDGE)]
    if order is not None and "at" in declared.get("verdict", {}):
        apart = [*pointers_in(roles.item), *pointers_in(roles.judge or {})]
        shown, doubt = declare_order(rows.profile, order, declared["verdict"], apart)
        declared, doubts = {**declared, **shown}, [*doubts, doubt]
    elif flags := [pointer for pointer in rows.profile.fields if names.own_words(pointer) & names.SWAPS]:
        doubts = [*doubts, f"{flags[0]} may say that the order was swapped: verdicts are read as about names"]
    key = [name for name in roles.key if name != "repeat"]
    factors = {name: value for name, value in roles.factors.items() if name != "repeat"}
    if key != roles.key:
        declared["repeat"] = {**roles.factors["repeat"], "number": ["plain"]}
    told_apart = key == ["file"] or (key == ["file", "judge_model"] and declared["judge"] == roles.judge)
    comparison = {"item": roles.item if told_apart else roles.identity, **compared, **declared}
    if factors:
        comparison["factors"] = factors
    doubts = [*doubts, *tell_judgements(rows.profile, {"parts": parts or [], "comparison": comparison}, used)]
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
