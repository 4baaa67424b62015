"""Units and their exact sums. A unit is an artifact with its judges averaged, or a record."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from normalizer.aggregate import restated_scores
from normalizer.aggregate.artifact_names import refuse_shared_names
from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine, RecordFiles
from normalizer.aggregate.parsed_lines import parse_records
from normalizer.aggregate.query import Query
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import OpenLedgers, check_conserved


@dataclass(slots=True)
class Sums:
    """Exact sums of one measure in one group, in units of `1/denominator`."""

    total: int = 0
    squares: int = 0
    least: int | None = None
    most: int | None = None


@dataclass(slots=True)
class Group:
    """Counts and exact sums of one group."""

    n: int = 0
    records: int = 0
    at_min: int = 0
    at_max: int = 0
    judges: int = 0
    sums: list[Sums] = field(default_factory=list)

    def mean(self, denominator: int, place: int = -1) -> Fraction:
        """Return the exact mean of a measure; the last one, the default, is the total."""
        return Fraction(self.sums[place].total, self.n * denominator)


def read_exactly(query: Query, given: OpenLedgers, *, diagnostic: bool) -> bool:
    """Whether records must be restated, because an engine would not read their scores exactly."""
    return not query.fits_doubles or len(given.rubrics) > 1 or (given.relaxed and diagnostic)


@contextmanager
def prepare_records(
    engine: Engine,
    query: Query,
    given: OpenLedgers,
    *,
    diagnostic: bool,
    extra: Path | None = None,
    ids: bool = False,
) -> Iterator[Query]:
    """Make the engine's table `records` and yield the query over it; all tables of the block are dropped at its end.

    Lines of ledgers are parsed once for an engine, with ids if these are asked for first. `extra` is a file
    of lines in addition to those of the ledgers.
    With `ids` the table has the records' ids.
    """
    exactly = read_exactly(query, given, diagnostic=diagnostic)
    ids = ids or _describe_lines(query, given, exactly, True) in engine.parsed
    parsed = _parse_once(engine, query, given, exactly, ids)
    with engine.call():
        if extra is not None:
            more = _parse(engine, query, [RecordFiles([extra])], exactly, ids)
            parsed = f"(SELECT * FROM {parsed} UNION ALL SELECT * FROM {more}) AS p"
        yield query.on(engine.view("records", query.records(parsed)))


def _parse_once(engine: Engine, query: Query, given: OpenLedgers, exactly: bool, ids: bool) -> str:
    """Return the name of the engine's table of all lines of ledgers, which is made when it is first asked for."""
    made_of = _describe_lines(query, given, exactly, ids)
    if made_of not in engine.parsed:
        with TemporaryDirectory(prefix="normalizer-") as scratch:
            files = [RecordFiles(part.ledger.paths("records"), part.skip) for part in given.parts]
            if exactly:
                files = [
                    RecordFiles(
                        [restated_scores.restate_scores(given.parts, query.rubric, Path(scratch) / "records.jsonl")]
                    )
                ]
            parsed = _parse(engine, query, files, exactly, ids)
            [(count,)] = engine.rows(f"SELECT COUNT(*) FROM {parsed}")
            check_conserved("valid", int(count), given.valid)
        engine.parsed[made_of] = parsed
    return engine.parsed[made_of]


def _describe_lines(query: Query, given: OpenLedgers, exactly: bool, ids: bool) -> tuple[Any, ...]:
    """Return what tells a table of parsed lines from others."""
    ledgers = tuple((part.ledger.folder, part.skip) for part in given.parts)
    return (ledgers, query.rubric.name, *query.rubric.dimensions, exactly, ids)


def _parse(engine: Engine, query: Query, files: list[RecordFiles], exactly: bool, ids: bool) -> str:
    fields = query.fields.with_ids() if ids else query.fields
    return engine.parse(files, fields, partial(parse_records, query.rubric, worths=exactly, ids=ids))


