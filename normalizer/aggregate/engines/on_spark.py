"""The engine Spark, for ledgers that do not fit on one machine. It runs the same SQL as DuckDB."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from normalizer.aggregate.engines.interface import RecordFiles
from normalizer.aggregate.parsed_lines import Fields, sql_literal
from normalizer.batch.spark import session
from normalizer.errors import CannotRun

if TYPE_CHECKING:
    from normalizer.aggregate.engines.interface import Numbers

_LITTLE = 64 << 20
"""Fewer bytes of records are read faster than Java warms up."""
_BATCH = 10_000


class Spark:
    """A Spark session on the master that the environment names, or else on this machine."""

    def __init__(self, work: int) -> None:
        self._session = session(quick=work < _LITTLE)
        self._names = count(1)
        self._calls: list[list[tuple[str, DataFrame | None]]] = []
        self.parsed: dict[Any, str] = {}

    def parse(self, files: list[RecordFiles], fields: Fields, select: Callable[[str], str]) -> str:
        """Read lines once and store what a query makes of them; `select` returns it, given what to read from."""
        members = [f"{name} STRING" for name in fields.members]
        members += ["scores MAP<STRING, STRING>", "factors MAP<STRING, STRING>"]
        members += [
            f"{name} STRUCT<{', '.join(f'{each}: STRING' for each in inner)}>" for name, inner in fields.nested.items()
        ]
        taken = [*(f"r.{name}" for name in fields.members), "r.factors"]
        taken += [f"r.scores[{sql_literal(name)}] AS d{number}" for number, name in enumerate(fields.dimensions)]
        taken += [f"r.{name}.{each} AS {name}_{each}" for name, inner in fields.objects for each in inner]
        coded = "xxhash64(to_json(array_sort(map_entries(r.factors))))"
        named = "r.artifact = r.file AND r.source.line IS NULL AND r.factors IS NOT NULL"
        taken += [f"CASE WHEN {named} THEN {coded} END AS named"]
        schema = sql_literal(", ".join(members))
        parts = []
        for file in files:
            text = self._name("text", self._session.read.text(list(map(_path, file.paths)), lineSep="\n"))
            condition = ""
            if file.skip:
                skipped = self._session.createDataFrame([(sha,) for sha in sorted(file.skip)], "sha STRING")
                condition = f" WHERE r.source.bundle_sha256 NOT IN (SELECT sha FROM {self._name('skip', skipped)})"
            inner = f"SELECT from_json(value, {schema}, map('mode', 'FAILFAST')) AS r FROM {text}"
            parts.append(f"SELECT {', '.join(taken)} FROM ({inner}) AS l{condition}")
        return self.table("parsed", select(f"({' UNION ALL '.join(parts)}) AS lines"))

    @contextmanager
    def call(self) -> Iterator[None]:
        """Drop the tables that are made in the block at its end."""
        self._calls.append([])
        try:
            yield
        finally:
            for name, cached in reversed(self._calls.pop()):
                self._session.catalog.dropTempView(name)
                if cached is not None:
                    cached.unpersist()

    def table(self, name: str, text: str) -> str:
        """Store the result of a query as a table; returns its name, which begins so."""
        frame = self._run(text).cache()
        return self._name(name, frame, cached=frame)

    def view(self, name: str, text: str) -> str:
        """Give a query a name, which begins so and is returned. It runs each time it is read."""
        return self._name(name, self._run(text))

    def _name(self, name: str, frame: DataFrame, cached: DataFrame | None = None) -> str:
        own = f"{name}_{next(self._names)}"
        frame.createOrReplaceTempView(own)
        if self._calls:
            self._calls[-1].append((own, cached))
        return own

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query."""
        try:
            yield from map(tuple, self._run(text).toLocalIterator())
        except PySparkException as error:
            raise _unreadable(error) from None

    def columns(self, text: str) -> "list[Numbers]":
        """Return the columns of a query as arrays. None of its values may be null."""
        import numpy as np

        rows, width = self.rows(text), len(self._run(text).columns)
        parts = [np.zeros((0, width))]
        while batch := list(islice(rows, _BATCH)):
            parts.append(np.array(batch, dtype=float))
        return list(np.concatenate(parts).T)

    def _run(self, text: str) -> DataFrame:
        try:
            return self._session.sql(text)
        except PySparkException as error:
            raise _unreadable(error) from None


def _path(path: Path) -> str:
    """Return the path of a file, which all executors must see, escaped so that it is no glob."""
    return "file://" + re.sub(r"([\\*?{}\[\],])", r"\\\1", str(path.absolute()))


def _unreadable(error: PySparkException) -> CannotRun:
    message = str(error).strip().splitlines()[0]
    return CannotRun(f"Spark could not do it: was the ledger edited? See `normalizer audit` ({message})")
