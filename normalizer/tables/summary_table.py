"""A summary as tables: one row per group, with notes on records left out and on flags; and how far means depend on what
is missing and on single judges."""

from decimal import Decimal
from typing import Any

import contract_spec as spec

from normalizer.aggregate import keys
from normalizer.tables.formats import Cell, Table, ends, note_flags, note_left_out, tell_range, tell_reasons

_MOMENTS = ("mean", "sd", "min", "max")
_FIXED = ("mean", "sd")
_COUNTS = ("n", "n_items", "n_records", "n_judges")


def wide(summary: dict[str, Any]) -> Table:
    """Return all numbers, one per column, for programs. Rows of kind `left_out` count records in no group."""
    dimensions = dimensions_of(summary)
    optional = _optional(summary)
    columns = ["row", *summary["by"], *_COUNTS]
    leading = len(columns)
    for name in (None, *dimensions):
        parts = (*_MOMENTS, "ci95_low", "ci95_high", *(["n"] if name in optional else []))
        columns += [f"{'total' if name is None else keys.dimension(name)}.{part}" for part in parts]
    scored = "recipe" in summary
    columns += ["recipe.score", "recipe.ci95_low", "recipe.ci95_high"] if scored else []
    columns += ["at_min", "at_max", "flags"]
    rows: list[list[Cell]] = []
    for row in summary["rows"]:
        cells: list[Cell] = [
            "group",
            *keys.list_levels(row["key"]),
            row["n"],
            row["n_items"],
            row["n_records"],
            row["n_judges"],
        ]
        for moments in (row["total"], *(row["dimensions"][name] for name in dimensions)):
            cells += [*(moments[part] for part in _MOMENTS), *ends(moments["ci95"])]
            cells += [moments["n"]] if "n" in moments else []
        cells += _score(row) if scored else []
        rows.append([*cells, row["at_min"], row["at_max"], " ".join(row["flags"])])
    blank = [""] * len(summary["by"])
    for reason, count in summary["left_out"].items():
        empty: list[Cell] = [""] * (len(columns) - leading - 1)
        rows.append(["left_out", *blank, "", "", count, "", *empty, reason])
    return Table(columns, rows, [])


def narrow(summary: dict[str, Any]) -> Table:
    """Return a table for people: counts, the total with its interval, the means of the dimensions."""
    dimensions = dimensions_of(summary)
    clustered = any(row["n_items"] < row["n"] for row in summary["rows"])
    counts = ["n", *(["items"] if clustered else []), "records", "judges"]
    columns = [*summary["by"], *counts, "total", "95 % interval", "sd", "min", "max"]
    dimensions = [] if _is_total(summary, dimensions) else dimensions
    optional = _optional(summary)
    for name in dimensions:
        columns += [keys.dimension(name), *([f"n of {keys.dimension(name)}"] if name in optional else [])]
    scored = "recipe" in summary
    columns += ["score", "score low", "score high"] if scored else []
    columns += ["at min", "at max", "flags"]
    rows: list[list[Cell]] = []
    for row in summary["rows"]:
        total = _fix_places(row["total"], summary["rounding"]["places"])
        between = f"{total['ci95'][0]:f} to {total['ci95'][1]:f}" if total["ci95"] else "NA"
        items = [row["n_items"]] if clustered else []
        cells: list[Cell] = [*keys.list_levels(row["key"]), row["n"], *items, row["n_records"], row["n_judges"]]
        cells += [total["mean"], between, total["sd"], total["min"], total["max"]]
        for name in dimensions:
            moments = _fix_places(row["dimensions"][name], summary["rounding"]["places"])
            cells += [moments["mean"], *([moments["n"]] if name in optional else [])]
        cells += _score(row) if scored else []
        rows.append([*cells, row["at_min"], row["at_max"], " ".join(row["flags"])])
    return Table(columns, rows, notes(summary))


def _score(row: dict[str, Any]) -> list[Cell]:
    """Return the score of a group by the recipe, with its interval."""
    found = row["recipe"] or {"score": None, "ci95": None}
    return [found["score"], *ends(found["ci95"])]


