"""Rows whose judgements stand deeper: under keys that are data, or in lists of reviews, one for each rater.

Each judgement becomes a row of its own, of which `/part` is the object itself, `/row` what stands around it and `/star`
the keys and indexes that lead to it. Readings of such rows are then written as a dialect with `split`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from normalizer.documents.lossless import Number
from normalizer.documents.pointers import escape, steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import Profile
from normalizer.guess.readings import FileReading
from normalizer.guess.roles import names_compared, names_judge
from normalizer.guess.rows import FIRST, FileRows

_DEPTH = 7
_SAMPLE = 50
"""Rows in which places are looked for."""
_MOST_PLACES = 6
_MOST_GENERATORS = 60
_ANSWERS = names.GENERATORS | {
    "answers",
    "candidates",
    "gen",
    "generations",
    "models",
    "outputs",
    "responses",
    "systems",
}
_VIRTUAL = re.compile(r"/(part|row|star)(?:/(\d+) [a-z]+|(/.*)?)")
_IN_TEMPLATE = re.compile(r"\{/(part|row|star)(?:/(\d+) [a-z]+|(/[^{}]*)?)\}")


class NestedRows(NamedTuple):
    """The judgements at one place below the rows."""

    rows: FileRows
    split: str
    """The place, or nothing where `parts` are named."""
    parts: list[str]
    is_sure: bool
    """Whether what leads to them, or what they have, says that each is a judgement of its own."""
    generators: list[str]
    """The keys that are taken for names of generators."""

    def covers(self, place: str) -> bool:
        """Whether the rows at a place are some of these."""
        own, other = steps_of(self.split), steps_of(place)
        return len(own) == len(other) and all(one in ("*", step) for one, step in zip(own, other, strict=True))


def find_nested(rows: FileRows) -> list[NestedRows]:
    """Return the places below the rows where objects with values stand, those with most objects first."""
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    for row in rows.profile.rows[:_SAMPLE]:
        for place in _places(row, ()):
            counts[place] += 1
    best = sorted(counts, key=lambda place: (-counts[place], place))[:_MOST_PLACES]
    found = [made for place in best if counts[place] > 1 and (made := _collect_at(rows, place)) is not None]
    sides = _sides(rows)
    return [made for made in [_collect_at(rows, ("*",), sides) if sides else None, *found] if made is not None]


def _sides(rows: FileRows) -> list[str]:
    """Return the members of rows that are objects with the same members, unless they are criteria or judgements."""
    groups: dict[Any, list[str]] = defaultdict(list)
    for key, value in rows.profile.rows[0].items():
        if type(value) is dict and value:
            groups[tuple(sorted(value))].append(key)
    found = [keys for keys in groups.values() if len(keys) > 1]
    if len(found) != 1 or not all(type(row.get(found[0][0])) is dict for row in rows.profile.rows):
        return []
    said = [set(names.words(key)) for key in found[0]]
    people = names.JUDGES | names.RATERS | {"human"}
    is_judged = any(own & names.JUDGEMENTS - names.SCORES or own <= names.SCORES for own in said)
    is_judged = is_judged or any(own & names.SCORES and own & people for own in said)
    return [] if is_judged or any(names.are_qualities(f"/{key}") for key in found[0]) else found[0]


def whole_document(rows: FileRows) -> FileRows:
    """Return the document as the one row."""
    profile = Profile()
    profile.add(rows.document)
    return FileRows({"kind": "json", "rows": ""}, profile, 1, 0, None, has_keys=False)


def _places(value: Any, steps: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where objects stand under keys or indexes that are data, once for each object."""
    if len(steps) > _DEPTH:
        return
    if type(value) is dict:
        objects = [item for item in value.values() if type(item) in (dict, list) and item]
        is_data = len(objects) > 1 and len(objects) >= 0.8 * len(value) and len({type(item) for item in objects}) == 1
        members = [("*" if is_data else key, item) for key, item in value.items() if type(item) in (dict, list)]
    elif type(value) is list and value and type(value[0]) is dict:
        members = [("*", item) for item in value if type(item) is dict]
    else:
        return
    for step, item in members:
        place = (*steps, step)
        if step == "*" and type(item) is dict and any(type(inner) not in (dict, list) for inner in item.values()):
            yield place
        yield from _places(item, place)


