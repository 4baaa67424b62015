"""Agreement between judges as a table, one row per pair and measure."""

from typing import Any

from normalizer.aggregate import cell_names
from normalizer.tables.formats import Cell, Table
from normalizer.tables.summary_table import left_out_note, of_all

_SHOWN = ("mae", "exact", "bias", "max_abs_diff", "kappa", "kappa_quadratic", "alpha_ordinal")


def table(report: dict[str, Any]) -> Table:
    """Return a table of every pair and of all judges together."""
    rows: list[list[Cell]] = []
    reasons = set()
    for pair in report["pairs"]:
        for name, measured in measures(pair):
            judges = map(cell_names.level, pair["judges"])
            rows.append([*judges, name, pair["n"], *(measured[key] for key in _SHOWN), " ".join(pair["flags"])])
            reasons |= set(measured["na"].values())
    flags = " ".join(report["flags"])
    for name, measured in measures(report["all"]):
        blank: list[Cell] = [None] * (len(_SHOWN) - 1)
        rows.append([cell_names.ALL, cell_names.ALL, name, measured["n"], *blank, measured["alpha_ordinal"], flags])
        reasons |= set(measured["na"].values())
    notes = of_all(report["flags"])
    notes += ["n counts shared artifacts; bias is first minus second judge.", left_out_note(report)]
    notes += [f"NA: {reason}." for reason in sorted(reasons)]
    return Table(["judge", "other judge", "measure", "n", *_SHOWN, "flags"], rows, notes)


def measures(of: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the names of the total and the dimensions in tables."""
    return [("total", of["total"]), *((cell_names.dimension(name), found) for name, found in of["dimensions"].items())]
