"""The statistics report as tables."""

from dataclasses import replace
from typing import Any

from normalizer.aggregate import cell_names
from normalizer.tables.formats import Cell, Table
from normalizer.tables.summary_table import left_out_note, of_all


def named(report: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return the tables by title. Each has all notes on its numbers, since it may be published alone."""
    by = report["by"]
    found = [
        ("Invalid records", _rates(report["invalid_rates"])),
        ("The mean total if every invalid record were at an end of the scale", _bounds(report, by)),
        *([("Paired contrasts", _contrasts(report))] if report["contrasts"] else []),
        ("Severity of judges", _severity(report["severity"])),
        ("Without one judge", _without(report["leave_one_judge_out"], by)),
        *(
            [("Self against cross judging", _selves(report["self_against_cross"]))]
            if report["self_against_cross"]
            else []
        ),
    ]
    return [(title, replace(table, notes=[*of_all(report["flags"]), *table.notes])) for title, table in found]


def _why(*documents: dict[str, Any]) -> list[str]:
    return [f"NA: {reason}." for reason in sorted({reason for each in documents for reason in each["na"].values()})]


def _between(interval: list[Any] | None) -> Cell:
    return None if interval is None else f"{interval[0]:f} to {interval[1]:f}"


def _rates(rates: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [key, cell_names.level(row["level"]), row["records"], row["invalid"], row["rate"], _between(row["wilson95"])]
        for key, levels in rates.items()
        for row in levels
    ]
    return Table(["key", "level", "records", "invalid", "rate", "95 % interval"], rows, ["Intervals are Wilson's."])


def _bounds(report: dict[str, Any], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for row in report["bounds"]:
        levels = [cell_names.level(level) for level in row["key"].values()]
        rows.append([*levels, row["n"], row["invalid"], row["at_minimum"], row["mean"], row["at_maximum"]])
    notes = [left_out_note(report), *_why(*report["bounds"])]
    return Table([*by, "n", "invalid", "at minimum", "mean", "at maximum"], rows, notes)


def _contrasts(report: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for row in report["contrasts"]:
        levels = " - ".join(cell_names.level(level, " - ") for level in row["levels"])
        cells: list[Cell] = [row["measure"], levels, row["n"], row["unpaired"], row["difference"]]
        rows.append([*cells, _between(row["ci95"]), row["p"], row["p_holm"], row["method"]])
    paired = ", ".join(report["paired_by"])
    notes = [
        f"Levels of {report['contrasts'][0]['key']}, paired by {paired}. "
        f"Sign-flip test, two-sided; seed {report['seed']} where patterns are drawn."
    ]
    columns = ["measure", "levels", "n", "unpaired", "difference", "95 % interval", "p", "p (Holm)", "method"]
    return Table(columns, rows, notes + _why(*report["contrasts"]))


def _severity(severity: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [cell_names.level(row["judge"]), row["panel"], row["n"], row["effect"], row["se"], _between(row["ci95"])]
        for row in severity["judges"]
    ]
    deviation = "NA" if severity["residual_sd"] is None else f"{severity['residual_sd']:f}"
    notes = [
        f"total = answer + judge + the judge's bonus for its own model; residual sd {deviation}, "
        f"{severity['freedom']} degrees of freedom.",
        "effect: the judge's totals less those of its panel on the same answers; positive is milder. Intervals are "
        "cluster-robust by artifact, so that judges may differ in their noise.",
    ]
    return Table(
        ["judge", "panel", "n", "effect", "se", "95 % interval"], rows, notes + _why(severity, *severity["judges"])
    )


def _without(judges: list[dict[str, Any]], by: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for judge in judges:
        for row in judge["rows"]:
            levels = [cell_names.level(level) for level in row["key"].values()]
            rows.append([cell_names.level(judge["judge"]), *levels, row["n"], row["mean"], row["change"]])
    every = [row for judge in judges for row in judge["rows"]]
    return Table(["without", *by, "n", "mean", "change"], rows, _why(*every))


def _selves(selves: list[dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for row in selves:
        cells: list[Cell] = [cell_names.level(row["judge"])]
        for part in ("own", "elsewhere"):
            cells += [row[part]["n"], row[part]["mean"], _between(row[part]["ci95"]), row[part]["p"]]
        rows.append([*cells, row["excess"], _between(row["excess_ci95"])])
    columns = ["judge", "n own", "own", "95 % interval", "p", "n elsewhere", "elsewhere", "95 % interval", "p"]
    notes = [
        "own and elsewhere: the judge's total minus the mean of the cross-judging others' on the same artifact, which "
        "depends on how harsh these others are. excess: what the judge adds for its own model, each judge having a "
        "severity of its own; report this one. It assumes that a judge is as harsh with every other model."
    ]
    every = [part for row in selves for part in (row, row["own"], row["elsewhere"])]
    return Table([*columns, "excess", "95 % interval"], rows, notes + _why(*every))
