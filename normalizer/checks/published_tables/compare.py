"""Compare a published table with ledgers, cell by cell. Makes `check_report.json`."""

from collections import Counter
from decimal import ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.keys import MOMENTS
from normalizer.aggregate.summary import Options
from normalizer.checks.published_tables.cells import Reading, readings
from normalizer.checks.published_tables.figures import ALL_PAIRS, Figures, GroupFigures, Pairing, figures
from normalizer.checks.published_tables.reading import Published, read
from normalizer.errors import CannotRun

VERDICTS = ("match", "rounding_tie", "mismatch", "not_derivable")
_SHOWN = 12
_WIDE = Context(prec=120, rounding=ROUND_HALF_EVEN)
_CALLED = {"interval": "95 % CI", "sd": "SD", "se": "SE"}
"""The kinds of spread, as cells name them."""
_NA = ("NA", "N/A", "n/a", "\u2013", "\u2014", "-")


def check(
    table: Path, folders: tuple[Path, ...], options: Options, named: dict[str, str], pairing: Pairing = ALL_PAIRS
) -> dict[str, Any]:
    """Compare a table with the ledgers and return the report. `named` maps columns to statistics."""
    named = {name.strip(): statistic for name, statistic in named.items()}
    keyed = {statistic: name for name, statistic in named.items() if statistic in options.by}
    named = {name: statistic for name, statistic in named.items() if statistic not in options.by}
    tables = read(table)
    checked = [one for one in tables if not _absent(one, options.by, keyed)]
    if not checked:
        absent = _absent(tables[0], options.by, keyed)[0]
        several = f"; neither has any other of its {len(tables)} tables" if len(tables) > 1 else ""
        raise CannotRun(
            f"{table.name} has no column {absent}: its columns are {', '.join(tables[0].columns)}{several}; name its "
            f"keys with --by, or a renamed one with --column 'NAME={absent}'"
        )
    columns = list(dict.fromkeys(column for one in checked for column in one.columns))
    for name in named:
        if column_called(name, columns) is None:
            raise CannotRun(
                f"{table.name} has no column {name}, which --column names: its columns are {', '.join(columns)}"
            )
    known = figures(folders, options, pairing)
    groups = {tuple(map(_text, row.key.values())): row for row in known.rows}
    for name, statistic in named.items():
        if statistic_of(statistic, known) != statistic:
            example = "total.mean, total.sd, DIMENSION.mean" if "total" in known.measures else "rate.mean, score.mean"
            raise CannotRun(f"--column {name}={statistic}: write {known.counts[0]}, {example} and the like")
    cells: list[dict[str, Any]] = []
    seen: set[tuple[str | None, ...]] = set()
    for one in checked:
        stated = {column_called(name, one.columns): statistic for name, statistic in named.items()}
        meanings = {name: stated.get(name) or statistic_of(name, known) for name in one.columns}
        places = [str(column_called(keyed.get(name, name), one.columns)) for name in options.by]
        for line, row in one.rows():
            if row.get("row") == "left_out":
                cells.append(_check_left_out(line, row, known))
                continue
            levels = tuple(keys.parse_level(row[place]) for place in places)
            seen.add(levels)
            group = groups.get(levels)
            key = group.key if group else dict(zip(options.by, levels, strict=True))
            for column in one.columns:
                if column not in (*places, *PASSED_OVER):
                    verdict = _compare_cell(row[column], meanings[column], group, decimal_comma=one.decimal_comma)
                    cells.append({"line": line, "column": column, "key": key, "statistic": meanings[column], **verdict})
    if cells and all(cell["statistic"] is None for cell in cells):
        raise CannotRun(
            f"no column of {table.name} is known for a statistic, so that nothing was compared: its columns are "
            f"{', '.join(columns)}; name them with --column 'NAME=total.mean' and the like"
        )
    counts = Counter(cell["verdict"] for cell in cells)
    return {
        "by": list(options.by),
        "unit": options.unit,
        "counts": {verdict: counts[verdict] for verdict in VERDICTS},
        "cells": cells,
        "missing_rows": [row.key for levels, row in groups.items() if levels not in seen],
        "other_tables": [{"line": one.line, "columns": one.columns} for one in tables if one not in checked],
        "diagnostic": known.diagnostic,
    }


def _absent(table: Published, by: tuple[str, ...], keyed: dict[str, str]) -> list[str]:
    """Return the keys of which a table has no column."""
    return [name for name in by if column_called(keyed.get(name, name), table.columns) is None]


def follows(report: dict[str, Any]) -> bool:
    """Whether all cells with a statistic follow from the ledger. A number for a group without one does not."""
    return all(cell["verdict"] in ("match", "rounding_tie") or cell["statistic"] is None for cell in report["cells"])


def _text(level: keys.Level) -> str | None:
    return None if level is None else str(level)


def _compare_cell(
    cell: str, statistic: str | None, group: GroupFigures | None, *, decimal_comma: bool
) -> dict[str, Any]:
    if statistic is None:
        return _verdict(cell, None, "not_derivable", "the column's name says no statistic: name it with --column")
    if group is None:
        return _verdict(cell, None, "not_derivable", "the ledger has no such group")
    exact = statistic_value(group, statistic)
    if exact is None:
        if cell.strip() in _NA:
            return _verdict(cell, None, "match", None)
        return _verdict(cell, None, "not_derivable", f"NA in the ledger: {' '.join(group.flags) or 'no interval'}")
    shown = " to ".join(map(_format_exact, exact))
    if cell.strip() in _NA:
        return _verdict(cell, shown, "mismatch", None)
    found = readings(cell, len(exact), decimal_comma=decimal_comma)
    if not found:
        what = "a number" if len(exact) == 1 else "two numbers, such as 5.1 to 6.3"
        return _verdict(cell, shown, "not_derivable", f"the cell is not {what}")
    verdicts = [_compare_reading(reading, exact, statistic, group) for reading in found]
    verdict, why = min(verdicts, key=lambda each: VERDICTS.index(each[0]))
    return _verdict(cell, shown, verdict, why)


