"""The interface of an engine, which reads lines of ledgers into tables and runs SQL on them.

A table has a name of its own, which no other table of the engine ever has, and lives until the end of the call that
made it; one that is made outside of any call lives as long as the engine.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from normalizer.aggregate.parsed_lines import Fields

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]


class RecordFiles(NamedTuple):
    """Files of records in one folder, and the bundles in them to be skipped."""

    paths: list[Path]
    skip: frozenset[str] = frozenset()


class Engine(Protocol):
    """Runs portable SQL."""

    parsed: dict[Any, str]
    """Names of tables of parsed lines that live as long as the engine, by what they were made of."""

    def parse(self, files: list[RecordFiles], fields: Fields, select: Callable[[str], str]) -> str:
        """Read lines once and store what a query makes of them; `select` returns it, given what to read from."""

    def call(self) -> AbstractContextManager[None]:
        """Drop the tables that are made in the block at its end."""

    def table(self, name: str, text: str) -> str:
        """Store the result of a query as a table; returns its name, which begins so."""

    def view(self, name: str, text: str) -> str:
        """Give a query a name, which begins so and is returned. It runs each time it is read."""

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query, in no particular order."""

    def columns(self, text: str) -> "list[Numbers]":
        """Return the columns of a query as arrays, whose rows are in the order that it asks for. None of its values may
        be null."""
