"""Flat rows as an Arrow table, and as Parquet and CSV files."""

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from contract_spec.extras import install_command

from normalizer.documents.protocol import version
from normalizer.errors import CannotRun
from normalizer.export.flat import Flat, cell

if TYPE_CHECKING:
    import pyarrow

_INTEGERS = ("index", "phase", "repeat")


def table(flat: Flat) -> "pyarrow.Table":
    """An Arrow table: numbers as doubles, `index`, `phase` and `repeat` as integers, the rest as text or booleans."""
    try:
        import pyarrow as pa
    except ImportError:
        raise CannotRun(f"this needs pyarrow: {install_command('export')}") from None
    types = {"number": pa.float64(), "boolean": pa.bool_(), "text": pa.string()}
    columns: dict[str, list[object]] = {name: [] for name in flat.columns}
    for row in flat.rows():
        for name, kind in flat.columns.items():
            columns[name].append(cell(row.get(name), kind))
    arrays = {}
    for name, kind in flat.columns.items():
        whole = name in _INTEGERS and kind == "number"
        values = (
            [None if value is None else int(str(value).partition(".")[0]) for value in columns[name]]
            if whole
            else columns[name]
        )
        arrays[name] = pa.array(values, type=pa.int64() if whole else types[kind])
    about = json.dumps({"protocol_version": version(), "rows": len(next(iter(arrays.values()), []))})
    return pa.table(arrays).replace_schema_metadata({"normalizer": about})


def write_parquet(flat: Flat, path: Path) -> int:
    """Write a Parquet file; returns the number of rows."""
    found = table(flat)
    import pyarrow.parquet as pq

    pq.write_table(found, path, compression="zstd")
    return int(found.num_rows)


def write_csv(flat: Flat, out: TextIO) -> int:
    """Write CSV with a header line; an absent value is an empty cell. Returns the number of rows."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(flat.columns)
    count = 0
    for row in flat.rows():
        writer.writerow([_text(cell(row.get(name), kind)) for name, kind in flat.columns.items()])
        count += 1
    return count


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
