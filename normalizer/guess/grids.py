"""Readings of values that stand in a grid: each is named by two words, such as a criterion and a model.

The words are the last two steps of a pointer (`/scores/gpt-4/fluency`), or the two ends of the name of a column
(`rater1_fluency`, `image_07 calm`). One of them is a criterion; the other is a generator, a judge or an item of a row.
Forms and crowd work also have columns of one criterion with a number for each item, beside what was shown.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from normalizer.containers.values import fetch
from normalizer.documents.pointers import escape, steps_of
from normalizer.guess.fields import names
from normalizer.guess.fields.profile import FieldProfile
from normalizer.guess.fields.unexplained import may_judge
from normalizer.guess.fields.values import declare_score, join_doubts, widest_scale
from normalizer.guess.readings import FileReading, make_reading, name_fields
from normalizer.guess.roles import ASPECT, Roles, find_roles
from normalizer.guess.rows import FileRows

_WEIGHT = 4
_FEWEST_ITEMS = 3
"""Numbered columns of one row that are items. Two are rather the answers of two generators."""
_MOST_VALUES = 11
_MOST_GROUPS = 60
_MARKS = re.compile(r"[_ .:/-]+|(?<=[0-9])(?=[A-Za-z])")
_NUMBER = re.compile(r"\d+$")
_TASKS = frozenset(("batch", "form", "hit", "hitid", "task"))
_NO_ITEMS = names.REPEATS | names.ANSWERS | {"opt", "option", "system", "try"}
_SHOWN = (
    names.QUESTIONS | names.ANSWERS | {"context", "document", "image", "input", "passage", "source", "story", "url"}
)


class _Cell(NamedTuple):
    """A field by its two words."""

    field: FieldProfile
    first: str
    second: str

    def word(self, place: int) -> str:
        """Return the first word (0) or the second (1)."""
        return self.second if place else self.first


class _Frame(NamedTuple):
    """Where the words of a grid stand: the steps before them, and in a name what stands between them."""

    steps: tuple[str, ...]
    mark: str | None
    """None for two steps of a pointer."""


def grid_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings of the largest grid of scores, by what its words may name; none where there is no grid."""
    found: dict[Any, list[_Cell]] = defaultdict(list)
    for field in rows.profile.fields.values():
        if _may_score(field):
            for key, cell in _cells(field):
                found[key].append(cell)
    trimmed = [(frame, _trim(cells)) for (frame, _), cells in found.items()]
    grids = [(frame, cells) for frame, cells in trimmed if _is_grid(cells) and _is_whole(rows, frame, cells)]
    for frame, cells in sorted(grids, key=lambda grid: (-len(grid[1]), grid[0].mark is not None, str(grid[0]))):
        firsts, seconds = {cell.first for cell in cells}, {cell.second for cell in cells}
        if _are_criteria(seconds) and not _are_criteria(firsts):
            return _read(rows, frame, cells, criterion=1)
        if _are_criteria(firsts) and not _are_criteria(seconds):
            return _read(rows, frame, cells, criterion=0)
    return _read_numbered_items(rows)


def _may_score(field: FieldProfile) -> bool:
    """Whether a few whole or half numbers stand in a field, which is not called by a metric."""
    if not field.is_numeric or field.places > 1 or len(field.texts()) > _MOST_VALUES:
        return False
    return not names.own_words(field.pointer) & (names.METRICS | names.ITEMS)


def _cells(field: FieldProfile) -> Iterator[tuple[tuple["_Frame", bool], _Cell]]:
    """Yield the ways in which the place or the name of a field is made of two words, each with its frame."""
    *outer, last = steps_of(field.pointer) or [""]
    if outer:
        yield (_Frame(tuple(outer[:-1]), None), True), _Cell(field, outer[-1], last)
    splits = [match for match in _MARKS.finditer(last) if match.start() > 0 and match.end() < len(last)]
    for match in {splits[0].span(): splits[0], splits[-1].span(): splits[-1]}.values() if splits else ():
        cell = _Cell(field, last[: match.start()], last[match.end() :])
        yield (_Frame(tuple(outer), match[0]), match is splits[0]), cell


def _trim(cells: list[_Cell]) -> list[_Cell]:
    """Return the cells without those whose words have fewer partners than others: `num_words` beside a grid."""
    for place in (0, 1):
        partners = Counter(cell.word(place) for cell in cells)
        most = max(partners.values(), default=0)
        cells = [cell for cell in cells if partners[cell.word(place)] == most]
    return cells


def _is_grid(cells: list[_Cell]) -> bool:
    """Whether there is a value for each of two or more words with each of two or more others, all on one scale."""
    firsts, seconds = {cell.first for cell in cells}, {cell.second for cell in cells}
    if len(cells) != len(firsts) * len(seconds) or min(len(firsts), len(seconds)) < len("ab"):
        return False
    values = {text for cell in cells for text in cell.field.texts()}
    return len(cells) > len("abc") and len(values) <= _MOST_VALUES and max(len(firsts), len(seconds)) <= _MOST_GROUPS


