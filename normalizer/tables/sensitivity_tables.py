"""How far means depend on what is missing and on single judges, as tables."""

from typing import Any

from normalizer.aggregate import keys
from normalizer.tables.formats import Cell, Table, tell_range, tell_reasons


def list_tables(found: dict[str, Any], by: list[str]) -> list[tuple[str, Table]]:
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
        levels = [keys.level(level) for level in row["key"].values()]
        rows.append(
            [*levels, row["n"], row["invalid"], row["absent"], row["at_minimum"], row["mean"], row["at_maximum"]]
        )
    return Table([*by, "n", "invalid", "absent", "at minimum", "mean", "at maximum"], rows, tell_reasons(*bounds))


def _without(judges: list[dict[str, Any]], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for judge in judges:
        for row in judge["rows"]:
            levels = [keys.level(level) for level in row["key"].values()]
            rows.append([keys.level(judge["judge"]), *levels, row["n"], row["mean"], row["change"]])
    every = [row for judge in judges for row in judge["rows"]]
    return Table(["without", *by, "n", "mean", "change"], rows, tell_reasons(*every))
