"""Drift: one judge under two of its versions (prompt, protocol), on the answers that both versions judged.

Versions are compared, not put together, so that they may be of different phases; where they are, it is said.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from operator import add, itemgetter
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.parsed_lines import most_places, sql_literal
from normalizer.aggregate.query import Query
from normalizer.aggregate.summary import Options
from normalizer.documents.exact import round_exact
from normalizer.documents.rubric import Rubric
from normalizer.estimation.clusters import count_by_item
from normalizer.report.records.lookup import OWN
from normalizer.report.records.record_table import Behind, RecordTable, join_behind
from normalizer.statistics.judge_scores import match_answers
from normalizer.statistics.spread import describe_counts

_OF_A_VERSION = ("phase", "judge_prompt_version", "protocol_version", "run_id")
"""Keys of versions, which a selection may name and this comparison ignores."""
_VERSIONED = ("judge_prompt_version", "protocol")
"""The columns that tell versions of a judge apart."""
_CELL = ("judge", *_VERSIONED, "artifact", "generator")


class _Version(NamedTuple):
    """A version of a judge."""

    names: tuple[str, ...]
    levels: tuple[str | None, ...]
    """The judge, and its levels of the columns that tell versions apart."""

    def of(self, table: str) -> str:
        """Return the condition of rows of this version."""
        pairs = zip(("judge", *_VERSIONED), self.levels, strict=True)
        literals = [(name, "NULL" if level is None else sql_literal(level)) for name, level in pairs]
        return " AND ".join(f"{table}.{name} IS NOT DISTINCT FROM {level}" for name, level in literals)


def drift(table: RecordTable, rubric: Rubric, options: Options) -> list[dict[str, Any]]:
    """Return every pair of versions of every judge; differences are second minus first."""
    where = {name: level for name, level in options.where.items() if name not in _OF_A_VERSION}
    query = Query(rubric, (), where, None)
    own = f"(SELECT * FROM {table.name} WHERE {OWN} AND valid = 1 AND status <> 'duplicate')"
    engine = table.engine
    with engine.call():
        chosen = f"SELECT * FROM ({query.records(own)}) AS r WHERE {options.rules.condition()} AND judge IS NOT NULL"
        records = engine.view("versions", chosen)
        sums = ", ".join(f"SUM({name}) AS {name}" for name in query.measures)
        group = ", ".join(_CELL)
        text = f"SELECT {group}, COUNT(*) AS m, MIN(self) AS own, {sums} FROM {records} GROUP BY {group}"
        cells = engine.table("cells", text)
        versions: dict[str, list[_Version]] = defaultdict(list)
        for judge, *levels in engine.rows(f"SELECT DISTINCT judge, {', '.join(_VERSIONED)} FROM {cells}"):
            names = tuple(keys.level(level, " / ") for level in levels)
            versions[judge].append(_Version(names, (judge, *levels)))
        compared = _Compared(RecordTable(engine, records), cells, query)
        return [
            compared.describe(judge, pair)
            for judge in sorted(versions)
            for pair in combinations(sorted(versions[judge], key=itemgetter(0)), 2)
        ]


class _Compared(NamedTuple):
    records: RecordTable
    cells: str
    query: Query

    def describe(self, judge: str, pair: tuple[_Version, ...]) -> dict[str, Any]:
        """Return the drift of a judge from one version to another."""
        rubric = self.query.rubric
        sums = [Fraction(0)] * len(self.query.measures)

        def add_totals() -> Iterator[tuple[Fraction, str]]:
            for artifact, gaps in self._answers(pair):
                sums[:] = map(add, sums, gaps)
                yield gaps[-1], artifact

        alone = self._is_alone(pair)
        differences, items = count_by_item(() if alone else add_totals())
        n = differences.total()
        least, greatest = map(Fraction, rubric.bounds())
        numbers, _ = describe_counts(differences, items, greatest - least, "shared artifact")
        behind, phases = (Behind(), [[], []]) if alone else self._select_used(pair)
        dimensions = {
            name: round_exact(total / n) if n else None for name, total in zip(rubric.dimensions, sums, strict=False)
        }
        same_protocol = pair[0].names[1] == pair[1].names[1]
        equal = round_exact(Fraction(differences[Fraction(0)], n)) if n else None
        return {
            "judge": judge,
            "versions": [each.names[0] if same_protocol else " / ".join(each.names) for each in pair],
            "phases": phases,
            "n": n,
            "difference": numbers.pop("mean"),
            **numbers,
            "equal": equal,
            "dimensions": dimensions,
            **({"na": dict.fromkeys(numbers["na"], ALONE)} if alone else {}),
            "behind": behind,
        }

    def _join(self, pair: tuple[_Version, ...]) -> str:
        """Return SQL for the answers that both versions judged."""
        joined = f"{self.cells} AS a JOIN {self.cells} AS b ON {match_answers('a', 'b')}"
        return f"FROM {joined} WHERE {pair[0].of('a')} AND {pair[1].of('b')}"

    def _is_alone(self, pair: tuple[_Version, ...]) -> bool:
        """Whether all records of these answers are self-judged."""
        [(least,)] = self.records.engine.rows(f"SELECT MIN(LEAST(a.own, b.own)) {self._join(pair)}")
        return bool(least == 1)

    def _answers(self, pair: tuple[_Version, ...]) -> Iterator[tuple[str, list[Fraction]]]:
        """Yield the artifact of each answer that both versions judged, sorted, and the differences of all measures."""
        unit, measures = 10 ** most_places(self.query.rubric), self.query.measures
        columns = ", ".join(f"{side}.{name}" for name in ("m", *measures) for side in "ab")
        for artifact, one, other, *totals in self.records.engine.rows(
            f"SELECT a.artifact, {columns} {self._join(pair)} ORDER BY a.artifact"
        ):
            yield (
                artifact,
                [
                    Fraction(int(second), int(other) * unit) - Fraction(int(first), int(one) * unit)
                    for first, second in zip(totals[::2], totals[1::2], strict=True)
                ],
            )

    def _select_used(self, pair: tuple[_Version, ...]) -> tuple[Behind, list[list[int]]]:
        """Return the records of answers that both versions judged, and the phases of each version there."""
        conditions = []
        for this, other in (pair, pair[::-1]):
            cells = f"SELECT 1 FROM {self.cells} AS x WHERE {match_answers('x', 't')} AND {other.of('x')}"
            conditions.append(f"{this.of('t')} AND EXISTS ({cells})")
        found = [self.records.group(["phase"], condition) for condition in conditions]
        return join_behind(each for side in found for each in side.values()), [
            sorted(int(phase) for (phase,) in side) for side in found
        ]
