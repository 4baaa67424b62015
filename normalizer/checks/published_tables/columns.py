"""Map a table's columns to statistics."""

from decimal import Decimal
from typing import Any

from normalizer.aggregate import cell_names
from normalizer.aggregate.cell_names import MOMENTS

_COUNTS = {"n": "n", "n_records": "n_records", "records": "n_records", "n_judges": "n_judges", "judges": "n_judges"}
_COUNTS |= {"n_items": "n_items", "items": "n_items"}
_COUNTS |= {"at_min": "at_min", "at min": "at_min", "at_max": "at_max", "at max": "at_max"}
_PLAIN = {"95 % interval": "total.ci95", "ci95": "total.ci95", "mean": "total.mean"}
_PLAIN |= {name: f"total.{name}" for name in ("sd", "min", "max", "ci95_low", "ci95_high")}
_ARROWS = "\N{UPWARDS ARROW}\N{DOWNWARDS ARROW}"
"""Arrows beside a column's name say which end is the better one."""
PASSED_OVER = ("row", "flags")
"""Columns of our own tables that hold no number."""


def bare(column: str) -> str:
    """Return a column's name without the arrows beside it."""
    return column.strip(f"{_ARROWS} ")


def column_called(name: str, columns: list[str]) -> str | None:
    """Return the column of this name, with or without arrows; None if there is none."""
    if name in columns:
        return name
    return next((column for column in columns if bare(column) == bare(name)), None)


def statistic_of(column: str, dimensions: list[str]) -> str | None:
    """Return the statistic that a column's name means, or None."""
    name = bare(column)
    measures = ["total", *map(cell_names.dimension, dimensions)]
    if name in measures:
        return f"{name}.mean"
    if name in _COUNTS:
        return _COUNTS[name]
    if name in _PLAIN:
        return _PLAIN[name]
    measure, _, moment = name.rpartition(".")
    return name if moment in MOMENTS and measure in measures else None


def statistic_value(row: dict[str, Any], statistic: str) -> list[Decimal] | None:
    """Return the number or the two ends of an interval; None for NA."""
    if statistic in _COUNTS.values():
        return [Decimal(row[statistic])]
    measure, _, moment = statistic.rpartition(".")
    measures = {cell_names.dimension(name): moments for name, moments in row["dimensions"].items()}
    moments = row["total"] if measure == "total" else measures[measure]
    if not moment.startswith("ci95"):
        return None if moments[moment] is None else [moments[moment]]
    ends: list[Decimal] | None = moments["ci95"]
    if ends is None or moment == "ci95":
        return ends
    return [ends[moment == "ci95_high"]]
