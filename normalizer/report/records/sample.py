"""The records that a page shows one by one.

A page shows up to `MOST` records. Of more it shows those with the least ids, which are digests of their content: a
sample that depends on nothing but the records. All numbers are of all records.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from typing import Any

from normalizer.ledger.line_format import RECORD_FILES, id_of
from normalizer.ledger.reader import Ledger

MOST = 50_000
"""Records that a page shows one by one."""


@dataclass(slots=True)
class ShownRecord:
    """A record that a page shows."""

    id: str
    bundle: str
    """The hash of its bundle."""
    part: int
    """The number of its ledger among those of its role."""
    role: str
    """preferences, gold or base for a record of a further ledger; else empty."""
    origin: str
    """Its role, and the number of its ledger if another ledger has its bundle already."""
    record: dict[str, Any]
    """The record with numbers as they are spelled."""
    status: str = ""
    """counted, or the reason for which it is left out."""
    total: Fraction | None = None
    """The exact sum of its scores; None where one is not on the scale."""


class Sample:
    """The choice of the records that a page shows: all, or those with the least ids."""

    def __init__(self, ledgers: Iterable[Ledger]) -> None:
        every = list(ledgers)
        self.is_all = sum(ledger.record_count() for ledger in every) <= MOST
        self._greatest = ""
        if not self.is_all:
            lines = (line for ledger in every for kind in RECORD_FILES for line in ledger.iterate_checked_lines(kind))
            self._greatest = nsmallest(MOST, map(id_of, lines))[-1]

    def has(self, line: bytes) -> bool:
        """Whether the record of a line is shown."""
        return self.is_all or id_of(line) <= self._greatest