def _is_total(summary: dict[str, Any], dimensions: list[str]) -> bool:
    """Return whether the total says all: there is one dimension, and its numbers are those of the total."""
    return len(dimensions) == 1 and all(row["dimensions"][dimensions[0]] == row["total"] for row in summary["rows"])


def _fix_places(moments: dict[str, Any], places: int) -> dict[str, Any]:
    """Return the mean, spread and interval with exactly that many places; ends of the scale stay as they are."""
    step = Decimal(1).scaleb(-places)
    fixed = {name: moments[name] if moments[name] is None else moments[name].quantize(step) for name in _FIXED}
    interval = moments["ci95"] and [end.quantize(step) for end in moments["ci95"]]
    return {**moments, **fixed, "ci95": interval}


def lay_out_for_paper(
    summary: dict[str, Any], cells: str, places: int, *, lower_is_better: bool | None = None
) -> Table:
    """Return a table for a paper: keys, n, and the mean of the total and of each dimension with its spread in one cell.

    The summary must have more places than are shown: half an interval is rounded here, once. `cells` is `mean`,
    `mean-ci` or `mean-sd`; an interval that is not symmetric stands in brackets. With `lower_is_better` given, the best
    mean of each column is bold, among rows of one judge where judges are a key. None is bold where rows are of
    different artifacts or by different judges: on those that they share, another may be best.
    """
    dimensions = dimensions_of(summary)
    dimensions = [] if _is_total(summary, dimensions) else dimensions
    columns = [*summary["by"], "n", "total", *map(keys.dimension, dimensions)]
    rows: list[list[Cell]] = []
    means: list[list[Any]] = []
    for row in summary["rows"]:
        measures = [row["total"], *(row["dimensions"][name] for name in dimensions)]
        rows.append([*keys.list_levels(row["key"]), row["n"], *(_paper_cell(each, cells, places) for each in measures)])
        means.append([each["mean"] for each in measures])
    bold = _best(summary, means, lower_is_better) if lower_is_better is not None else frozenset()
    shown = {**summary, "rounding": {**summary["rounding"], "places": places}}
    return Table(columns, rows, notes(shown), bold)


def _best(summary: dict[str, Any], means: list[list[Any]], lower_is_better: bool) -> frozenset[tuple[int, int]]:
    """Return the places of the best means of each column."""
    if any({"different_artifacts", "different_judges"} & set(row["flags"]) for row in summary["rows"]):
        return frozenset()
    best = min if lower_is_better else max
    first = len(summary["by"]) + 1
    bold = set()
    for judge in dict.fromkeys(row["key"].get("judge_model") for row in summary["rows"]):
        places = [at for at, row in enumerate(summary["rows"]) if row["key"].get("judge_model") == judge]
        for column in range(len(means[0])):
            known = [means[place][column] for place in places if means[place][column] is not None]
            bold |= {
                (place, first + column) for place in places if len(known) > 1 and means[place][column] == best(known)
            }
    return frozenset(bold)


def _paper_cell(moments: dict[str, Any], cells: str, places: int) -> Cell:
    if moments["mean"] is None:
        return None
    mean = f"{moments['mean']:.{places}f}"
    if cells == "mean-sd" and moments["sd"] is not None:
        return f"{mean} ({moments['sd']:.{places}f})"
    if cells == "mean-ci" and moments["ci95"] is not None:
        low, high = moments["ci95"]
        halves = f"{high - moments['mean']:.{places}f}", f"{moments['mean'] - low:.{places}f}"
        if halves[0] == halves[1]:
            return f"{mean} \xb1 {halves[0]}"
        return f"{mean} [{low:.{places}f}, {high:.{places}f}]"
    return mean