def _is_whole(rows: FileRows, frame: _Frame, cells: list[_Cell]) -> bool:
    """Whether nothing but the grid stands at its place: a dialect names all of it by two stars."""
    if frame.mark is not None:
        return True
    grid = {cell.field.pointer for cell in cells}
    inside = [at for at in rows.profile.fields if tuple(steps_of(at)[: len(frame.steps)]) == frame.steps]
    return grid >= set(inside)


def _are_criteria(words: set[str]) -> bool:
    """Whether at least half of the words are criteria, and none is a person or a model."""
    if any(_is_person(word) or names.names_a_model(word) or set(names.words(word)) & names.NO_SCORES for word in words):
        return False
    return 2 * sum(names.are_qualities(f"/{escape(word)}") for word in words) >= len(words)


def _is_person(word: str) -> bool:
    return bool(set(names.words(word)) & (names.JUDGES | names.RATERS))


def _read(rows: FileRows, frame: _Frame, cells: list[_Cell], criterion: int) -> list[FileReading]:
    """Return the readings of a grid by what its words beside criteria name: judges, generators, items, or either."""
    others = sorted({cell.word(1 - criterion) for cell in cells})
    roles = find_roles(rows, {cell.field.pointer for cell in cells})
    stems = {_NUMBER.sub("", word).rstrip("_ .-") for word in others}
    is_numbered = len(stems) == 1 and all(map(_NUMBER.search, others)) and len(others) >= _FEWEST_ITEMS
    if any(map(_is_person, others)):
        wanted = ["judge_model"]
    elif is_numbered and not set(names.words(stems.copy().pop())) & (_NO_ITEMS | names.GENERATORS):
        wanted = ["file"]
    elif roles.generator is not None:
        wanted = ["judge_model"]
    elif roles.judge is not None or 2 * sum(map(names.names_a_model, others)) >= len(others):
        wanted = ["generator_model"]
    else:
        wanted = ["generator_model", "judge_model"]
    return [_make(rows, frame, cells, criterion, roles, role, others) for role in wanted]


def _make(
    rows: FileRows, frame: _Frame, cells: list[_Cell], criterion: int, roles: Roles, role: str, others: list[str]
) -> FileReading:
    """Return the reading in which the words beside criteria are of that role."""
    place: dict[str, Any]
    if frame.mark is None:
        place = {"split": "".join(f"/{escape(step)}" for step in frame.steps) + "/*/*"}
        words: list[dict[str, Any]] = [{"key": True, "star": 1}, {"key": True, "star": 2}]
    else:
        place = {"parts": [cell.field.pointer for cell in cells]}
        mark = re.escape(frame.mark)
        firsts, seconds = (
            "|".join(re.escape(word) for word in sorted({cell.word(at) for cell in cells})) for at in (0, 1)
        )
        words = [
            {"key": True, "pattern": f"^({firsts}){mark}(?:{seconds})$"},
            {"key": True, "pattern": f"^(?:{firsts}){mark}({seconds})$"},
        ]
    what = {"file": "items of their row", "judge_model": "judges", "generator_model": "generators"}[role]
    said = sorted({cell.word(criterion) for cell in cells})
    doubts = [
        f"{', '.join(others[:5])}{', ...' if len(others) > len(others[:5]) else ''}: taken for {what}",
        f"each value is about one criterion of {', '.join(said)}: the table is by it",
    ]
    item, key, named_by = roles.item, list(roles.key), role
    named = name_fields(roles)
    if role == "file":
        item, key, named_by, told = _items(roles, words[1 - criterion])
        named |= {"judge_model": told} if told else {}
    else:
        named[role] = words[1 - criterion]
        # Words may name what a field names, too; that field then tells items apart.
        item, key = (roles.identity, ["file"]) if role in key else (item, key)
    fields: dict[str, Any] = {"file": item, "scores": {}, **named}
    fields["factors"] = {**roles.factors, ASPECT: words[criterion]}
    key = [*key, *([role] if role != "file" else []), ASPECT]
    return _finish(rows, {**place, "fields": fields, "key": key}, cells, roles, (what, named_by), doubts)


def _items(roles: Roles, word: dict[str, Any]) -> tuple[dict[str, Any], list[str], str, dict[str, Any] | None]:
    """Return what names items that rows share, the key, who is not named, and what names the judge of a row."""
    if roles.judge is not None:
        return word, ["file", "judge_model"], "", None
    return word, ["file", "judge_model"], "judge_model", {"template": "row-{index}"}