def _matches(value: Any, steps: tuple[str, ...], keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not steps:
        if type(value) is dict:
            yield keys, value
        return
    if steps[0] != "*":
        if type(value) is dict and steps[0] in value:
            yield from _matches(value[steps[0]], steps[1:], keys)
        return
    items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, item in items:
        yield from _matches(item, steps[1:], (*keys, str(key)))


def _collect_at(rows: FileRows, place: tuple[str, ...], sides: list[str] | None = None) -> NestedRows | None:
    found: list[tuple[int, tuple[str, ...], dict[str, Any]]] = []
    for index, row in enumerate(rows.profile.rows):
        row = {key: value for key, value in row.items() if sides is None or key in sides}
        found += [(index, keys, part) for keys, part in _matches(row, place, ())]
        if len(found) > FIRST:
            break
    if len(found) < 2:
        return None
    stars = [number for number, step in enumerate(place) if step == "*"]
    own = Profile()
    for _, _, part in found:
        own.add(part)
    has_generator = any(
        names.own_words(at) & names.GENERATORS and field.kinds["text"] and field.is_short
        for at, field in own.fields.items()
    )
    has_judge = any(names_judge(field) for field in own.fields.values())
    keyed = [sorted({keys[number] for _, keys, _ in found}) for number in range(len(stars))]
    generator = None if has_generator else _generator_star(place, stars, keyed)
    profile = Profile()
    judge = None if has_judge or generator is not None else _judge_star(rows, place, stars, keyed)
    called = ["rater" if _are_raters(keys) or number == judge else "id" for number, keys in enumerate(keyed)]
    if generator is not None:
        called[generator] = "model"
    around = {
        index: {key: value for key, value in rows.profile.rows[index].items() if type(value) in (str, Number, bool)}
        for index in {index for index, _, _ in found[:FIRST]}
    }
    for index, keys, part in found[:FIRST]:
        star = {f"{number} {called[number - 1]}": key for number, key in enumerate(keys, 1)}
        profile.add({"star": {"0 id": str(index), **star}, "row": around[index], "part": part})
    is_sure = (
        has_judge
        or judge is not None
        or sides is not None
        or (generator is not None and _names_answers(place, stars[generator], keyed[generator]))
    )
    made = FileRows(rows.container, profile, len(found), 0, rows.document, has_keys=False)
    split = "".join(f"/{step if step == '*' else escape(step)}" for step in place)
    parts = [f"/{escape(key)}" for key in sides or ()]
    return NestedRows(made, "" if sides else split, parts, is_sure, [] if generator is None else keyed[generator])


def _are_raters(keys: list[str]) -> bool:
    """Whether keys name people or judges: `worker_12`, `annotator A`."""
    return len(keys) > 1 and all(set(names.words(key)) & (names.JUDGES | names.RATERS) for key in keys)


def _judge_star(rows: FileRows, place: tuple[str, ...], stars: list[int], keyed: list[list[str]]) -> int | None:
    """Return which `*` stands for names of judges: models below scores, in rows that name what was judged."""
    if not any(names_compared(field, rows) for field in rows.profile.fields.values()):
        return None
    for number, keys in enumerate(keyed):
        said = set(names.words(place[stars[number] - 1])) if stars[number] else set()
        if said & (names.SCORES | names.JUDGEMENTS) and all(map(names.names_a_model, keys)):
            return number
    return None


def _generator_star(place: tuple[str, ...], stars: list[int], keyed: list[list[str]]) -> int | None:
    """Return which `*` stands for names of generators: the last one whose keys are a few names, and no criteria."""
    for number in reversed(range(len(stars))):
        keys = keyed[number]
        is_index = all(key.lstrip("-").isdigit() for key in keys)
        before = place[stars[number] - 1] if stars[number] else ""
        said = set(names.words(before)) if before != "*" else set()
        if is_index or _are_raters(keys) or not 1 < len(keys) <= _MOST_GENERATORS:
            continue
        if said & (names.ASPECTS | names.QUESTIONS):
            continue
        if any(names.are_qualities(f"/{escape(key)}") for key in keys):
            return None
        if number == len(stars) - 1 and said & names.SCORES:
            return None
        return number
    return None


def _names_answers(place: tuple[str, ...], at: int, keys: list[str]) -> bool:
    said = set(names.words(place[at - 1])) if at and place[at - 1] != "*" else set()
    return bool(said & _ANSWERS) or 2 * sum(map(names.names_a_model, keys)) >= len(keys)


def write_split(reading: FileReading, nested: NestedRows) -> FileReading | None:
    """Return a reading of nested rows as one of the file; None if it splits these rows once more."""
    if "split" in reading.dialect or "parts" in reading.dialect or not _is_of_part(reading):
        return None
    written = {
        key: _rewrite(value, is_part=bool(nested.parts)) for key, value in reading.dialect.items() if key != "container"
    }
    doubts = [_readable(doubt) for doubt in reading.doubts]
    if nested.generators:
        doubts.insert(0, f"keys are taken for names of generators: {', '.join(nested.generators[:5])}")
    title = f"{_readable(reading.title)}; each of {nested.split or ', '.join(nested.parts)} is one"
    place = {"parts": nested.parts} if nested.parts else {"split": nested.split}
    dialect = {**reading.dialect, **place, **written}
    return reading._replace(title=title, dialect=dialect, doubts=doubts)


def _is_of_part(reading: FileReading) -> bool:
    """Whether scores and verdicts stand in the judgement itself, and not around it."""
    declared = reading.dialect.get("comparison") or reading.dialect["fields"]
    given = [declared[name] for name in ("verdict", "winner") if name in declared]
    given += declared.get("scores", {}).values()
    return all(value.get("at", "/part").startswith("/part") for value in given)


def _readable(text: str) -> str:
    return re.sub(r"/star/\d+ [a-z]+", "the key", text.replace("/part/", "/").replace("/row/", "/"))


def _rewrite(value: Any, *, is_part: bool) -> Any:
    """Return a part of a dialect with pointers into the row, the part and the keys that lead to it."""
    if type(value) is list:
        return [_rewrite(item, is_part=is_part) for item in value]
    if type(value) is not dict:
        return value
    made = {key: _rewrite(inner, is_part=is_part) for key, inner in value.items()}
    if type(value.get("at")) is str and "of" not in value and (match := _VIRTUAL.fullmatch(value["at"])):
        del made["at"]
        kind, star, rest = match.groups()
        if kind == "star":
            number = {} if is_part else {"star": int(star)}
            return {**({"key": True, **number} if star != "0" else {"template": "{index}"}), **made}
        return {"at": rest or "", **({"of": "part"} if kind == "part" else {}), **made}
    if type(value.get("template")) is str:
        made["template"] = _IN_TEMPLATE.sub(_reference, value["template"])
        if is_part:
            made["template"] = made["template"].replace("{star:1}", "{key}")
    return made


def _reference(match: re.Match[str]) -> str:
    kind, star, rest = match[1], match[2], match[3]
    if kind == "star":
        return "{index}" if star == "0" else f"{{star:{star}}}"
    return f"{{part:{rest}}}" if kind == "part" else f"{{{rest}}}"
