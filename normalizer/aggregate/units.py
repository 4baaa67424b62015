"""Units and their exact sums. A unit is an artifact with its judges averaged, or a record."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from normalizer.aggregate import restated_scores
from normalizer.aggregate.artifact_names import refuse_shared_names
from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine, RecordFiles
from normalizer.aggregate.query import Query
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import OpenLedgers, conserved


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
def prepared(
    engine: Engine, query: Query, given: OpenLedgers, *, diagnostic: bool, extra: Path | None = None
) -> Iterator[None]:
    """Make the engine's table `records`; `extra` is a file of lines in addition to those of the ledgers."""
    with TemporaryDirectory(prefix="normalizer-") as scratch:
        exactly = read_exactly(query, given, diagnostic=diagnostic)
        if exactly:
            files = [
                RecordFiles([restated_scores.restated(given.parts, query.rubric, Path(scratch) / "records.jsonl")])
            ]
        else:
            files = [RecordFiles(part.ledger.paths("records"), part.skip) for part in given.parts]
        if extra is not None:
            files.append(RecordFiles([extra]))
        engine.lines(files, query.fields)
        engine.table("records", query.records(worths=exactly))
        if extra is None:
            [(count,)] = engine.rows("SELECT COUNT(*) FROM records")
            conserved("valid", int(count), given.valid)
        yield


class Numbers:
    """Makes the engine's table `units` and queries exact sums over it."""

    def __init__(self, engine: Engine, query: Query, eligible: str, unit: str) -> None:
        self.engine = engine
        self.query = query
        self.width = len(query.by)
        self._eligible = eligible
        self.common = self._units(unit)
        self.denominator = self.common * 10**query.places

    def _units(self, unit: str) -> int:
        """Make the engine's table `units`. Return the denominator of the judges' averages."""
        engine, query = self.engine, self.query
        if unit == "record":
            engine.table("units", query.record_units(self._eligible))
            return 1
        engine.table("judged", query.judged(self._eligible))
        refuse_shared_names(engine, query, self._eligible)
        text, repeats = query.artifacts(int(row[0]) for row in engine.rows("SELECT DISTINCT m FROM judged"))
        engine.table("artifacts", text)
        if query.cluster is not None:
            self._one_cluster_each(query.cluster)
        text, judges = query.artifact_units(int(row[0]) for row in engine.rows("SELECT DISTINCT judges FROM artifacts"))
        engine.table("units", text)
        return repeats * judges

    def _one_cluster_each(self, cluster: str) -> None:
        text = "SELECT COUNT(*) FROM artifacts WHERE c <> c2 OR (c0 > 0 AND c0 < records)"
        if next(iter(self.engine.rows(text)))[0]:
            raise CannotRun(f"records of one artifact differ in {cluster}: cluster by it with --unit record")

    def groups(self) -> dict[Levels, Group]:
        """Return all groups that have units. Raises CannotRun if sums do not fit."""
        units = int(next(iter(self.engine.rows("SELECT COUNT(*) FROM units")))[0])
        if not self.query.sums_fit(units, self.common):
            raise CannotRun("the scale is too wide and too fine for exact sums over so many units: use --unit record")
        groups = self._by_moments() if self.query.moments_fit(units, self.common) else self._by_histograms()
        for row in self.engine.rows(self.query.judges(self._eligible)):
            if tuple(row[: self.width]) in groups:
                groups[tuple(row[: self.width])].judges = int(row[-1])
        return groups

    def _by_moments(self) -> dict[Levels, Group]:
        groups = {}
        for row in self.engine.rows(self.query.moments(self.common)):
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
        for row in self.engine.rows(self.query.histogram(measure)):
            value, count, records = (int(each) for each in row[self.width :])
            yield tuple(row[: self.width]), value, count, records
