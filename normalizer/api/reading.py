"""Normalize files and rows from Python, as `normalizer normalize` does."""

import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from normalizer.api.ledgers import Ledgers
from normalizer.batch.intake import file_globs, sources
from normalizer.batch.run import run
from normalizer.containers import shipped
from normalizer.containers.mapping import Mapping as RowMapping
from normalizer.documents.lossless import Number, dumps
from normalizer.documents.settings import Settings, load
from normalizer.errors import CannotRun
from normalizer.regular_files import document_bytes

Document = str | PathLike[str] | Mapping[str, Any]
"""A rubric, manifest or dialect: a path, or the document itself."""


def read(
    source: Any,
    *,
    dialect: Document | None = None,
    rubric: Document | None = None,
    manifest: Document | None = None,
    stated: Mapping[str, Any] | None = None,
    out: str | PathLike[str] | None = None,
) -> Ledgers:
    """Normalize files or rows; the records are those of the command.

    `source` is a path or a list of paths (files, folders, logs of Inspect), a list of dictionaries, an Arrow table or a
    data frame of pandas or polars. Rows are read as the lines of a JSON lines file. `stated` is what `--set` states.
    Without `out` the ledger is a temporary folder, which is removed when the result is no longer used.
    """
    paths = _paths(source)
    settings = _settings(dialect, rubric, manifest, stated, is_rows=paths is None)
    if paths is not None:
        return normalize_paths(paths, settings, out)
    with tempfile.TemporaryDirectory(prefix="normalizer-") as folder:
        return normalize_paths([str(_write_rows(source, Path(folder, "rows.jsonl")))], settings, out)


def normalize_paths(paths: list[str], settings: Settings, out: str | PathLike[str] | None = None) -> Ledgers:
    """Normalize files and folders into the ledger `out`, or into a temporary one that goes with the result."""
    folder = Path(tempfile.mkdtemp(prefix="normalizer-"))
    try:
        ledger = Path(out) if out is not None else folder / "ledger"
        globs = file_globs(settings.dialect.rows if settings.dialect is not None else None)
        account = run(sources(paths, [ledger], globs), ledger, settings)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    advice = account.advise_dialect() if settings.dialect is None else []
    made = Ledgers((ledger,), (*account.lines(), *advice))
    if out is None:
        weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return made


def _paths(source: Any) -> list[str] | None:
    """Return the paths that are meant; None if the source is rows."""
    if isinstance(source, (str, PathLike)):
        return [str(source)]
    if isinstance(source, (list, tuple)) and source and all(isinstance(one, (str, PathLike)) for one in source):
        return [str(one) for one in source]
    return None


def _write_rows(rows: Any, path: Path) -> Path:
    with path.open("wb") as file:
        file.writelines(line + b"\n" for line in json_lines(rows))
    return path


def _settings(
    dialect: Document | None,
    rubric: Document | None,
    manifest: Document | None,
    stated: Mapping[str, Any] | None,
    *,
    is_rows: bool,
) -> Settings:
    if is_rows and dialect is None:
        raise CannotRun("rows need a dialect, which says what their fields are: `normalizer guess` proposes one")
    document = shipped.read_dialect(str(dialect)) if isinstance(dialect, (str, PathLike)) else _bytes(dialect)
    if is_rows and document is not None:
        document = shipped.in_container(document, "jsonl")
    settings = load(rubric=_bytes(rubric), manifest=_bytes(manifest), dialect=document, stated=_bytes(stated or None))
    if settings.dialect is not None and settings.dialect.rows is not None:
        RowMapping(settings.dialect.rows, settings.joined)  # a dialect that cannot be followed is refused here
    return settings


def _bytes(document: Document | None) -> bytes | None:
    if document is None:
        return None
    if isinstance(document, Mapping):
        [line] = json_lines([document])
        return line
    return document_bytes(Path(document))


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
