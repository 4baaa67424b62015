"""Every record of the ledgers with its status: counted, or the reason why it is left out."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Kind, Levels
from normalizer.aggregate.groups import selected
from normalizer.aggregate.restated_scores import scores_of
from normalizer.aggregate.summary import Options
from normalizer.documents import lossless, phases
from normalizer.documents.lossless import Number, loads_plain
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.ledger.reader import Ledger

MOST = 50_000
"""Records that one page can show."""


@dataclass(slots=True)
class RecordStatus:
    """A record with its ledger, group and status."""

    place: int
    """Its position among all records."""
    record: dict[str, Any]
    """The record with numbers as they are spelled."""
    plain: dict[str, Any]
    """The record with ordinary numbers."""
    part: int
    """The number of its ledger."""
    levels: Levels
    kind: Kind | None
    """The properties that eligibility depends on; None if the record is INVALID."""
    worths: dict[str, Fraction] | None
    """Exact values of its scores; None where one is not on the scale."""
    status: str = "counted"
    """counted, or the reason for which it is left out."""
    role: str = ""
    """For records of further ledgers, what they are shown for: preferences, gold or base."""

    @property
    def total(self) -> Fraction | None:
        """The sum of its scores."""
        return None if self.worths is None else sum(self.worths.values(), Fraction(0))

    def level(self, key: str) -> keys.Level:
        """The record's level of a key."""
        return keys.level_in(self.plain, key)


def refuse_large(ledger: Ledger) -> None:
    """Raise CannotRun if a ledger has more records than a page can show. Reads only counts."""
    check_count(ledger.record_count())


def check_count(records: int) -> None:
    """Raise CannotRun if there are more records than a page can show."""
    if records > MOST:
        raise CannotRun(
            f"there are {records} records, and a page can show {MOST} one by one: use aggregate, agreement and "
            "compare, whose numbers are the same and which have no limit, or split the study into several ledgers"
        )


def record_statuses(given: OpenLedgers, rubric: Rubric, options: Options) -> list[RecordStatus]:
    """All records: VALID ones in the ledgers' order, then INVALID ones."""
    found = []
    for place, (part, kind, line) in enumerate(_lines(given)):
        each = read_record(place, part, kind, line, given.parts[part].ledger, rubric)
        each.levels = tuple(keys.level_in(each.plain, name) for name in options.by)
        sha256 = each.plain["source"]["bundle_sha256"]
        if kind == "invalid" and sha256 in given.active:
            each.plain["rubric"] = given.active[sha256]  # an INVALID record may say anything
        each.status = _status(each, options, given.parts[part].skip)
        found.append(each)
    groups: dict[Levels, Counter[Kind]] = defaultdict(Counter)
    for each in found:
        if each.status == "counted" and each.kind is not None:
            groups[each.levels][each.kind] += 1
    alone = {levels for levels, kinds in groups.items() if options.rules.only_self_judged(kinds)}
    for each in found:
        if each.status == "counted" and each.levels in alone:
            each.status = "self_judged"
    return found


def _lines(given: OpenLedgers) -> Iterator[tuple[int, str, bytes]]:
    for kind in ("records", "invalid"):
        for number, part in enumerate(given.parts):
            for line in part.ledger.checked_lines(kind):
                yield number, kind, line


def read_record(place: int, part: int, kind: str, line: bytes, ledger: Ledger, rubric: Rubric) -> RecordStatus:
    """Return a record of a ledger, without its group. A comparison has no scores, and is not off the scale for that."""
    record, plain = ledger.exact(kind, line), loads_plain(line)
    each = RecordStatus(place, record, plain, part, (), None, None)
    if kind == "records":
        scored = record.get("kind") != "comparison"
        worths = scores_of(record, rubric) if scored else None
        if worths is not None:
            each.worths = {name: Fraction(worth) for name, worth in worths.items()}
        each.kind = Kind(
            int(plain["phase"]),
            plain.get("protocol_version"),
            phases.is_self_judged(plain),
            scored and worths is None,
            plain.get("judge_kind", "model"),
            plain.get("leg"),
        )
    return each


def _status(each: RecordStatus, options: Options, skip: frozenset[str]) -> str:
    if each.plain["source"]["bundle_sha256"] in skip:
        return "duplicate"
    if not selected(each.plain, options.where) or (each.kind is not None and _lacks(each, options)):
        return "not_selected"
    if each.kind is None:
        return "invalid"
    return options.rules.refusal(each.kind) or "counted"


def _lacks(each: RecordStatus, options: Options) -> bool:
    """Whether a record has no score of the dimension that is asked for."""
    return options.where.get(keys.DIMENSION, "") not in ("", *each.plain.get("scores", {}))


def spell_score(score: Any) -> str:
    """A score as the judge wrote it."""
    return str(score) if isinstance(score, Number) else lossless.dumps(score)
