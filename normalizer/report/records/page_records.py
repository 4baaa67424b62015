"""Read the records of a page: those that it shows one by one, and all of them into tables of the engine.

VALID records are on the engine already, where a query says what becomes of each. INVALID ones, which may say anything,
are read here. A bundle that a ledger before has already is a duplicate.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.engines.interface import Engine, RecordFiles
from normalizer.aggregate.groups import is_selected
from normalizer.aggregate.parsed_lines import BUNDLE, COLUMNS, ID, MEMBERS, Fields, sql_literal
from normalizer.aggregate.query import Query
from normalizer.aggregate.record_list import select_statuses
from normalizer.aggregate.restated_scores import write_lines
from normalizer.documents.lossless import dumps, loads_plain
from normalizer.ledger.line_format import RECORD_FILES, id_of, sha_slice
from normalizer.ledger.open_ledgers import OpenLedger
from normalizer.ledger.reader import Ledger
from normalizer.preferences.comparison_query import FIELDS, ROW, ComparisonQuery, parse_comparisons
from normalizer.preferences.reading import find_duplicates
from normalizer.report.records.bundles import PageBundles
from normalizer.report.records.record_table import RecordTable
from normalizer.report.records.sample import Sample, ShownRecord

_COMMON = {ID: "STRING", BUNDLE: "STRING"}
_SCORED = [COLUMNS[name][1] if name in COLUMNS else name for name in MEMBERS if name != "self_judged"]
_OF_INVALID = {"judge": "judge_model", "generator": "generator_model", "phase": "phase"}
"""Columns that INVALID records have, too, by the keys whose levels they are."""


@dataclass(frozen=True, slots=True)
class Source:
    """Ledgers whose records a page shows for one thing."""

    role: str
    """preferences, gold or base; empty for the ledgers that the page is about."""
    parts: list[OpenLedger]
    rules: Rules
    where: dict[str, keys.Level]
    rubrics: dict[str, str] = field(default_factory=dict)
    """The rubric that bundles without a VALID record were screened under."""
    known: frozenset[str] = frozenset()
    """Bundles that the page has already, and that are not read again."""

    def pairs(self) -> Iterator[tuple[int, str]]:
        """Yield the number of each part and a kind of file, in the order of the page."""
        if self.role:
            yield from ((part, kind) for part in range(len(self.parts)) for kind in RECORD_FILES)
        else:  # all VALID records, then all INVALID ones
            yield from ((part, kind) for kind in RECORD_FILES for part in range(len(self.parts)))

    def describe(self, line: bytes, bundle: str, by: tuple[str, ...]) -> dict[str, Any]:
        """Return the columns of an INVALID record."""
        plain = loads_plain(line)
        if bundle in self.rubrics:
            plain["rubric"] = self.rubrics[bundle]  # an INVALID record may say anything
        columns = {name: keys.level_in(plain, key) for name, key in _OF_INVALID.items()}
        columns |= {f"k{number}": keys.level_in(plain, name) for number, name in enumerate(by)}
        codes = sorted({reason["code"] for reason in plain.get("reasons", [])})
        status = "invalid" if is_selected(plain, self.where) else "not_selected"
        return {"status": status, "codes": f" {' '.join(codes)} ", **columns}


@dataclass(slots=True)
class PageRecords:
    """Collects the records of ledgers, one source after the other."""

    engine: Engine
    sample: Sample
    scratch: Path
    shown: list[ShownRecord] = field(default_factory=list)
    bundles: PageBundles = field(default_factory=PageBundles)
    """The raw bundles that the page shows."""
    _files: Iterator[int] = field(default_factory=count)

    def add_scores(self, source: Source, query: Query, by: tuple[str, ...]) -> str:
        """Collect the records of prepared ledgers that are shown, and return SQL for all. Only those that the page is
        about have levels of the keys `by`; all else is the same for all sources."""
        levels = {f"k{number}": "INT" if name == "phase" else "STRING" for number, name in enumerate(by)}
        known = select_statuses(query, source.rules)
        if source.role:
            none = [f"CAST(NULL AS {kind}) AS {name}" for name, kind in levels.items()]
            known = f"SELECT {', '.join(['*', *none])} FROM ({known}) AS s"
        columns = [*_SCORED, "self", "off", "factors", *query.measures, *levels]
        types = {"judge": "STRING", "generator": "STRING", "phase": "INT", **levels}
        return self._add(source, known, columns, types, by)

    def add_comparisons(self, ledgers: list[Ledger], where: dict[str, keys.Level], rules: Rules) -> str:
        """Collect the comparisons of ledgers that are shown, and return SQL for all."""
        parts = [OpenLedger(ledger, skip) for ledger, skip in zip(ledgers, find_duplicates(ledgers), strict=True)]
        source = Source("preferences", parts, rules, where)
        files = [RecordFiles(part.ledger.paths("records"), part.skip) for part in source.parts]
        parsed = self.engine.parse(files, FIELDS.with_ids(), partial(parse_comparisons, ids=True))
        compared = ComparisonQuery((), source.where).comparisons(parsed)
        known = f"SELECT *, {source.rules.status()} AS status FROM ({compared}) AS c"
        return self._add(source, known, list(ROW), {}, ())

    def _add(self, source: Source, valid: str, columns: list[str], types: dict[str, str], by: tuple[str, ...]) -> str:
        types = {**_COMMON, **types}
        every = ", ".join([ID, BUNDLE, *columns])
        rows = self._parse((*types, "origin", "status", "codes"), self._read(source, by))
        known = f"FROM ({valid}) AS v WHERE {BUNDLE} NOT IN ({_list(source.known)})"
        parts = [
            f"SELECT {every}, '{source.role}' AS origin, status, CAST(NULL AS STRING) AS codes, 1 AS valid {known}"
        ]
        for number, part in enumerate(source.parts):
            if part.skip:
                again = f"SELECT {every}, '{source.role}{number}', 'duplicate', NULL, 1 {known}"
                parts.append(f"{again} AND {BUNDLE} IN ({_list(part.skip)})")
        told = [f"CAST({name} AS {types[name]})" if name in types else "NULL" for name in (ID, BUNDLE, *columns)]
        parts.append(f"SELECT {', '.join(told)}, origin, status, codes, 0 FROM {rows}")
        return f"SELECT *, '{source.role}' AS role FROM ({' UNION ALL '.join(parts)}) AS p"

    def _read(self, source: Source, by: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """Collect the records that are shown, and yield the columns of all INVALID ones."""
        for number, kind in source.pairs():
            ledger, skip = source.parts[number].ledger, source.parts[number].skip
            for line in ledger.iterate_checked_lines(kind):
                bundle = line[sha_slice(kind)].decode("ascii")
                if bundle in source.known:
                    continue
                origin = f"{source.role}{number}" if bundle in skip else source.role
                if self.sample.has(line):
                    record = ledger.exact(kind, line)
                    if source.role:
                        self.bundles.add(bundle, ledger)
                    self.shown.append(ShownRecord(id_of(line), bundle, number, source.role, origin, record))
                if kind == "invalid":
                    found = {ID: id_of(line), BUNDLE: bundle, "origin": origin, **source.describe(line, bundle, by)}
                    yield found | ({"status": "duplicate"} if bundle in skip else {})

    def add_bundles(self, ledgers: list[Ledger]) -> list[dict[str, Any]]:
        """Add the raw bundles of the ledgers that the page is about, and return all reasons that blame no record."""
        shown = {each.bundle for each in self.shown}
        return self.bundles.add_all(ledgers, None if self.sample.is_all else shown)

    def make_table(self, *sources: str) -> RecordTable:
        """Return a table of the records that these SQL texts select, with the numbers of those that are shown."""
        places = enumerate(self.shown)
        numbers = self._parse(
            (ID, "origin", "number"), ({ID: each.id, "origin": each.origin, "number": at} for at, each in places)
        )
        same = f"n.{ID} = r.{ID} AND n.origin = r.origin"
        every = " UNION ALL ".join(sources)
        text = f"SELECT r.*, CAST(n.number AS INT) AS number FROM ({every}) AS r LEFT JOIN {numbers} AS n ON {same}"
        return RecordTable(self.engine, self.engine.table("page", text))

    def complete(self, table: RecordTable, total: str, unit: int) -> None:
        """Set the status of all shown records of a table, and their totals, which SQL gives in parts of a unit."""
        text = f"SELECT number, status, {total} FROM {table.name} WHERE number IS NOT NULL"
        for number, status, units in self.engine.rows(text):
            each = self.shown[int(number)]
            each.status, each.total = status, None if units is None else Fraction(int(units), unit)

    def _parse(self, members: tuple[str, ...], rows: Iterable[dict[str, Any]]) -> str:
        """Return the name of the engine's table of rows."""
        path = write_lines((f"{dumps(row)}\n" for row in rows), self.scratch / f"rows{next(self._files)}.jsonl")
        return self.engine.parse([RecordFiles([path])], Fields((), (*members, "artifact", "file")), _select_all)


def _select_all(lines: str) -> str:
    return f"SELECT * FROM {lines}"


def _list(bundles: Iterable[str]) -> str:
    return ", ".join(map(sql_literal, ["", *sorted(bundles)]))
