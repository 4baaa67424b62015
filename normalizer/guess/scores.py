"""Readings of a file as scores of single answers: columns of criteria, of judges or of generators, lists of repeats."""

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from normalizer.documents.pointers import steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.column_names import are_ranks, has_quality, have_answers, is_computed, may_be_judges
from normalizer.guess.fields.profile import FieldProfile
from normalizer.guess.fields.unexplained import join_names
from normalizer.guess.fields.values import Declared, declare_score, join_doubts, leave_out, widest_scale
from normalizer.guess.readings import FileReading, make_reading, name_fields
from normalizer.guess.roles import NO_GENERATOR, find_judges, find_roles
from normalizer.guess.rows import FileRows
from normalizer.guess.weights import GENERIC, is_sure, weigh_fields

_MOST_DIMENSIONS = 30
_COLUMNS = 4
"""The weight of a table of several judges."""
_ANSWERS = frozenset(("response", "model", "system", "answer", "output"))
_PEOPLE = frozenset(("crowd", "expert", "human", *names.JUDGES))
_MANY = 3
"""Columns that look like a table of several judges."""


def score_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings, the likeliest first."""
    columns = _judge_columns(rows)
    if columns:
        return columns
    scored = []
    is_nameless = "columns" in rows.container
    weights, told = weigh_fields(rows)
    for at, weight in weights.items():
        field = rows.profile.fields[at]
        if weight and (made := declare_score(field)) is not None:
            scored.append(_Scored(field, made, weight))
    families: dict[Any, list[_Scored]] = defaultdict(list)
    for one in scored:
        families[one.field.pointer if is_nameless else _family(one.field)].append(one)
    families = _join_inner(families)
    lists = [one for one in scored if one.field.kinds["numbers"]]
    found = []
    for members in families.values():
        top = max((one.weight for one in members if one not in lists), default=0)
        single = [one for one in members if one not in lists and one.weight == top]
        single = [one for one in single if not is_computed(one.field, [other.field for other in single])]
        if single and not _is_statistic(rows, single):
            beside = [one.weight for one in lists if _siblings(one.field, single[0].field)]
            readings = _family_readings(rows, single[:_MOST_DIMENSIONS], max([top, *beside]))
            cut = [_cut_doubt(single)] if len(single) > _MOST_DIMENSIONS else []
            found += [reading._replace(doubts=[*cut, *reading.doubts, *told]) for reading in readings]
    parents = {one.field.pointer.rpartition("/")[0] for one in scored if one not in lists}
    for one in lists:
        if len(lists) == 1 or one.field.pointer.rpartition("/")[0] not in parents:
            found.append(_repeats(rows, one.field, one.made, one.weight))
    best = max((reading.weight for reading in found), default=0)
    return [reading for reading in found if reading.weight == best]


class _Scored(NamedTuple):
    """A field that may be a score, how it is read, and how much its name sounds like one."""

    field: FieldProfile
    made: Declared
    weight: float


def _cut_doubt(members: list[_Scored]) -> str:
    others = ", ".join(one.field.pointer for one in members[_MOST_DIMENSIONS:])
    return f"{len(members)} fields look like scores, and only the first {_MOST_DIMENSIONS} are read; not read: {others}"


def _siblings(one: FieldProfile, other: FieldProfile) -> bool:
    """Whether two fields are members of one object, which is not the row."""
    parent = one.pointer.rpartition("/")[0]
    return bool(parent) and parent == other.pointer.rpartition("/")[0]


def _is_statistic(rows: FileRows, members: list[_Scored]) -> bool:
    """Whether fields are numbers of a table that is not about answers: never the same, and nothing is named beside."""
    if any(one.weight > GENERIC or not one.field.is_unique for one in members) or "columns" in rows.container:
        return False
    roles = find_roles(rows, {one.field.pointer for one in members})
    return roles.judge is None and roles.generator is None and roles.item == {"template": "{index}"}


def _family(field: FieldProfile) -> Any:
    """Return a key that is equal for fields that are criteria of one judgement."""
    steps = steps_of(field.pointer)
    if len(steps) >= 3 and not set(names.words(steps[-1])) & names.CRITERIA:
        return (*steps[:-2], steps[-1])  # /annotations/fluency/mean and /annotations/style/mean
    return tuple(steps[:-1])


def _join_inner(families: dict[Any, list[_Scored]]) -> dict[Any, list[_Scored]]:
    """Return the families, those of one judgement as one: its members, and the verdicts of objects that are members."""
    joined: dict[Any, list[_Scored]] = defaultdict(list)
    for key, members in families.items():
        outer = key[:-1] if type(key) is tuple and len(key) > 1 else ()
        is_judgement = bool(outer) and bool(set(names.words(outer[-1])) & names.JUDGEMENTS)
        joined[outer if is_judgement and outer in families else key] += members
    return joined


def _family_readings(rows: FileRows, members: list[_Scored], weight: float) -> list[FileReading]:
    reading = _criteria(rows, members, weight)
    if len(members) > 1 and _are_numbered(members):
        return _read_numbered(rows, members, weight, reading)
    if len(members) > 1 and have_answers(rows, [one.field for one in members]):
        told = "columns are taken for scores of generators, whose answers stand in columns with the same words"
        return [_by_column(rows, members, "generator_model", weight, [told])]
    columns = _columns(members)
    is_answer = bool(columns) and bool(names.own_words(columns[0].field.pointer) & _ANSWERS)
    if len(columns) > 1 and is_answer and not has_quality([one.field for one in columns]):
        return [_by_column(rows, columns, "generator_model", weight), reading]
    scales = {_reach(one.made.scale) for one in members}
    are_criteria = all(names.own_words(one.field.pointer) & names.CRITERIA for one in members)
    is_one_scale = len(_labels(members)) <= 1 and len(scales) == 1
    if len(members) == 1 or are_criteria or not is_one_scale or not may_be_judges([one.field for one in members]):
        return [reading]
    return [reading, _by_column(rows, members, "judge_model", weight)]


def _read_numbered(rows: FileRows, members: list[_Scored], weight: float, criteria: FileReading) -> list[FileReading]:
    """Return the readings of columns that differ in a number: raters, or answers where raters are named elsewhere."""
    said = ", ".join(one.field.pointer for one in members)
    beside = find_judges(rows.profile.fields.values())
    are_raters = bool(names.own_words(members[0].field.pointer) & (names.JUDGES | names.RATERS))
    judges = [f"{said}: columns that differ in a number are taken for raters"]
    answers = [f"{said}: columns that differ in a number are taken for answers of several generators"]
    if beside and not are_raters:
        told = f"{beside[0].pointer} names the judge, so that the columns do not: {said}"
        by_answer = _by_column(rows, members, "generator_model", weight, answers)
        return [by_answer, criteria._replace(doubts=[told, *criteria.doubts])]
    by_judge = _by_column(rows, members, "judge_model", weight, judges)
    if are_raters or len(members) > len("ab"):
        return [by_judge]
    return [by_judge, _by_column(rows, members, "generator_model", weight, answers)]


def _are_numbered(members: list[_Scored]) -> bool:
    """Whether fields are called by one word and the numbers from 1, or from 0, on, and have one scale."""
    last = [names.words(steps_of(one.field.pointer)[-1]) for one in members]
    stems = {tuple(word for word in said if not word.isdigit()) for said in last}
    numbers = sorted(int(word) for said in last for word in said if word.isdigit())
    reaches = {_reach(one.made.scale) for one in members}
    return len(stems) == len(reaches) == 1 and numbers in (list(range(len(members))), list(range(1, len(members) + 1)))


def _labels(members: list[_Scored]) -> set[str]:
    return {steps[-2] for field, _, _ in members if len(steps := steps_of(field.pointer)) >= 3}


def _columns(members: list[_Scored]) -> list[_Scored]:
    """The largest group of columns whose names differ in one word between others: `response-NAME-label`."""
    groups: dict[Any, list[_Scored]] = defaultdict(list)
    for one in members:
        said = names.words(steps_of(one.field.pointer)[-1])
        for place in range(1, len(said) - 1):
            groups[said[:place], said[place + 1 :]].append(one)
    return max(groups.values(), key=len, default=[])


def _dimension(field: FieldProfile) -> str:
    steps = steps_of(field.pointer)
    if steps[0] == "part":
        return steps[-1]
    if len(steps) >= 3 and not set(names.words(steps[-1])) & names.CRITERIA:
        return steps[-2]
    return steps[-1] or "score"


def _name_dimensions(fields: list[FieldProfile]) -> dict[str, str]:
    """Return a name for each field: its last step, or that of the object it stands in; all steps if names are equal."""
    found = {field.pointer: _dimension(field) for field in fields}
    said = Counter(found.values())
    return {at: name if said[name] == 1 else ".".join(steps_of(at)) for at, name in found.items()}


def _criteria(rows: FileRows, members: list[_Scored], weight: float) -> FileReading:
    """Each row is an answer, each field a criterion."""
    called = _name_dimensions([field for field, _, _ in members])
    scores = {called[field.pointer]: {"at": field.pointer, **made.value} for field, made, _ in members}
    optional = leave_out(rows, scores) if len(members) > 1 else {}
    scales = {called[field.pointer]: made.scale for field, made, _ in members}
    roles = find_roles(rows, {field.pointer for field, _, _ in members})
    fields = {"file": roles.item, "scores": scores, **name_fields(roles)}
    doubts = join_doubts((field, made) for field, made, _ in members)
    if unsure := [field for field, _, _ in members if "columns" not in rows.container and not is_sure(field.pointer)]:
        doubts.insert(0, f"taken for judgements by names or scales that others may have, too: {join_names(unsure)}")
    doubts += [
        f"{', '.join(map(repr, said)) or 'nothing'} of {name}: left out, so that the others count"
        for name, said in optional.items()
    ]
    what = ", ".join(scores)
    reading = make_reading(
        rows,
        f"scores: each row is an answer, with {what}",
        {"fields": fields, "key": roles.key},
        scales,
        roles,
        weight,
        doubts,
    )
    for name in optional:
        (reading.rubric or {})["dimensions"][name]["optional"] = True
    return reading


def _by_column(
    rows: FileRows, members: list[_Scored], role: str, weight: float, doubts: list[str] | None = None
) -> FileReading:
    """Each column is a judge or a generator, whose name is that of the column."""
    first = members[0].made
    roles = find_roles(rows, {field.pointer for field, _, _ in members})
    named = {**name_fields(roles), role: {"key": True}}
    # Columns may name what a field names, too; that field then tells items apart.
    item, key = (roles.identity, ["file"]) if role in roles.key else (roles.item, roles.key)
    fields = {
        "file": item,
        "scores": {"score": {"of": "part", "at": "", **first.value}},
        **named,
    }
    declared = {"parts": [field.pointer for field, _, _ in members], "fields": fields, "key": [*key, role]}
    scale = widest_scale([made.scale for _, made, _ in members])
    what = "judge" if role == "judge_model" else "generator"
    beside = roles.judge if role == "judge_model" else roles.generator
    if beside is not None and "at" in beside:
        doubts = [*(doubts or []), f"{beside['at']} names a {what}, too: it is taken for a part of the item"]
    failed = sorted({repr(value): value for _, made, _ in members for value in made.value.get("failed", [])}.items())
    if failed:
        fields["scores"]["score"]["failed"] = [value for _, value in failed]
    doubts = [*(doubts or []), *join_doubts((field, made) for field, made, _ in members)]
    if are_ranks(rows, [one.field for one in members]):
        doubts.append("each row has every number once: these may be ranks, of which the least is best")
    title = f"scores: each of {len(members)} columns is a {what}"
    return make_reading(rows, title, declared, {"score": scale}, roles, weight, doubts, named_by=role)


def _repeats(rows: FileRows, field: FieldProfile, made: Declared, weight: float) -> FileReading:
    """Each item of a list is one repetition of the judgement."""
    roles = find_roles(rows, {field.pointer})
    value = {key: inner for key, inner in made.value.items() if key != "number"}
    factors = {**roles.factors, "repeat": {"key": True}}
    fields = {
        "file": roles.item,
        "scores": {steps_of(field.pointer)[-1]: {"of": "part", "at": "", **value}},
        **name_fields(roles),
        "factors": factors,
    }
    declared = {"split": f"{field.pointer}/*", "fields": fields, "key": [*roles.key, "repeat"]}
    title = f"scores: each number of the list {field.pointer} is one repetition"
    return make_reading(rows, title, declared, {steps_of(field.pointer)[-1]: made.scale}, roles, weight, made.doubts)


def _judge_columns(rows: FileRows) -> list[FileReading]:
    """Columns with the names of models and values of one kind: a table of several judges."""
    groups: dict[str, list[_Scored]] = defaultdict(list)
    named = [field for field in rows.profile.fields.values() if _is_of_judges(field)]
    below = [_Scored(field, made, _COLUMNS) for field in named if (made := declare_score(field)) is not None]
    if len(below) > 1:
        return [_by_column(rows, below, "judge_model", _COLUMNS)]
    for field in rows.profile.fields.values():
        made = declare_score(field) if len(steps_of(field.pointer)) == 1 and not field.is_unique else None
        if made is not None and not names.own_words(field.pointer) & names.NO_SCORES:
            groups[_reach(made.scale)].append(_Scored(field, made, _COLUMNS))
    found = []
    for members in groups.values():
        if sum(names.are_qualities(field.pointer) for field, _, _ in members) > 1:
            continue  # human_fluency and human_clarity are criteria, not people
        models = sum(names.names_a_model(steps_of(field.pointer)[-1]) for field, _, _ in members)
        if len(members) >= _MANY and models >= 0.6 * len(members):
            found.append(_by_column(rows, members, "judge_model", _COLUMNS))
            said = {word for field, _, _ in members for word in names.own_words(field.pointer)}
            if found[-1].dialect["fields"]["generator_model"] == {"text": NO_GENERATOR} and not said & _PEOPLE:
                found.append(_by_column(rows, members, "generator_model", _COLUMNS))
    return found


def _is_of_judges(field: FieldProfile) -> bool:
    """Whether a field is a member of an object that has one for each judge: `/judges/NAME`."""
    steps = steps_of(field.pointer)
    return (
        len(steps) > 1
        and {word.removesuffix("s") for word in names.words(steps[-2]) if word.endswith("s")}
        & (names.JUDGES | names.RATERS)
        != set()
        and field.is_numeric
    )


def _reach(scale: dict[str, Any]) -> str:
    """Return a word that is equal for scales that may be the same one, of which not all values were seen."""
    if scale["kind"] == "values":
        return "two values"
    return next((f"to {end}" for end in (1, 5, 10, 100) if float(scale["maximum"]) <= end), "beyond")
