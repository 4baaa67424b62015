"""A table of records on the engine, which says how many fulfil a condition and which of them the page shows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from normalizer.aggregate.engines.interface import Engine


@dataclass(frozen=True, slots=True)
class Behind:
    """The records behind a number."""

    count: int = 0
    shown: tuple[int, ...] = ()
    """Those that the page shows, by their numbers there, in no particular order."""


def join_behind(several: Iterable[Behind]) -> Behind:
    """Return the records of several sets that have none in common."""
    every = list(several)
    return Behind(sum(each.count for each in every), tuple(number for each in every for number in each.shown))


@dataclass(frozen=True, slots=True)
class RecordTable:
    """Records with the column `number`, which is null for those that the page does not show."""

    engine: Engine
    name: str

    def find(self, condition: str) -> Behind:
        """Return the records that fulfil a condition."""
        return self.group([], condition)[()]

    def group(self, keys: Sequence[str], condition: str = "1 = 1", source: str | None = None) -> dict[Any, Behind]:
        """Return the records that fulfil a condition by the levels of `keys`: of the table `t`, or of another one that
        SQL gives."""
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        columns = ", ".join([*keys, "COUNT(*)", "ARRAY_AGG(number) FILTER (WHERE number IS NOT NULL)"])
        rows = self.engine.rows(f"SELECT {columns} FROM {source or self.name} AS t WHERE {condition}{group}")
        return {tuple(levels): Behind(int(count), tuple(shown or ())) for *levels, count, shown in rows}

    def count(self, condition: str = "1 = 1") -> int:
        """Return how many records fulfil a condition."""
        [(_, count)] = self.count_groups([], condition)
        return count

    def count_groups(self, keys: Sequence[str], condition: str) -> Iterator[tuple[tuple[Any, ...], int]]:
        """Yield the levels of keys, and how many records that fulfil a condition have them."""
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        rows = self.engine.rows(f"SELECT {', '.join([*keys, 'COUNT(*)'])} FROM {self.name} WHERE {condition}{group}")
        return ((tuple(levels), int(count)) for *levels, count in rows)
