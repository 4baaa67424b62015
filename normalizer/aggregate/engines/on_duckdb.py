"""The engine DuckDB, for ledgers that fit on the disk of one machine."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import duckdb

from normalizer.aggregate.engines.interface import RecordFiles
from normalizer.aggregate.query import Fields, sql_literal
from normalizer.documents.settings import LIMITS
from normalizer.errors import CannotRun

T = TypeVar("T")
_BATCH = 10_000
# Seconds between two tries to stop a query.
_RETRY = 0.1
_USUAL = 16 << 20
_LONGEST = 3 * LIMITS["max_bundle_bytes"]
"""Longest line of a record, which buffers must hold. Escapes make a line up to three times as long as its bundle."""


class DuckDB:
    """A database in memory that spills to a scratch folder when it reaches its limit."""

    def __init__(self, scratch: Path, memory: str) -> None:
        config: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": str(scratch),
            "preserve_insertion_order": "false",
        }
        try:
            self._database = duckdb.connect(config=config)
        except duckdb.Error:
            raise CannotRun(f"{memory} is no amount of memory: write one such as 1200MB") from None
        self._view: tuple[list[RecordFiles], Fields] = ([], Fields((), ()))
        self._widened = False
        self._scratch = scratch

    def lines(self, files: list[RecordFiles], fields: Fields) -> None:
        """Make the view `lines`."""
        self._view = (files, fields)
        for number, file in enumerate(files):
            # DuckDB reads a path as a glob, so use a link with a plain name to the folder.
            link = self._link(number)
            link.unlink(missing_ok=True)
            link.symlink_to(file.paths[0].parent.absolute())
            self._database.execute(f"CREATE OR REPLACE TEMP TABLE skip{number} (sha VARCHAR)")
            if file.skip:
                self._database.executemany(f"INSERT INTO skip{number} VALUES (?)", [[sha] for sha in sorted(file.skip)])
        self._make_view(_USUAL)

    def _link(self, number: int) -> Path:
        return self._scratch / f"lines{number}"

    def _make_view(self, longest: int) -> None:
        files, fields = self._view
        members = dict.fromkeys(fields.members, "VARCHAR")
        members["scores"] = _members(fields.dimensions)
        members["factors"] = "MAP(VARCHAR, VARCHAR)"
        members["source"] = 'STRUCT("bundle_sha256" VARCHAR, "line" VARCHAR)'
        columns = ", ".join(f"{name}: {sql_literal(kind)}" for name, kind in members.items())
        taken = [*fields.members]
        taken += [f"scores[{sql_literal(name)}] AS d{number}" for number, name in enumerate(fields.dimensions)]
        taken += [f"factors[{sql_literal(name)}] AS f{number}" for number, name in enumerate(fields.factors)]
        factors = "CAST(to_json(list_sort(map_entries(factors))) AS VARCHAR)"
        taken += [f"CASE WHEN artifact = file AND source.line IS NULL THEN {factors} END AS named_factors"]
        parts = []
        for number, file in enumerate(files):
            condition = f" WHERE source.bundle_sha256 NOT IN (SELECT sha FROM skip{number})" if file.skip else ""
            paths = ", ".join(sql_literal(str(self._link(number) / path.name)) for path in file.paths)
            parts.append(
                f"SELECT {', '.join(taken)} FROM read_json([{paths}], format='newline_delimited', "
                f"columns={{{columns}}}, maximum_object_size={longest}){condition}"
            )
        self._database.execute(f"CREATE OR REPLACE VIEW lines AS {' UNION ALL '.join(parts)}")

    def table(self, name: str, text: str) -> None:
        """Store the result of a query as a table."""
        self._run(f"CREATE OR REPLACE TEMP TABLE {name} AS {text}")

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query."""
        cursor = self._run(text)
        while batch := self._interruptible(lambda: cursor.fetchmany(_BATCH)):
            yield from batch

    def _run(self, text: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._interruptible(lambda: self._database.execute(text))
        except duckdb.OutOfMemoryException as error:
            message = str(error).splitlines()[0]
            raise CannotRun(f"memory is short: give more with --memory, or use --engine spark ({message})") from None
        except duckdb.OutOfRangeException:
            raise CannotRun("the scale is too wide and too fine for exact sums of squares: use a coarser one") from None
        except duckdb.Error as error:
            message = str(error).splitlines()[0]
            if "maximum_object_size" in str(error) and not self._widened:
                self._widened = True
                self._make_view(_LONGEST)
                return self._run(text)
            raise CannotRun(
                f"a record cannot be read: was the ledger edited? See `normalizer audit` ({message})"
            ) from None

    def _interruptible(self, query: Callable[[], T]) -> T:
        """Run a query in another thread and wait for it, so that Ctrl-C stops it.

        In the main thread DuckDB may not look for signals as long as its own threads do all the work.
        """
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(query())
            except BaseException as error:
                done.set_exception(error)

        thread = Thread(target=run)
        thread.start()
        try:
            return done.result()
        except KeyboardInterrupt:
            while thread.is_alive():  # an interrupt before the query has begun has no effect
                self._database.interrupt()
                thread.join(_RETRY)
            raise
        finally:
            thread.join()


def _members(names: tuple[str, ...]) -> str:
    """Return the SQL type of an object with these members. Unlike a map's keys, its names ignore case."""
    if len({name.lower() for name in names}) < len(names) or any(not name or "\0" in name for name in names):
        return "MAP(VARCHAR, VARCHAR)"
    listed = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in names)
    return f"STRUCT({listed})"
