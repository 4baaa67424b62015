"""Every record of the ledgers with its status: counted, or the reason why it is left out. The engine says which.

A page shows up to `MOST` records one by one. Of more it shows those with the least ids, which are digests of their
content: a sample that depends on nothing but the records. All numbers are of all records.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Kind, Levels, Rules
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.groups import is_selected
from normalizer.aggregate.query import Query
from normalizer.aggregate.record_list import ListedRecord, list_records
from normalizer.aggregate.summary import Options
from normalizer.documents import lossless, protocol
from normalizer.documents.lossless import Number, loads_plain
from normalizer.ledger.line_format import RECORD_FILES, id_of, sha_slice
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.ledger.reader import Ledger

MOST = 50_000
"""Records that a page shows one by one."""
_OF_A_COMPARISON = ("artifact", "judge_model", "outcome", "length", "repeat", "criterion")
"""Members of a comparison that rows of tables are told apart by."""


@dataclass(slots=True)
class RecordStatus:
    """A record with its ledger, group and status."""

    place: int
    """Its position among all records."""
    id: str
    bundle: str
    """The hash of its bundle."""
    part: int
    """The number of its ledger."""
    plain: dict[str, Any]
    """Its metadata with ordinary numbers; of an INVALID record all that it has."""
    levels: Levels = ()
    kind: Kind | None = None
    """The properties that eligibility depends on; None if the record is INVALID."""
    worths: dict[str, Fraction] | None = None
    """Exact values of its scores; None where one is not on the scale."""
    status: str = "counted"
    """counted, or the reason for which it is left out."""
    role: str = ""
    """For records of further ledgers, what they are shown for: preferences, gold or base."""
    record: dict[str, Any] | None = None
    """The record with numbers as they are spelled; None if the page does not show it."""

    @property
    def total(self) -> Fraction | None:
        """The sum of its scores."""
        return None if self.worths is None else sum(self.worths.values(), Fraction(0))

    def level(self, key: str) -> keys.Level:
        """The record's level of a key."""
        return keys.level_in(self.plain, key)


class Sample:
    """The records that a page shows: all, or those with the least ids."""

    def __init__(self, ledgers: Iterable[Ledger]) -> None:
        every = list(ledgers)
        self.is_all = sum(ledger.record_count() for ledger in every) <= MOST
        self._greatest = b""
        if not self.is_all:
            ids = (line for ledger in every for kind in RECORD_FILES for line in ledger.iterate_checked_lines(kind))
            self._greatest = nsmallest(MOST, (id_of(line) for line in ids))[-1].encode()

    def read(self, ledger: Ledger, kind: str, line: bytes) -> dict[str, Any] | None:
        """Return a record as it is spelled, if it is shown."""
        return ledger.exact(kind, line) if self.is_all or id_of(line).encode() <= self._greatest else None


def record_statuses(
    engine: Engine, given: OpenLedgers, query: Query, options: Options, sample: Sample
) -> list[RecordStatus]:
    """All records: VALID ones in the ledgers' order, then INVALID ones."""
    listed = {one.id: one for one in list_records(engine, query, given, options.rules)}
    found: list[RecordStatus] = []
    for part, kind, line in _lines(given):
        ledger, skip = given.parts[part].ledger, given.parts[part].skip
        each = read_line(len(found), part, kind, line, listed)
        each.record = sample.read(ledger, kind, line)
        if kind == "invalid":
            if each.bundle in given.active:
                each.plain["rubric"] = given.active[each.bundle]  # an INVALID record may say anything
            each.levels = tuple(each.level(name) for name in options.by)
            each.status = "invalid" if is_selected(each.plain, options.where) else "not_selected"
        if each.bundle in skip:
            each.status = "duplicate"
        found.append(each)
    return found


def _lines(given: OpenLedgers) -> Iterator[tuple[int, str, bytes]]:
    for kind in RECORD_FILES:
        for number, part in enumerate(given.parts):
            for line in part.ledger.iterate_checked_lines(kind):
                yield number, kind, line


def read_line(place: int, part: int, kind: str, line: bytes, listed: dict[str, ListedRecord]) -> RecordStatus:
    """Return a record of scores; `listed` has what the engine says of the VALID ones."""
    each = RecordStatus(place, id_of(line), line[sha_slice(kind)].decode("ascii"), part, {})
    if kind == "invalid":
        each.plain, each.status = loads_plain(line), "invalid"
        return each
    one = listed[each.id]
    each.plain, each.levels, each.kind, each.worths, each.status = (
        one.members,
        one.levels,
        one.kind,
        one.worths,
        one.status,
    )
    return each


def read_comparison(
    place: int, part: int, kind: str, line: bytes, rules: Rules, where: dict[str, keys.Level], sample: Sample
) -> RecordStatus:
    """Return a comparison, which has no scores, and is not off the scale for that."""
    plain = loads_plain(line)
    each = RecordStatus(place, id_of(line), line[sha_slice(kind)].decode("ascii"), part, plain, role="preferences")
    each.status = "invalid"
    if kind == "records":
        each.kind = Kind(
            int(plain["phase"]),
            plain.get("protocol_version"),
            protocol.is_self_judged(plain),
            False,
            plain.get("judge_kind", "model"),
            plain.get("leg"),
        )
        each.status = rules.refusal(each.kind) or "counted"
    if not is_selected(plain, where):
        each.status = "not_selected"
    if kind == "records" and not sample.is_all:
        each.plain = {name: plain[name] for name in _OF_A_COMPARISON if name in plain}
    return each


def spell_score(score: Any) -> str:
    """A score as the judge wrote it."""
    return str(score) if isinstance(score, Number) else lossless.dumps(score)
