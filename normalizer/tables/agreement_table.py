"""Agreement between judges as a table, one row per pair and measure."""

from typing import Any

from normalizer.aggregate import cell_names
from normalizer.tables.formats import Cell, Table
from normalizer.tables.summary_table import left_out_note, of_all

_SHOWN = ("mae", "exact", "bias", "max_abs_diff", "kappa", "ac1", "kappa_quadratic", "alpha_ordinal")
_WITH_INTERVAL = ("exact", "kappa", "ac1", "alpha_ordinal")


def table(report: dict[str, Any]) -> Table:
    """Return a table of every pair and of all judges together."""
    rows: list[list[Cell]] = []
    reasons = set()
    for pair in report["pairs"]:
        for name, measured in measures(pair):
            judges = map(cell_names.level, pair["judges"])
            ends = [end for key in _WITH_INTERVAL for end in measured["ci95"][key] or (None, None)]
            numbers = [measured[key] for key in _SHOWN]
            rows.append([*judges, name, pair["n"], *numbers, *ends, " ".join(pair["flags"])])
            reasons |= set(measured["na"].values())
    flags = " ".join(report["flags"])
    for name, measured in measures(report["all"]):
        blank: list[Cell] = [None] * (len(_SHOWN) - 1)
        after: list[Cell] = [None] * (2 * len(_WITH_INTERVAL))
        cells: list[Cell] = [cell_names.ALL, cell_names.ALL, name, measured["n"]]
        rows.append([*cells, *blank, measured["alpha_ordinal"], *after, flags])
        reasons |= set(measured["na"].values())
    notes = of_all(report["flags"])
    notes.append(
        "n counts answers that both judged; bias is first minus second judge. kappa is agreement beyond that of two "
        "who give each value as often as these do; it falls where one value is rare, and ac1 does not: report both. "
        "95 % intervals assume independent artifacts; the JSON has those of all measures."
    )
    notes.append(left_out_note(report))
    notes += [f"NA: {reason}." for reason in sorted(reasons)]
    ends = [f"{name}.{end}" for name in _WITH_INTERVAL for end in ("ci95_low", "ci95_high")]
    return Table(["judge", "other judge", "measure", "n", *_SHOWN, *ends, "flags"], rows, notes)


def measures(of: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the names of the total and the dimensions in tables."""
    return [("total", of["total"]), *((cell_names.dimension(name), found) for name, found in of["dimensions"].items())]
