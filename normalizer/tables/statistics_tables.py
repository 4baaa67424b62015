"""The statistics report as tables."""

from dataclasses import replace
from typing import Any

from normalizer.aggregate import cell_names
from normalizer.tables.agreement_table import selves, severity
from normalizer.tables.formats import Cell, Table, tell_range, tell_reasons
from normalizer.tables.summary_table import left_out_note, of_all


def named(report: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return the tables by title. Each has all notes on its numbers, since it may be published alone."""
    by = report["by"]
    found = [
        ("Invalid records", _rates(report["invalid_rates"])),
        ("The mean total if every invalid record were at an end of the scale", _bounds(report, by)),
        *([("Paired contrasts", _contrasts(report))] if report["contrasts"] else []),
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
        rows.append([*levels, row["n"], row["invalid"], row["at_minimum"], row["mean"], row["at_maximum"]])
    notes = [left_out_note(report), *tell_reasons(*report["bounds"])]
    return Table([*by, "n", "invalid", "at minimum", "mean", "at maximum"], rows, notes)


def _contrasts(report: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for row in report["contrasts"]:
        levels = " - ".join(cell_names.level(level, " - ") for level in row["levels"])
        cells: list[Cell] = [row["measure"], levels, row["n"], row["unpaired"], row["difference"]]
        rows.append([*cells, tell_range(row["ci95"]), row["p"], row["p_holm"], row["method"]])
    paired = ", ".join(report["paired_by"])
    notes = [
        f"Levels of {report['contrasts'][0]['key']}, paired by {paired}. "
        f"Sign-flip test, two-sided; seed {report['seed']} where patterns are drawn."
    ]
    columns = ["measure", "levels", "n", "unpaired", "difference", "95 % interval", "p", "p (Holm)", "method"]
    return Table(columns, rows, notes + tell_reasons(*report["contrasts"]))


def _without(judges: list[dict[str, Any]], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for judge in judges:
        for row in judge["rows"]:
            levels = [cell_names.level(level) for level in row["key"].values()]
            rows.append([cell_names.level(judge["judge"]), *levels, row["n"], row["mean"], row["change"]])
    every = [row for judge in judges for row in judge["rows"]]
    return Table(["without", *by, "n", "mean", "change"], rows, tell_reasons(*every))