def _finish(
    rows: FileRows,
    declared: dict[str, Any],
    cells: list[_Cell],
    roles: Roles,
    taken: tuple[str, str],
    doubts: list[str],
) -> FileReading:
    """Return the reading with the scores and the scale of all cells. `taken`: what they are, and who is not named."""
    made = [(cell.field, one) for cell in cells if (one := declare_score(cell.field)) is not None]
    failed = {repr(value): value for _, one in made for value in one.value.get("failed", [])}
    score = {**made[0][1].value, **({"failed": list(failed.values())} if failed else {})}
    declared["fields"]["scores"] = {"score": {"of": "part", "at": "", **score}}
    what, named_by = taken
    if declared["fields"]["judge_model"] == {"template": "row-{index}"}:
        doubts = [*doubts, "each row is taken for one judge, who is called by its number"]
    scale = widest_scale([one.scale for _, one in made])
    title = f"scores: {len(cells)} values a row, of {what}"
    doubts = [*doubts, *join_doubts(made)]
    return make_reading(rows, title, declared, {"score": scale}, roles, _WEIGHT, doubts, named_by=named_by)


def _read_numbered_items(rows: FileRows) -> list[FileReading]:
    """Return the reading of numbered columns of one criterion, beside numbered columns with what was shown."""
    groups: dict[str, list[_Cell]] = defaultdict(list)
    for field in rows.profile.fields.values():
        steps = steps_of(field.pointer)
        name = steps[0].removeprefix("Answer.") if len(steps) == 1 else ""
        stem = _NUMBER.sub("", name)
        if stem != name and _may_score(field) and not set(names.words(stem)) & (_NO_ITEMS | names.GENERATORS):
            groups[stem].append(_Cell(field, stem, name.removeprefix(stem)))
    for cells in groups.values():
        numbers = {cell.second for cell in cells}
        shown = _find_shown(rows, numbers)
        if len(numbers) < _FEWEST_ITEMS or any(_is_person(cell.first) for cell in cells) or not shown:
            continue
        roles = find_roles(rows, {cell.field.pointer for cell in cells} | set(shown))
        told_by = _tell_row(rows, shown)
        item = {"template": f"{told_by}/{{key}}"} if told_by else {"key": True}
        item, key, named_by, told = _items(roles, item)
        fields = {"file": item, "scores": {}, **name_fields(roles), **({"judge_model": told} if told else {})}
        declared = {"parts": [cell.field.pointer for cell in cells], "fields": fields, "key": key}
        doubts = [f"{', '.join(cell.field.pointer for cell in cells[:3])}, ...: taken for items of their row"]
        doubts += [f"an item is {told_by} with the number of its column"] if told_by else []
        return [_finish(rows, declared, cells, roles, ("items of their row", named_by), doubts)]
    return []


def _find_shown(rows: FileRows, numbers: set[str]) -> list[str]:
    """Return the columns with what was shown, one for each number: `Input.query1`; none if there are none."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for at, field in rows.profile.fields.items():
        match = _NUMBER.search(at)
        if match and field.kinds["text"] and names.own_words(at) & _SHOWN:
            groups[at[: match.start()]][match[0]] = at
    return next((sorted(group.values()) for group in groups.values() if group.keys() >= numbers), [])


def _tell_row(rows: FileRows, shown: list[str]) -> str:
    """Return a template of the field that tells apart rows about different items; empty where none does."""
    named = [at for at in rows.profile.fields if names.own_words(at) & _TASKS]
    sets = len({tuple(str(fetch(row, steps_of(at))) for at in shown) for row in rows.profile.rows})
    told_by = [at for at in (*named, *shown) if len(rows.profile.fields[at].values) == sets > 1]
    return f"{{{told_by[0]}}}" if told_by else ""


def alike_column_readings(rows: FileRows) -> list[FileReading]:
    """Return the readings of columns that say nothing by their names, where nothing else may be a judgement.

    Three or more columns on one scale beside an item are of several judges, or of several generators.
    """
    fields = [field for field in rows.profile.fields.values() if may_judge(field)]
    values = {text for field in fields for text in field.texts()}
    is_about_items = any(names.own_words(at) & (names.ITEMS | names.QUESTIONS) for at in rows.profile.fields)
    if len(fields) < len("abc") or not is_about_items or not all(map(_may_score, fields)):
        return []
    if not len("ab") < len(values) <= _MOST_VALUES or any(2 * len(field.texts()) < len(values) for field in fields):
        return []
    roles = find_roles(rows, {field.pointer for field in fields})
    wanted = [
        (role, what)
        for role, what, known in (
            ("judge_model", "judges", roles.judge),
            ("generator_model", "generators", roles.generator),
        )
        if known is None
    ]
    told = f"{', '.join(field.pointer for field in fields)}: columns on one scale, whose names say nothing"
    found = []
    for role, what in wanted:
        named = {**name_fields(roles), role: {"key": True}}
        declared = {
            "parts": [field.pointer for field in fields],
            "fields": {"file": roles.item, "scores": {}, **named},
            "key": [*roles.key, role],
        }
        cells = [_Cell(field, "", "") for field in fields]
        found.append(_finish(rows, declared, cells, roles, (what, role), [told, f"these are taken for {what}"]))
    return found