class Numbers:
    """Makes the engine's table of units and queries exact sums over it. The query must be over prepared records."""

    def __init__(self, engine: Engine, query: Query, eligible: str, unit: str) -> None:
        self.engine = engine
        self.query = query
        self.width = len(query.by)
        self._eligible = eligible
        self._unit = unit
        self.units, self.common = self._make_units(unit)
        self.denominator = self.common * 10**query.places

    def _make_units(self, unit: str) -> tuple[str, int]:
        """Return the name of the table of units, and the denominator of the judges' averages."""
        engine, query = self.engine, self.query
        if unit == "record":
            return engine.table("units", query.record_units(self._eligible)), 1
        judged = engine.table("judged", query.select_judged(self._eligible))
        repeats = engine.rows(f"SELECT DISTINCT m FROM {judged}")
        text, common = query.artifacts(judged, (int(row[0]) for row in repeats))
        # If a group has one judge, these are the rows of `judged`.
        artifacts = (engine.view if "judge_model" in query.by else engine.table)("artifacts", text)
        names = f"SELECT artifact FROM {artifacts} WHERE n1 <> n2"
        refuse_shared_names(engine, query, names, self._eligible)
        if query.cluster is not None:
            self._refuse_several_items(artifacts, query.cluster)
        judges = engine.rows(f"SELECT DISTINCT judges FROM {artifacts}")
        text, further = query.artifact_units(artifacts, (int(row[0]) for row in judges), common)
        return engine.view("units", text), common * further

    def make_items(self) -> str:
        """Make the engine's table of items, and return its name."""
        # An artifact of one generator is one unit of its group, and one item unless a key says otherwise.
        alone = self._unit == "artifact" and self.query.cluster is None and "generator_model" in self.query.by
        if alone:
            return self.engine.view("items", f"SELECT *, 1 AS size FROM {self.units}")
        return self.engine.table("items", self.query.items(self.units))

    def _refuse_several_items(self, artifacts: str, cluster: str) -> None:
        text = f"SELECT COUNT(*) FROM {artifacts} WHERE c <> c2 OR (c0 > 0 AND c0 < records)"
        if next(iter(self.engine.rows(text)))[0]:
            raise CannotRun(f"records of one artifact differ in {cluster}: cluster by it with --unit record")

    def groups(self) -> dict[Levels, Group]:
        """Return all groups that have units. Raises CannotRun if sums do not fit."""
        units = int(next(iter(self.engine.rows(f"SELECT COUNT(*) FROM {self.units}")))[0])
        if not self.query.sums_fit(units, self.common):
            raise CannotRun("the scale is too wide and too fine for exact sums over so many units: use --unit record")
        groups = self._by_moments() if self.query.moments_fit(units, self.common) else self._by_histograms()
        for row in self.engine.rows(self.query.judges(self._eligible)):
            if tuple(row[: self.width]) in groups:
                groups[tuple(row[: self.width])].judges = int(row[-1])
        return groups

    def _by_moments(self) -> dict[Levels, Group]:
        groups = {}
        for row in self.engine.rows(self.query.moments(self.units, self.common)):
            levels, rest = tuple(row[: self.width]), row[self.width :]
            if rest[0]:
                n, records, low, high, *sums = (int(value) for value in rest)
                each = [Sums(*sums[at : at + 4]) for at in range(0, len(sums), 4)]
                groups[levels] = Group(n, records, low, high, 0, each)
        return groups

    def _by_histograms(self) -> dict[Levels, Group]:
        """Sum in Python, whose integers are unbounded: for scales whose squares an engine cannot hold."""
        groups: dict[Levels, Group] = {}
        ends = (self.query.low * self.common, self.query.high * self.common)
        for place, measure in enumerate(self.query.measures):
            for levels, value, count, records in self.histogram(measure):
                group = groups.setdefault(levels, Group(sums=[Sums() for _ in self.query.measures]))
                sums = group.sums[place]
                sums.total += value * count
                sums.squares += value * value * count
                sums.least = value if sums.least is None else min(sums.least, value)
                sums.most = value if sums.most is None else max(sums.most, value)
                if measure == "t":
                    group.n += count
                    group.records += records
                    group.at_min += count * (value == ends[0])
                    group.at_max += count * (value == ends[1])
        return groups

    def histogram(self, measure: str) -> Iterator[tuple[Levels, int, int, int]]:
        """Yield levels, value, number of units and number of records."""
        for row in self.engine.rows(self.query.histogram(self.units, measure)):
            value, count, records = (int(each) for each in row[self.width :])
            yield tuple(row[: self.width]), value, count, records
