"""Engines: each offers the lines of a ledger as a view, and runs the query's texts on it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from normalizer.aggregate.query import Fields
from normalizer.errors import CannotRun

ENGINES = ("duckdb", "spark")


class Lines(NamedTuple):
    """A file of records, and the bundles in it that are not to be taken."""

    path: Path
    skip: frozenset[str] = frozenset()


class Engine(Protocol):
    """Runs portable SQL."""

    def lines(self, files: list[Lines], fields: Fields) -> None:
        """Make the view `lines`."""

    def table(self, name: str, text: str) -> None:
        """Keep what a text gives, under a name."""

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """What a text gives, in no particular order."""


@contextmanager
def started(name: str, memory: str, work: int) -> Iterator[Engine]:
    """An engine for about so many bytes of records, imported only now: both are heavy."""
    if name == "duckdb":
        try:
            from normalizer.aggregate.on_duckdb import DuckDB
        except ImportError:
            raise CannotRun("aggregation needs DuckDB: pip install 'zeno-normalizer[report]'") from None
        with tempfile.TemporaryDirectory(prefix="normalizer-") as scratch:
            yield DuckDB(Path(scratch), memory)
        return
    try:
        from normalizer.aggregate.on_spark import Spark
    except ImportError:
        raise CannotRun("this engine needs Spark: pip install 'zeno-normalizer[spark]'") from None
    yield Spark(work)
