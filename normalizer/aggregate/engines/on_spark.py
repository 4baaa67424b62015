"""The engine Spark, for ledgers that do not fit on one machine. It runs the same SQL as DuckDB."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from normalizer.aggregate.engines.interface import RecordFiles
from normalizer.aggregate.query import Fields, sql_literal
from normalizer.batch.spark import session
from normalizer.errors import CannotRun

_LITTLE = 64 << 20
"""Fewer bytes of records are read faster than Java warms up."""


class Spark:
    """A Spark session on the master that the environment names, or else on this machine."""

    def __init__(self, work: int) -> None:
        self._session = session(quick=work < _LITTLE)
        self._kept: dict[str, DataFrame] = {}

    def lines(self, files: list[RecordFiles], fields: Fields) -> None:
        """Make the view `lines`."""
        members = [f"{name} STRING" for name in fields.members]
        members += [
            "source STRUCT<bundle_sha256: STRING, line: STRING>",
            "scores MAP<STRING, STRING>",
            "factors MAP<STRING, STRING>",
        ]
        taken = [f"r.{name}" for name in fields.members]
        taken += [f"r.scores[{sql_literal(name)}] AS d{number}" for number, name in enumerate(fields.dimensions)]
        taken += [f"r.factors[{sql_literal(name)}] AS f{number}" for number, name in enumerate(fields.factors)]
        factors = "to_json(array_sort(map_entries(r.factors)))"
        taken += [f"CASE WHEN r.artifact = r.file AND r.source.line IS NULL THEN {factors} END AS named_factors"]
        parts = []
        for number, file in enumerate(files):
            self._session.read.text(list(map(_path, file.paths)), lineSep="\n").createOrReplaceTempView(f"text{number}")
            condition = ""
            if file.skip:
                skipped = self._session.createDataFrame([(sha,) for sha in sorted(file.skip)], "sha STRING")
                skipped.createOrReplaceTempView(f"skip{number}")
                condition = f" WHERE r.source.bundle_sha256 NOT IN (SELECT sha FROM skip{number})"
            schema = sql_literal(", ".join(members))
            inner = f"SELECT from_json(value, {schema}, map('mode', 'FAILFAST')) AS r FROM text{number}"
            parts.append(f"SELECT {', '.join(taken)} FROM ({inner}) AS l{condition}")
        self._run(" UNION ALL ".join(parts)).createOrReplaceTempView("lines")

    def table(self, name: str, text: str) -> None:
        """Store the result of a query as a table."""
        frame = self._run(text).cache()
        if name in self._kept:
            self._kept[name].unpersist()
        self._kept[name] = frame
        frame.createOrReplaceTempView(name)

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query."""
        try:
            yield from map(tuple, self._run(text).toLocalIterator())
        except PySparkException as error:
            raise _unreadable(error) from None

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
