"""The statistics report as tables."""

from dataclasses import replace
from typing import Any

from normalizer.aggregate import cell_names
from normalizer.tables import contrast_table
from normalizer.tables.agreement_table import selves, severity
from normalizer.tables.formats import Cell, Table, tell_range, tell_reasons
from normalizer.tables.summary_table import left_out_note, of_all


def named(report: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return the tables by title. Each has all notes on its numbers, since it may be published alone."""
    by = report["by"]
    found = [
        ("Invalid records", _rates(report["invalid_rates"])),
        ("The mean total if every invalid record and absent file were at an end of the scale", _bounds(report, by)),
        *([("Paired contrasts", contrast_table.table(report))] if report["contrasts"] else []),
        ("Severity of judges", severity(report["severity"])),
        ("Without one judge", _without(report["leave_one_judge_out"], by)),
        *(
            [("Self against cross judging", selves(report["self_against_cross"]))]
            if report["self_against_cross"]
            else []
        ),
    ]
    return [(title, replace(table, notes=[*of_all(report["flags"]), *table.notes])) for title, table in found]


def _rates(rates: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [key, cell_names.level(row["level"]), row["records"], row["invalid"], row["rate"], tell_range(row["wilson95"])]
        for key, levels in rates.items()
        for row in levels
    ]
    return Table(["key", "level", "records", "invalid", "rate", "95 % interval"], rows, ["Intervals are Wilson's."])


def _bounds(report: dict[str, Any], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for row in report["bounds"]:
        levels = [cell_names.level(level) for level in row["key"].values()]
        rows.append(
            [*levels, row["n"], row["invalid"], row["absent"], row["at_minimum"], row["mean"], row["at_maximum"]]
        )
    notes = [left_out_note(report), *tell_reasons(*report["bounds"])]
    return Table([*by, "n", "invalid", "absent", "at minimum", "mean", "at maximum"], rows, notes)


def _without(judges: list[dict[str, Any]], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for judge in judges:
        for row in judge["rows"]:
            levels = [cell_names.level(level) for level in row["key"].values()]
            rows.append([cell_names.level(judge["judge"]), *levels, row["n"], row["mean"], row["change"]])
    every = [row for judge in judges for row in judge["rows"]]
    return Table(["without", *by, "n", "mean", "change"], rows, tell_reasons(*every))
