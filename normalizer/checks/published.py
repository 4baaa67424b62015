"""Does a published table follow from ledgers? Cell by cell. A document of `check_report.json`."""

import csv
import io
from collections import Counter
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path
from typing import Any

from normalizer.aggregate import cell_names, keys
from normalizer.aggregate.summary import Options, aggregate
from normalizer.checks.columns import PASSED_OVER, numbers_in, statistic_of, value_of
from normalizer.errors import CannotRun

VERDICTS = ("match", "rounding_tie", "mismatch", "not_derivable")
_FINE = 40
"""Places to which the ledger's numbers are known here: fine enough to tell a tie from what is nearly one."""
_SHOWN = 12
_WIDE = Context(prec=120, rounding=ROUND_HALF_EVEN)
_NA = ("NA", "N/A", "n/a", "\u2013", "\u2014", "-")


def check(table: Path, folders: tuple[Path, ...], options: Options, named: dict[str, str]) -> dict[str, Any]:
    """Compare a CSV file with what the ledgers give; `named` tells what columns mean whose names we do not know."""
    columns, rows = _read(table)
    absent = [name for name in options.by if name not in columns]
    if absent:
        raise CannotRun(
            f"{table.name} has no column {absent[0]}: its columns are {', '.join(columns)}; name its keys with --by"
        )
    unknown = [name for name in named if name not in columns]
    if unknown:
        raise CannotRun(f"{table.name} has no column {unknown[0]}, which --column names")
    summary = aggregate(folders, replace(options, places=_FINE))
    groups = {tuple(map(_text, row["key"].values())): row for row in summary["rows"]}
    dimensions = list(summary["rows"][0]["dimensions"]) if summary["rows"] else []
    meanings = {name: named.get(name) or statistic_of(name, dimensions) for name in columns}
    for name, statistic in named.items():
        if statistic_of(statistic, dimensions) != statistic:
            raise CannotRun(f"--column {name}={statistic}: write n, total.mean, total.sd, DIMENSION.mean and the like")
    cells: list[dict[str, Any]] = []
    seen = set()
    for line, row in rows:
        if row.get("row") == "left_out":
            cells.append(_left_out(line, row, summary))
            continue
        levels = tuple(cell_names.level_of(row[name]) for name in options.by)
        seen.add(levels)
        group = groups.get(levels)
        key = group["key"] if group else dict(zip(options.by, levels, strict=True))
        for column in columns:
            if column not in (*options.by, *PASSED_OVER):
                verdict = _judged(row[column], meanings[column], group)
                cells.append({"line": line, "column": column, "key": key, "statistic": meanings[column], **verdict})
    counts = Counter(cell["verdict"] for cell in cells)
    return {
        "by": list(options.by),
        "unit": options.unit,
        "counts": {verdict: counts[verdict] for verdict in VERDICTS},
        "cells": cells,
        "missing_rows": [row["key"] for levels, row in groups.items() if levels not in seen],
        "diagnostic": summary["diagnostic"],
    }


def follows(report: dict[str, Any]) -> bool:
    """Whether all cells follow that state a statistic: a number for a group that the ledger gives none does not."""
    return all(cell["verdict"] in ("match", "rounding_tie") or cell["statistic"] is None for cell in report["cells"])


def _read(table: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    try:
        text = table.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CannotRun(f"cannot read {table}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CannotRun(f"{table} is not UTF-8 text: save it as CSV in UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = [name.strip() for name in next(reader, [])]
        if not columns or len(set(columns)) < len(columns):
            raise CannotRun(f"{table} needs a first line with the names of its columns, each once")
        rows = []
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(columns):
                raise CannotRun(f"{table}, line {reader.line_num}: {len(cells)} cells for {len(columns)} columns")
            rows.append((reader.line_num, dict(zip(columns, cells, strict=True))))
    except csv.Error as error:
        raise CannotRun(f"{table}, line {reader.line_num}: {error}") from None
    return columns, rows


def _text(level: keys.Level) -> str | None:
    return None if level is None else str(level)


def _judged(cell: str, statistic: str | None, group: dict[str, Any] | None) -> dict[str, Any]:
    if statistic is None:
        return _verdict(cell, None, "not_derivable", "the column's name says no statistic: name it with --column")
    if group is None:
        return _verdict(cell, None, "not_derivable", "the ledger has no such group")
    exact = value_of(group, statistic)
    if exact is None:
        if cell.strip() in _NA:
            return _verdict(cell, None, "match", None)
        return _verdict(cell, None, "not_derivable", f"NA in the ledger: {' '.join(group['flags']) or 'no interval'}")
    shown = " to ".join(map(_shown, exact))
    if cell.strip() in _NA:
        return _verdict(cell, shown, "mismatch", None)
    published = numbers_in(cell, len(exact))
    if published is None:
        what = "a number" if len(exact) == 1 else "two numbers, such as 5.1 to 6.3"
        return _verdict(cell, shown, "not_derivable", f"the cell is not {what}")
    each = [_compared(*pair) for pair in zip(published, exact, strict=True)]
    return _verdict(cell, shown, max(each, key=VERDICTS.index), None)


def _compared(published: Decimal, exact: Decimal) -> str:
    """Whether a number is the exact one rounded to as many places as it is written with."""
    exponent = published.as_tuple().exponent
    half = Decimal(5).scaleb((exponent if isinstance(exponent, int) else 0) - 1)
    off = abs(_WIDE.subtract(published, exact))
    return "match" if off < half else "rounding_tie" if off == half else "mismatch"


def _left_out(line: int, row: dict[str, str], summary: dict[str, Any]) -> dict[str, Any]:
    """A row of our own CSV tables that counts what is in no group."""
    reason, count = row.get("flags", ""), row.get("n_records", "")
    known = summary["left_out"].get(reason)
    verdict = "not_derivable" if known is None else "match" if count.strip() == str(known) else "mismatch"
    said = _verdict(count, None if known is None else str(known), verdict, None if known is not None else "no reason")
    return {"line": line, "column": "n_records", "key": {}, "statistic": f"left_out.{reason}", **said}


def _verdict(published: str, exact: str | None, verdict: str, why: str | None) -> dict[str, Any]:
    return {"published": published, "exact": exact, "verdict": verdict, "why": why}


def _shown(value: Decimal) -> str:
    text = f"{_WIDE.quantize(value, Decimal(1).scaleb(-_SHOWN)):f}"
    return text.rstrip("0").rstrip(".")
