"""Flat rows as an Arrow table, and as Parquet and CSV files."""

import csv
import io
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from contract_spec.extras import install_command

from normalizer.documents.protocol import version
from normalizer.errors import CannotRun
from normalizer.export.flat import Flat, Piece, cell

if TYPE_CHECKING:
    import pyarrow

_INTEGERS = ("index", "phase", "repeat")
_GROUP = 20_000
"""Rows that are together in a Parquet file, and in memory."""


def table(flat: Flat) -> "pyarrow.Table":
    """An Arrow table: numbers as doubles, `index`, `phase` and `repeat` as integers, the rest as text or booleans."""
    return _arrow().concat_tables([_schema(flat).empty_table(), *_tables(flat)])


def write_parquet(flat: Flat, path: Path) -> int:
    """Write a Parquet file, some rows at a time; returns the number of rows."""
    pa = _arrow()
    import pyarrow.parquet as pq

    schema = _schema(flat)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        held = schema.empty_table()
        for each in _tables(flat):
            held = pa.concat_tables([held, each])
            while held.num_rows >= _GROUP:
                writer.write_table(held.slice(0, _GROUP))
                held = held.slice(_GROUP)
        if held.num_rows or not flat.size:
            writer.write_table(held)
    return flat.size


def write_csv(flat: Flat, out: TextIO) -> int:
    """Write CSV with a header line; an absent value is an empty cell. Returns the number of rows."""
    csv.writer(out, lineterminator="\n").writerow(flat.columns)
    out.writelines(text.decode() for text in flat.run(partial(_format_csv, flat.columns), flat.pieces))
    return flat.size


def _format_csv(columns: dict[str, str], piece: Piece) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in piece.rows():
        writer.writerow([_text(cell(row.get(name), kind)) for name, kind in columns.items()])
    return out.getvalue().encode()


def _tables(flat: Flat) -> "Iterator[pyarrow.Table]":
    """Yield the rows of each piece."""
    pa = _arrow()
    schema = _schema(flat)
    for data in flat.run(partial(_encode_table, flat.columns), flat.pieces):
        yield pa.ipc.open_stream(data).read_all().cast(schema)


def _encode_table(columns: dict[str, str], piece: Piece) -> bytes:
    """Return the rows of a piece as a stream of Arrow."""
    pa = _arrow()
    rows = list(piece.rows())
    arrays = {}
    for name, kind in columns.items():
        values = [cell(row.get(name), kind) for row in rows]
        if _is_whole(name, kind):
            values = [None if value is None else int(str(value).partition(".")[0]) for value in values]
        arrays[name] = pa.array(values, type=_type(name, kind))
    found = pa.table(arrays)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema) as writer:
        writer.write_table(found)
    return bytes(sink.getvalue())


def _schema(flat: Flat) -> "pyarrow.Schema":
    fields = [(name, _type(name, kind)) for name, kind in flat.columns.items()]
    about = json.dumps({"protocol_version": version(), "rows": flat.size})
    return _arrow().schema(fields, metadata={"normalizer": about})


def _type(name: str, kind: str) -> "pyarrow.DataType":
    pa = _arrow()
    if _is_whole(name, kind):
        return pa.int64()
    return {"number": pa.float64(), "boolean": pa.bool_(), "text": pa.string()}[kind]


def _is_whole(name: str, kind: str) -> bool:
    return name in _INTEGERS and kind == "number"


def _arrow() -> Any:
    """Return pyarrow, which is an extra."""
    try:
        import pyarrow
    except ImportError:
        raise CannotRun(f"this needs pyarrow: {install_command('export')}") from None
    return pyarrow


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
