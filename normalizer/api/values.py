"""Rows of Python as JSON lines: dictionaries, Arrow tables, and data frames of pandas and polars."""

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from normalizer.documents.lossless import Number, dumps
from normalizer.errors import CannotRun


def json_lines(rows: Any) -> Iterator[bytes]:
    """Yield a line for each row. Raises CannotRun for what is no rows, and for values that JSON does not have."""
    for number, row in enumerate(_rows(rows)):
        if not isinstance(row, Mapping):
            raise CannotRun(f"row {number} is {type(row).__name__}, and a row is a dictionary")
        yield dumps(
            {_name(key, number): _value(value, f"{key} of row {number}") for key, value in row.items()}
        ).encode()


def _rows(rows: Any) -> Iterable[Any]:
    kind = type(rows).__module__.partition(".")[0]
    if kind == "polars":
        rows = (rows.collect() if hasattr(rows, "collect") else rows).to_arrow()
    elif kind == "pandas":
        import pyarrow  # pandas gives missing cells as NaN, and Arrow as what they are

        rows = pyarrow.Table.from_pandas(rows, preserve_index=False)
    if hasattr(rows, "to_batches"):
        return (row for batch in rows.to_batches() for row in batch.to_pylist())
    if hasattr(rows, "to_pylist"):  # one batch of Arrow
        rows = rows.to_pylist()
    if isinstance(rows, Iterable) and not isinstance(rows, (str, bytes, Mapping)):
        return rows
    raise CannotRun(f"{type(rows).__name__} has no rows: give files, a list of dictionaries, or a table")


def _name(key: Any, number: int) -> str:
    if not isinstance(key, str):
        raise CannotRun(f"row {number} has the key {key!r}, and the keys of a row are texts")
    return key


def _value(value: Any, where: str) -> Any:
    """Return a value that `dumps` writes: numbers as Python spells them."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return Number(json.dumps(value))
    if isinstance(value, Decimal):
        return Number(f"{value:f}")
    if isinstance(value, Mapping):
        return {str(key): _value(inner, where) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(inner, where) for inner in value]
    if hasattr(value, "item"):  # a scalar of numpy
        return _value(value.item(), where)
    raise CannotRun(f"{where} is {type(value).__name__}, which JSON does not have: make text or a number of it")
