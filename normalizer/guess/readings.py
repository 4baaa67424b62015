"""One way to understand a file of scores: its dialect, its rubric, and what is doubtful about it."""

from typing import Any, NamedTuple

from normalizer.documents.lossless import dumps
from normalizer.guess import names
from normalizer.guess.profile import FieldProfile
from normalizer.guess.roles import NO_GENERATOR, NO_JUDGE, Roles
from normalizer.guess.rows import FileRows

_MOST_NAMED = 5
"""Fields that are not used and named."""


class FileReading(NamedTuple):
    """One way to understand a file."""

    title: str
    dialect: dict[str, Any]
    rubric: dict[str, Any] | None
    """None for comparisons."""
    weight: float
    """How likely it is, in comparison with other readings."""
    doubts: list[str]


def name_fields(roles: Roles) -> dict[str, Any]:
    """The fields of an entry that name judge, generator and levels."""
    return {
        "judge_model": roles.judge or {"text": NO_JUDGE},
        "generator_model": roles.generator or {"text": NO_GENERATOR},
        **({"factors": roles.factors} if roles.factors else {}),
    }


def _may_score(field: FieldProfile) -> bool:
    """Whether a field that is not used has numbers that might be scores."""
    own = names.own_words(field.pointer)
    return (field.is_numeric or bool(field.kinds["numbers"])) and not own & names.NO_SCORES and not field.is_unique


def make_reading(
    rows: FileRows,
    title: str,
    declared: dict[str, Any],
    scales: dict[str, dict[str, Any]],
    roles: Roles,
    weight: float,
    doubts: list[str],
    *,
    named_by: str = "",
) -> FileReading:
    """Return the reading with the rubric of its scales. `named_by` is the role that the columns name."""
    lacking = [
        (roles.judge, "judge_model", NO_JUDGE, "judge"),
        (roles.generator, "generator_model", NO_GENERATOR, "generator"),
    ]
    told = ["the file has no line of names: its columns are numbered"] if "columns" in rows.container else []
    told += [
        f"no field names the {what}: it is called {name}, which the saved dialect may say better"
        for role, key, name, what in lacking
        if role is None and key != named_by
    ]
    told += [
        f"every {name} is {scale['minimum']}: the file does not show the scale; write it into the saved rubric"
        for name, scale in scales.items()
        if "minimum" in scale and scale["minimum"] == scale["maximum"]
    ]
    text = dumps(declared)
    others = [at for at, field in rows.profile.fields.items() if f'"{at}"' not in text and _may_score(field)]
    if others:
        told.append(f"these fields have numbers, too, and are not used: {', '.join(others[:_MOST_NAMED])}")
    dialect = {
        "name": "guessed",
        "phase": 1,
        "protocol_version": "this",
        "self_judged": "by_name",
        "container": [rows.container],
        "nan": True,
        **declared,
    }
    rubric = {"name": "guessed", "dimensions": {name: {"scale": scale} for name, scale in scales.items()}}
    return FileReading(title, dialect, rubric, weight, [*roles.doubts, *told, *doubts])
