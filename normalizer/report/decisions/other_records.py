"""Records of the further ledgers that a page shows: comparisons, gold labels and the base of a gate."""

from dataclasses import dataclass, replace

from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.keys import Level
from normalizer.aggregate.query import Query
from normalizer.aggregate.record_list import list_records
from normalizer.aggregate.summary import Options
from normalizer.documents.rubric import Rubric
from normalizer.ledger import open_ledgers
from normalizer.ledger.line_format import RECORD_FILES, sha_slice
from normalizer.ledger.reader import Ledger
from normalizer.report.record_status import RecordStatus, Sample, read_comparison, read_line
from normalizer.screening.raw_rows import unpack_bundle

EVERYONE = frozenset(("model", "human", "reference"))


@dataclass(slots=True)
class OtherRecords:
    """Appends records of further ledgers to `records`, and the raw bytes of those that are shown to `bundles`."""

    records: list[RecordStatus]
    bundles: dict[str, bytes]
    sample: Sample

    def add_comparisons(self, ledgers: list[Ledger], options: Options, where: dict[str, Level]) -> None:
        """Add all records of ledgers of comparisons."""
        part = self._last_part()
        for ledger in ledgers:
            part += 1
            for kind in RECORD_FILES:
                for line in ledger.iterate_checked_lines(kind):
                    place = len(self.records)
                    each = read_comparison(place, part, kind, line, options.rules, where, self.sample)
                    self._append(each, ledger, kind, line)

    def add_labels(self, engine: Engine, ledgers: list[Ledger], role: str, rubric: Rubric, options: Options) -> None:
        """Add all records of ledgers of scores, for gold or base. A bundle that is in `records` already without a role
        is not read again, but for the base of a gate, which may be the ledger itself."""
        if not ledgers:
            return
        is_gold = role == "gold"
        known = {each.bundle for each in self.records if not each.role} if is_gold else set()
        rules = replace(options.rules, judge_kinds=EVERYONE) if is_gold else options.rules
        query = Query(rubric, (), {} if is_gold else options.where, None)
        given = open_ledgers.as_one(list(dict.fromkeys(ledgers)))
        listed = {one.id: one for one in list_records(engine, query, given, rules)}
        part = self._last_part()
        for ledger in ledgers:
            part += 1
            for kind in RECORD_FILES:
                for line in ledger.iterate_checked_lines(kind):
                    if line[sha_slice(kind)].decode("ascii") not in known:
                        each = read_line(len(self.records), part, kind, line, listed)
                        each.role = role
                        self._append(each, ledger, kind, line)

    def _last_part(self) -> int:
        return max((each.part for each in self.records), default=-1)

    def _append(self, each: RecordStatus, ledger: Ledger, kind: str, line: bytes) -> None:
        each.record = self.sample.read(ledger, kind, line)
        self.records.append(each)
        if each.record is not None and each.bundle not in self.bundles:
            self.bundles[each.bundle] = unpack_bundle(ledger, each.bundle)
