"""The interface of an engine, which provides the lines of ledgers as a view and runs SQL on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from normalizer.aggregate.query import Fields


class RecordFiles(NamedTuple):
    """Files of records in one folder, and the bundles in them to be skipped."""

    paths: list[Path]
    skip: frozenset[str] = frozenset()


class Engine(Protocol):
    """Runs portable SQL."""

    def lines(self, files: list[RecordFiles], fields: Fields) -> None:
        """Make the view `lines`."""

    def table(self, name: str, text: str) -> None:
        """Store the result of a query as a table."""

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query, in no particular order."""
