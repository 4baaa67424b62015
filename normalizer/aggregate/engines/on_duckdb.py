"""The engine DuckDB, for ledgers that fit on the disk of one machine."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from normalizer.aggregate.engines.interface import RecordFiles
from normalizer.aggregate.parsed_lines import Fields, sql_literal
from normalizer.documents.settings import LIMITS
from normalizer.errors import CannotRun

if TYPE_CHECKING:
    from normalizer.aggregate.engines.interface import Numbers

T = TypeVar("T")
_MUCH = 64 << 20
"""More bytes of lines than this are kept in a file, compressed: a million records take 18 MB there, 400 in memory."""
_BATCH = 10_000
# Seconds between two tries to stop a query.
_RETRY = 0.1
_USUAL = 16 << 20
_LONGEST = 3 * LIMITS["max_bundle_bytes"]
"""Longest line of a record, which buffers must hold. Escapes make a line up to three times as long as its bundle."""


class DuckDB:
    """A database that spills to a scratch folder when it reaches its limit of memory.

    Tables are kept in memory if there are few lines, else compressed in a file of the scratch folder.
    """

    def __init__(self, scratch: Path, memory: str, work: int = 0) -> None:
        config: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": str(scratch),
            "preserve_insertion_order": "false",
        }
        try:
            self._database = duckdb.connect(config=config)
        except duckdb.Error:
            raise CannotRun(f"{memory} is no amount of memory: write one such as 1200MB") from None
        place = str(scratch / "parsed.db") if work > _MUCH else ":memory:"
        self._database.execute(f"ATTACH {sql_literal(place)} AS kept")
        self._scratch = scratch
        self._names = count(1)
        self._calls: list[list[str]] = []
        self.parsed: dict[Any, str] = {}

    def parse(self, files: list[RecordFiles], fields: Fields, select: Callable[[str], str]) -> str:
        """Read lines once and store what a query makes of them; `select` returns it, given what to read from."""
        sources = [(self._link_paths(file.paths), self._make_skip_table(file.skip)) for file in files]
        name = f"kept.parsed_{next(self._names)}"
        try:
            self._run(f"CREATE TABLE {name} AS {select(_read(sources, fields, _USUAL))}")
        except _TooLong:
            self._run(f"CREATE TABLE {name} AS {select(_read(sources, fields, _LONGEST))}")
        self._note(f"TABLE {name}")
        return name

    def _link_paths(self, paths: list[Path]) -> list[Path]:
        """Return the paths by way of a link with a plain name to their folder: DuckDB reads a path as a glob."""
        link = self._scratch / f"lines{next(self._names)}"
        link.symlink_to(paths[0].parent.absolute())
        return [link / path.name for path in paths]

    def _make_skip_table(self, bundles: frozenset[str]) -> str | None:
        """Return the name of a table of the bundles to skip, if there are any."""
        if not bundles:
            return None
        name = f"skip_{next(self._names)}"
        self._run(f"CREATE TEMP TABLE {name} (sha VARCHAR)")
        self._database.executemany(f"INSERT INTO {name} VALUES (?)", [[sha256] for sha256 in sorted(bundles)])
        self._note(f"TABLE {name}")
        return name

    @contextmanager
    def call(self) -> Iterator[None]:
        """Drop the tables that are made in the block at its end."""
        self._calls.append([])
        try:
            yield
        finally:
            for made in reversed(self._calls.pop()):
                self._database.execute(f"DROP {made}")

    def _note(self, made: str) -> None:
        if self._calls:
            self._calls[-1].append(made)

    def table(self, name: str, text: str) -> str:
        """Store the result of a query as a table, beside the parsed lines; returns its name, which begins so."""
        own = f"kept.{name}_{next(self._names)}"
        self._run(f"CREATE TABLE {own} AS {text}")
        self._note(f"TABLE {own}")
        return own

    def view(self, name: str, text: str) -> str:
        """Give a query a name, which begins so and is returned. It runs each time it is read."""
        own = f"{name}_{next(self._names)}"
        self._run(f"CREATE TEMP VIEW {own} AS {text}")
        self._note(f"VIEW {own}")
        return own

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query."""
        cursor = self._run(text)
        while batch := self._interruptible(lambda: cursor.fetchmany(_BATCH)):
            yield from batch

    def columns(self, text: str) -> "list[Numbers]":
        """Return the columns of a query as arrays. None of its values may be null."""
        cursor = self._run(text)
        found = self._interruptible(cursor.fetchnumpy)
        return list(found.values())

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
            if "maximum_object_size" in str(error) and f"maximum_object_size={_USUAL}" in text:
                raise _TooLong from None
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


def _read(sources: list[tuple[list[Path], str | None]], fields: Fields, longest: int) -> str:
    """Return SQL that reads lines, each at most that long, as a table with the columns of `Fields`."""
    members = dict.fromkeys(fields.members, "VARCHAR")
    if fields.dimensions or fields.aside:
        members["scores"] = _members((*fields.dimensions, *fields.aside))
    members["factors"] = "MAP(VARCHAR, VARCHAR)"
    members |= {name: _members(inner) for name, inner in fields.nested.items()}
    columns = ", ".join(f"{name}: {sql_literal(kind)}" for name, kind in members.items())
    taken = [*fields.members, "factors"]
    taken += [f"scores[{sql_literal(name)}] AS d{number}" for number, name in enumerate(fields.dimensions)]
    taken += [f'{name}."{each}" AS {name}_{each}' for name, inner in fields.objects for each in inner]
    coded = "CAST(hash(list_sort(map_entries(factors))) // 2 AS BIGINT)"
    named = "artifact = file AND source.line IS NULL AND factors IS NOT NULL"
    taken += [f"CASE WHEN {named} THEN {coded} END AS named"]
    parts = []
    for paths, skipped in sources:
        condition = f" WHERE source.bundle_sha256 NOT IN (SELECT sha FROM {skipped})" if skipped else ""
        listed = ", ".join(sql_literal(str(path)) for path in paths)
        parts.append(
            f"SELECT {', '.join(taken)} FROM read_json([{listed}], format='newline_delimited', "
            f"columns={{{columns}}}, maximum_object_size={longest}){condition}"
        )
    return f"({' UNION ALL '.join(parts)}) AS lines"


class _TooLong(Exception):
    """A line is longer than the usual buffers."""


def _members(names: tuple[str, ...]) -> str:
    """Return the SQL type of an object with these members. Unlike a map's keys, its names ignore case."""
    if len({name.lower() for name in names}) < len(names) or any(not name or "\0" in name for name in names):
        return "MAP(VARCHAR, VARCHAR)"
    listed = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in names)
    return f"STRUCT({listed})"
