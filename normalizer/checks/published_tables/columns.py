"""Map a table's columns to statistics."""

from decimal import Decimal

from normalizer.aggregate.cell_names import MOMENTS
from normalizer.checks.published_tables.figures import Figures, GroupFigures

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


def statistic_of(column: str, known: Figures) -> str | None:
    """Return the statistic that a column's name means, or None."""
    name = bare(column)
    if name in known.measures:
        return f"{name}.mean"
    if name in known.counts:
        return name
    if name in known.aliases:
        return known.aliases[name]
    measure, _, moment = name.rpartition(".")
    return name if moment in MOMENTS and measure in known.measures else None


def statistic_value(row: GroupFigures, statistic: str) -> list[Decimal] | None:
    """Return the number or the two ends of an interval; None for NA."""
    if statistic in row.counts:
        return [Decimal(row.counts[statistic])]
    measure, _, moment = statistic.rpartition(".")
    moments = row.measures[measure]
    if not moment.startswith("ci95"):
        return None if moments[moment] is None else [moments[moment]]
    ends: list[Decimal] | None = moments["ci95"]
    if ends is None or moment == "ci95":
        return ends
    return [ends[moment == "ci95_high"]]