def _compare_reading(
    reading: Reading, exact: list[Decimal], statistic: str, group: GroupFigures
) -> tuple[str, str | None]:
    """Return the verdict on one reading of a cell, with the rounding that explains it or the kind of its spread."""
    moment = statistic.rpartition(".")[2]
    if reading.spread is None and reading.kind not in (None, "interval" if moment.startswith("ci95") else moment):
        return "not_derivable", f"the cell says {_CALLED[reading.kind]}, and the column is {statistic}"
    each = [_compare(*pair) for pair in zip(reading.numbers, exact, strict=True)]
    verdict = max(each, key=VERDICTS.index)
    if verdict == "mismatch":
        return (
            verdict,
            f"rounded as the cell is, it is {_all_as_written(reading.numbers, exact, percent=reading.percent)}",
        )
    if reading.spread is None:
        return verdict, None
    return max((verdict, None), _compare_spread(reading, reading.spread, statistic, group), key=_by_verdict)


def _by_verdict(each: tuple[str, str | None]) -> tuple[int, bool]:
    return VERDICTS.index(each[0]), each[1] is not None


def _compare_spread(
    reading: Reading, spread: list[Decimal], statistic: str, group: GroupFigures
) -> tuple[str, str | None]:
    """Return which spread the number is: half the interval, the standard deviation or the standard error. A cell that
    names its kind is compared with that one only."""
    kind, percent = reading.kind, reading.percent
    measure, _, moment = statistic.rpartition(".")
    if moment != "mean":
        return "not_derivable", "only a mean has a spread"
    ends, deviation = statistic_value(group, f"{measure}.ci95"), statistic_value(group, f"{measure}.sd")
    if len(spread) == 2:
        if kind not in (None, "interval"):
            return "not_derivable", f"the cell says {_CALLED[kind]}, which is one number"
        if ends is None:
            return "not_derivable", "the ledger gives no interval"
        each = [_compare(*pair) for pair in zip(spread, ends, strict=True)]
        worst = max(each, key=VERDICTS.index)
        return (
            worst,
            "the brackets hold the 95 % interval"
            if worst != "mismatch"
            else f"it is {_all_as_written(spread, ends, percent=percent)}",
        )
    known: dict[str, Decimal] = {}
    if ends is not None and kind in (None, "interval"):
        known["half of the 95 % interval"] = _WIDE.divide(_WIDE.subtract(ends[1], ends[0]), Decimal(2))
    if deviation is not None and kind in (None, "sd"):
        known["the standard deviation"] = deviation[0]
    if deviation is not None and kind in (None, "se"):
        known["the standard error"] = _WIDE.divide(deviation[0], _WIDE.sqrt(Decimal(group.counts["n"])))
    for name, value in known.items():
        verdict = _compare(spread[0], value)
        if verdict != "mismatch":
            return verdict, f"the spread is {name}"
    told = ", ".join(f"{name} is {_all_as_written(spread, [value], percent=percent)}" for name, value in known.items())
    return ("mismatch", told) if known else ("not_derivable", "the ledger gives no spread")


def _all_as_written(published: list[Decimal], exact: list[Decimal], *, percent: bool) -> str:
    """Return the exact values with as many places as the published ones, in percent if those are."""
    if not percent:
        return " to ".join(_as_written(*pair) for pair in zip(published, exact, strict=True))
    pairs = (
        (number.scaleb(2), _WIDE.multiply(value, Decimal(100))) for number, value in zip(published, exact, strict=True)
    )
    return " to ".join(_as_written(*pair) for pair in pairs) + " %"


def _as_written(published: Decimal, exact: Decimal) -> str:
    """Return the exact value with as many places as the published one."""
    exponent = published.as_tuple().exponent
    return f"{_WIDE.quantize(exact, Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)):f}"


def _compare(published: Decimal, exact: Decimal) -> str:
    """Compare a number with the exact one, rounded to as many places as it is written with."""
    exponent = published.as_tuple().exponent
    half = Decimal(5).scaleb((exponent if isinstance(exponent, int) else 0) - 1)
    off = abs(_WIDE.subtract(published, exact))
    return "match" if off < half else "rounding_tie" if off == half else "mismatch"


def _check_left_out(line: int, row: dict[str, str], known: Figures) -> dict[str, Any]:
    """Return the verdict on a row of our own CSV tables that counts records in no group."""
    reason, count = row.get("flags", ""), row.get("n_records", "")
    found = known.left_out.get(reason)
    verdict = "not_derivable" if found is None else "match" if count.strip() == str(found) else "mismatch"
    said = _verdict(count, None if found is None else str(found), verdict, None if found is not None else "no reason")
    return {"line": line, "column": "n_records", "key": {}, "statistic": f"left_out.{reason}", **said}


def _verdict(published: str, exact: str | None, verdict: str, why: str | None) -> dict[str, Any]:
    return {"published": published, "exact": exact, "verdict": verdict, "why": why}


def _format_exact(value: Decimal) -> str:
    text = f"{_WIDE.quantize(value, Decimal(1).scaleb(-_SHOWN)):f}"
    return text.rstrip("0").rstrip(".")


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
