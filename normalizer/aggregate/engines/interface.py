"""The interface of an engine, which provides the lines of ledgers as a view and runs SQL on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from normalizer.aggregate.query import Fields


class RecordFile(NamedTuple):
    """A file of records, and the bundles in it to be skipped."""

    path: Path
    skip: frozenset[str] = frozenset()


class Engine(Protocol):
    """Runs portable SQL."""

    def lines(self, files: list[RecordFile], fields: Fields) -> None:
        """Make the view `lines`."""

    def table(self, name: str, text: str) -> None:
        """Store the result of a query as a table."""

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query, in no particular order."""
