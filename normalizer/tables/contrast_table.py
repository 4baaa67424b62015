"""Paired contrasts as a table."""

from dataclasses import replace
from typing import Any

from normalizer.aggregate import keys
from normalizer.estimation.paired_test import ASSUMPTIONS
from normalizer.tables.formats import Cell, Table, note_flags, note_left_out, p_value, tell_range

_COLUMNS = ["measure", "levels", "pairs", "items", "unpaired", "difference", "interval"]
_COLUMNS += ["over judges", "p", "p_holm", "verdict"]
_NAMED = {"interval": "95 % interval", "p_holm": "p (Holm)"}


def table(report: dict[str, Any]) -> Table:
    """Return one row per pair of levels and measure."""
    rows: list[list[Cell]] = []
    for row in report["contrasts"]:
        levels = " - ".join(keys.level(level, " - ") for level in row["levels"])
        cells: list[Cell] = [row["measure"], levels, row["n"], row["items"], row["unpaired"], row["difference"]]
        cells += [tell_range(row["ci95"]), tell_range(row["ci95_over_judges"])]
        rows.append([*cells, p_value(row["p"]), p_value(row["p_holm"]), row["verdict"]])
    used = {row["assumes"] for row in report["contrasts"]} - {None}
    key, paired = report["contrasts"][0]["key"], ", ".join(report["paired_by"])
    notes = [
        f"Levels of {key}, first minus second, paired by {paired} and judge. Interval and p are of one test, "
        "two-sided, item by item; Holm's correction covers the totals, and the dimensions.",
        *(f"{'Interval and p' if len(used) == 1 else name}: {ASSUMPTIONS[name]}." for name in sorted(used)),
        "over judges: the interval for other judges like these, too; report it where you claim more than what these "
        "judges say.",
        "verdict: higher or lower, of the first level, where p (Holm) is at most 0.05.",
    ]
    reasons = sorted({reason for row in report["contrasts"] for reason in row["na"].values()})
    return Table([_NAMED.get(name, name) for name in _COLUMNS], rows, notes + [f"NA: {reason}." for reason in reasons])


def with_notes(document: dict[str, Any]) -> Table:
    """Return the table of a document of contrasts, with all notes on its numbers."""
    found = table(document)
    return replace(found, notes=[*note_flags(document["flags"]), *found.notes, note_left_out(document)])
