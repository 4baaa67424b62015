"""The verdicts on a published table, as a table."""

from typing import Any

from normalizer.aggregate import keys
from normalizer.tables.formats import Cell, Table
from normalizer.tables.summary_table import selection_in_words


def table(report: dict[str, Any], *, everything: bool) -> Table:
    """Return one row per cell, by default only cells that do not match."""
    rows: list[list[Cell]] = []
    for cell in report["cells"]:
        if everything or cell["verdict"] != "match":
            group = ", ".join(keys.level(level, ", ") for level in cell["key"].values())
            exact = "; ".join(part for part in (cell["exact"], cell["why"]) if part is not None) or "NA"
            rows.append([str(cell["line"]), group, cell["column"], cell["published"], cell["verdict"], exact])
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report["counts"].items())
    notes = ["DIAGNOSTIC: phase 0 is admitted."] if report["diagnostic"] else []
    notes.append(f"{sum(report['counts'].values())} cells: {counts}.")
    for key in report["missing_rows"]:
        notes.append(f"Not in the table: {selection_in_words(key) or 'all'}")
    for other in report["other_tables"]:
        notes.append(f"Not checked: the table of line {other['line']}, which has no column for each key.")
    notes += _tell_frozen(report["frozen"]) if "frozen" in report else []
    return Table(["line", "group", "column", "published", "verdict", "exact, or why not"], rows, notes)


def _tell_frozen(found: dict[str, Any]) -> list[str]:
    """Return whether the analysis is the frozen one, in words."""
    if found["agrees"]:
        return [f"Frozen analysis: this table has the options of step {found['step']}. Digest {found['found']}."]
    notes = []
    if found["sha256"] is None:
        notes.append(f"Not frozen: the study file states no digest; that of its analysis is {found['found']}.")
    elif found["sha256"] != found["found"]:
        notes.append(f"Not the frozen analysis: its digest is {found['found']}, and {found['sha256']} was frozen.")
    if found["step"] is None:
        notes.append("Not the frozen analysis: no step of the study file makes a table.")
    elif found["differs"]:
        names = ", ".join(found["differs"])
        notes.append(f"Not the frozen analysis: the nearest step is {found['step']}, which differs in {names}.")
    return notes
