"""Map a table's columns to statistics, and read the numbers in a cell."""

import re
from decimal import Decimal
from typing import Any, NamedTuple

from normalizer.aggregate import cell_names
from normalizer.aggregate.cell_names import MOMENTS

_COUNTS = {"n": "n", "n_records": "n_records", "records": "n_records", "n_judges": "n_judges", "judges": "n_judges"}
_COUNTS |= {"at_min": "at_min", "at min": "at_min", "at_max": "at_max", "at max": "at_max"}
_PLAIN = {"95 % interval": "total.ci95", "ci95": "total.ci95", "mean": "total.mean"}
_PLAIN |= {name: f"total.{name}" for name in ("sd", "min", "max", "ci95_low", "ci95_high")}
PASSED_OVER = ("row", "flags")
"""Columns of our own tables that hold no number."""


def statistic_of(column: str, dimensions: list[str]) -> str | None:
    """Return the statistic that a column's name means, or None."""
    name = column.strip()
    measures = ["total", *map(cell_names.dimension, dimensions)]
    if name in measures:
        return f"{name}.mean"
    if name in _COUNTS:
        return _COUNTS[name]
    if name in _PLAIN:
        return _PLAIN[name]
    measure, _, moment = name.rpartition(".")
    return name if moment in MOMENTS and measure in measures else None


def value_of(row: dict[str, Any], statistic: str) -> list[Decimal] | None:
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


_PLUS_MINUS = re.compile(r"\s*(?:\xb1|\+/-|\+-)\s*")
_IN_BRACKETS = re.compile(r"(.*?\S)\s*[\[(]\s*([^\[\]()]*?)\s*[\])]")
_TWO = re.compile(r"[\[(]?\s*(\S+?)\s*(?:to|,\s|;|\u2013)\s*(\S+?)\s*[\])]?")
_BARE_TWO = re.compile(r"[\[(]?\s*([-+\u2212]?[0-9.]+)\s*,\s*([-+\u2212]?[0-9.]+)\s*[\])]?")
_PLAIN_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:([,' \u00a0\u2009\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")


class Reading(NamedTuple):
    """One way to read a cell: its number or the two ends, and what stands behind \xb1 or in brackets."""

    numbers: list[Decimal]
    spread: list[Decimal] | None = None
    """One number (a deviation, an error or half an interval), or the two ends of an interval."""


def readings(cell: str, count: int, *, decimal_comma: bool) -> list[Reading]:
    """Return all ways to read a cell that states `count` numbers; empty if it states something else."""
    text = cell.strip().strip("$").strip()
    found = [Reading(numbers) for numbers in _several(text, count, decimal_comma)]
    if count == 1:
        parts = _PLUS_MINUS.split(text)
        bracketed = _IN_BRACKETS.fullmatch(text)
        if len(parts) == 2:
            found += _with_spread(parts[0], parts[1], decimal_comma)
        elif bracketed:
            found += _with_spread(bracketed[1], bracketed[2], decimal_comma)
    return found


def _with_spread(mean: str, spread: str, decimal_comma: bool) -> list[Reading]:
    sides = [*_several(spread, 1, decimal_comma), *_several(spread, 2, decimal_comma)]
    return [Reading(one, other) for one in _several(mean, 1, decimal_comma) for other in sides]


def _several(text: str, count: int, decimal_comma: bool) -> list[list[Decimal]]:
    if count == 1:
        return [[number] for number in _numbers(text, decimal_comma)]
    found = _TWO.fullmatch(text) or _BARE_TWO.fullmatch(text)
    if found is None:
        return []
    low, high = (_numbers(end, decimal_comma) for end in found.groups())
    return [[one, other] for one in low for other in high]


def _numbers(text: str, decimal_comma: bool) -> list[Decimal]:
    """Return the numbers that a text may mean: `1,234` is 1234, and 1.234 if cells are not separated by commas."""
    text = text.strip().replace("\u2212", "-")
    share = text.endswith("%")
    text = text.removesuffix("%").rstrip()
    found = []
    if _PLAIN_NUMBER.fullmatch(text):
        found.append(Decimal(text))
    if _THOUSANDS.fullmatch(text):
        found.append(Decimal(re.sub(r"[,' \u00a0\u2009\u202f]", "", text)))
    if decimal_comma and _DECIMAL_COMMA.fullmatch(text):
        found.append(Decimal(text.replace(",", ".")))
    return [number.scaleb(-2) for number in found] if share else found
