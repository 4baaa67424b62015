"""One way to understand a file of scores: its dialect, its rubric, and what is doubtful about it."""

from typing import Any, NamedTuple

from normalizer.guess.fields import names
from normalizer.guess.fields.unexplained import is_split, join_names, may_name, pointers_in, tell_judgements
from normalizer.guess.roles import NO_GENERATOR, NO_JUDGE, Roles
from normalizer.guess.rows import FileRows

_MEANS = names.TOTALS & {"average", "avg", "mean", "median"}
_SUMMARIES = _MEANS | (names.TOTALS & {"sum", "total"})


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


def tell_unnamed(rows: FileRows, declared: dict[str, Any], what: str, name: str) -> str:
    """Return the doubt that nothing names the judge or the generator, with the fields that may."""
    others = name_candidates(rows, declared)
    return f"no field names the {what}: it is called {name}, which the saved dialect may say better{others}"


def name_candidates(rows: FileRows, declared: dict[str, Any]) -> str:
    """Return the fields that may name what no field is called by, for the end of a doubt; nothing if there are none."""
    used = {*pointers_in({key: value for key, value in _flat(declared).items() if key != "factors"})}
    split = declared.get("split", "")
    fields = [
        field
        for at, field in rows.profile.fields.items()
        if at not in used and not is_split(at, split) and may_name(field, rows.looked_at)
    ]
    return f"; it may be one of these: {join_names(fields)}" if fields else ""


def _tell_lone_sides(rows: FileRows, declared: dict[str, Any]) -> list[str]:
    """Return the doubt about used fields that are called like one of two, where the other is not used with them."""
    used = sorted({at for at in pointers_in(declared) if at in rows.profile.fields and not at.startswith("/star/")})
    firsts, seconds = ({at: names.without_side(at) for at in used if names.is_side(at, which)} for which in (0, 1))
    lone = set(firsts.values()) ^ set(seconds.values())
    found = [at for at, rest in (firsts | seconds).items() if rest in lone]
    if not found:
        return []
    others = name_candidates(rows, declared)
    return [f"{', '.join(found)}: called like one of two that are compared, and the other is not found{others}"]


def _tell_summaries(rows: FileRows, declared: dict[str, Any]) -> list[str]:
    """Return the doubt about rows that are called a mean or a sum where others have the name of an item."""
    named = {key: value for key, value in declared.get("fields", {}).items() if key != "scores"}
    fields = [rows.profile.fields[at] for at in sorted({*pointers_in(named)}) if at in rows.profile.fields]
    found = [f"{one.pointer} is {text}" for one in fields for text in one.texts() if text.lower() in _SUMMARIES]
    return [f"{', '.join(found)}: such rows may be results of others, not judgements"] if found else []


def _flat(declared: dict[str, Any]) -> dict[str, Any]:
    """Return a dialect with what is declared of an entry or a comparison beside the rest."""
    return {**declared, **declared.get("fields", {}), **declared.get("comparison", {}), "fields": {}, "comparison": {}}


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
        tell_unnamed(rows, declared, what, name)
        for role, key, name, what in lacking
        if role is None and key != named_by
    ]
    told += [
        f"every {name} is {scale['minimum']}: the file does not show the scale; write it into the saved rubric"
        for name, scale in scales.items()
        if "minimum" in scale and scale["minimum"] == scale["maximum"]
    ]
    told += [
        f"a greater {name} may be worse, not better: no number here says which"
        for name in scales
        if set(names.words(name)) & names.WORSE
    ]
    told += [
        f"{name} is called a mean: the rows may be results, not judgements"
        for name in scales
        if set(names.words(name)) & _MEANS
    ]
    told += _tell_summaries(rows, declared) + _tell_lone_sides(rows, declared)
    told += tell_judgements(rows.profile, declared)
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