def notes(summary: dict[str, Any], places: int | None = None) -> list[str]:
    """Return the notes below a table that shows so many places; without them, all that the summary has."""
    low, high = summary["scale"]
    said = note_flags(["diagnostic"] if summary["diagnostic"] else [])
    counted = sum(row["n_records"] for row in summary["rows"])
    unit = "artifacts, the judges of each averaged first" if summary["unit"] == "artifact" else "records"
    said.append(f"n counts {unit}. Rubric {summary['rubric']}: total from {low:f} to {high:f}.")
    if optional := _optional(summary):
        said.append(f"Optional, over what has a score there: {', '.join(map(keys.dimension, optional))}.")
    if summary["where"]:
        said.append(f"Selected: {selection_in_words(summary['where'])}.")
    said.append(
        _interval(summary["interval"])
        + f" Numbers are exact, rounded once to {places or summary['rounding']['places']} places, ties to even."
    )
    said.append(f"In the table: {counted} of {note_left_out(summary)}")
    said += recipe_notes(summary["recipe"]) if "recipe" in summary else []
    used = sorted({flag for row in summary["rows"] for flag in row["flags"]})
    return said + [f"{flag}: {FLAGS[flag]}" for flag in used]


def recipe_notes(told: dict[str, Any]) -> list[str]:
    """Return what a table says about its recipe."""
    notes = [f"{told['name']}: {told['formula']}. Source: {told['source']}.", "The interval is ours, by item."]
    notes += [f"This is {told['variant']}."] if told.get("variant") else []
    notes += [f"File: {file['name']}, SHA-256 {file['sha256']}." for file in told["files"]]
    return [*notes, *([told["lacks"]] if told["lacks"] else [])]


def selection_in_words(where: dict[str, Any]) -> str:
    """Return the selection in words."""
    return ", ".join(f"{name} = {keys.level(level, ', ')}" for name, level in where.items())


def _interval(interval: dict[str, Any]) -> str:
    item = interval["cluster"] or "artifact"
    if interval["method"] == "t":
        return f"95 % intervals: Student's t; assumes nearly normal means and independent items, by {item}."
    return f"95 % intervals: Gaffke's bounds; assumes independent items, by {item}, and nothing about their scores."


def dimensions_of(summary: dict[str, Any]) -> list[str]:
    """Return the dimensions that a summary has numbers of."""
    return list(summary["rows"][0]["dimensions"]) if summary["rows"] else []


def _optional(summary: dict[str, Any]) -> list[str]:
    """Return the dimensions whose numbers are of fewer units than the total's."""
    rows = summary["rows"]
    return [name for name, moments in rows[0]["dimensions"].items() if "n" in moments] if rows else []


FLAGS: dict[str, str] = spec.resource("rules/flags.json")
"""The meaning of each flag, in a sentence."""


def list_sensitivity(found: dict[str, Any], by: list[str]) -> list[tuple[str, Table]]:
    """Return the tables of a summary's `sensitivity` by title; `by` are the keys of its groups."""
    return [
        ("Invalid records", _rates(found["invalid_rates"])),
        (
            "The mean total if every invalid record and absent file were at an end of the scale",
            _bounds(found["bounds"], by),
        ),
        ("Without one judge", _without(found["leave_one_judge_out"], by)),
    ]


def _rates(rates: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [key, keys.level(row["level"]), row["records"], row["invalid"], row["rate"], tell_range(row["exact95"])]
        for key, levels in rates.items()
        for row in levels
    ]
    return Table(
        ["key", "level", "records", "invalid", "rate", "95 % interval"], rows, ["Intervals are Clopper and Pearson's."]
    )


def _bounds(bounds: list[dict[str, Any]], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for row in bounds:
        numbers = [row[name] for name in ("n", "invalid", "absent", "at_minimum", "mean", "at_maximum")]
        rows.append([*keys.list_levels(row["key"]), *numbers])
    return Table([*by, "n", "invalid", "absent", "at minimum", "mean", "at maximum"], rows, tell_reasons(*bounds))


def _without(judges: list[dict[str, Any]], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for judge in judges:
        for row in judge["rows"]:
            levels = keys.list_levels(row["key"])
            rows.append([keys.level(judge["judge"]), *levels, row["n"], row["mean"], row["change"]])
    every = [row for judge in judges for row in judge["rows"]]
    return Table(["without", *by, "n", "mean", "change"], rows, tell_reasons(*every))
