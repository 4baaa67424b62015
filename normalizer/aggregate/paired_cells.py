"""Two levels of a key, compared on an engine: from cells to differences of blocks, of items and of judges, counted.

A cell is what one judge says of one level in a block: the mean of its units there. Where a judge has both levels of a
block, their cells are a pair. The difference of a block is the mean of those of its judges, and blocks of one item go
together. Only counts of equal differences are fetched, however many records there are. Sums are of integers, over a
common denominator of all means; where that is too great for an engine, pairs are fetched one by one.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, groupby
from math import lcm

from normalizer.aggregate.artifact_names import refuse_shared_names
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.query import Query, find_shares
from normalizer.estimation.clusters import Clusters, gather
from normalizer.estimation.over_judges import JudgedValue, Panels, gather_panels


@dataclass(slots=True)
class LevelDifferences:
    """The differences of two levels in one measure, the first less the second."""

    blocks: Counter[Fraction] = field(default_factory=Counter)
    """How many blocks have each difference, judges averaged."""
    items: Clusters = field(default_factory=lambda: Clusters(Counter()))
    """The differences of blocks by item."""
    panels: Panels = field(default_factory=Panels)
    """The differences by item, judge by judge; empty where the judge is compared or a key of blocks."""


@dataclass(slots=True)
class ComparedLevels:
    """The differences of two levels in each measure, and how many blocks have one of them and no pair."""

    measures: list[LevelDifferences]
    unpaired: int = 0


LevelPairs = dict[tuple[str, str], ComparedLevels]


class PairedCells:
    """The cells of prepared records.

    The first key of the query is compared, the next are those of blocks, and the judge is the last one, if it is none
    of these.
    """

    def __init__(self, engine: Engine, query: Query, eligible: str, width: int) -> None:
        """`width` is the number of keys of blocks."""
        self._engine = engine
        self._query = query
        self._within = query.keys[1:]
        self._blocks = self._within[:width]
        self._judge = self._within[width] if len(self._within) > width else None
        judged = engine.table("judged", query.select_judged(eligible))
        refuse_shared_names(engine, query, query.find_differing_names(judged), eligible)
        self._common, share = find_shares("m", self._numbers(f"SELECT DISTINCT m FROM {judged}"))
        whole = query.sum_type(self._common)
        columns = [f"CAST({query.keys[0]} AS STRING) AS level", *self._within, "COUNT(*) AS n", "SUM(m) AS records"]
        columns += ["CASE WHEN SUM(selfs) = SUM(m) THEN 1 ELSE 0 END AS own"]
        columns += [f"CAST(SUM(CAST({name} AS {whole}) * {share}) AS {whole}) AS {name}" for name in query.measures]
        text = f"SELECT {', '.join(columns)} FROM {judged} GROUP BY {', '.join(query.keys)}"
        self._cells = engine.table("cells", text)

    def _numbers(self, text: str) -> list[int]:
        return [int(number) for (number,) in self._engine.rows(text)]

    def count_self_judged(self) -> int:
        """Return how many records are in cells in which all are self-judged."""
        [count] = self._numbers(f"SELECT COALESCE(SUM(records), 0) FROM {self._cells} WHERE own = 1")
        return count

    def find_widest(self) -> int:
        """Return the place of the key of blocks with the most levels, of which the lack of one is another."""
        counts = [f"COUNT(DISTINCT {key}) + MAX(CASE WHEN {key} IS NULL THEN 1 ELSE 0 END)" for key in self._blocks]
        [row] = self._engine.rows(f"SELECT {', '.join(counts)} FROM {self._cells}")
        return max(range(len(row)), key=lambda place: int(row[place] or 0))

    def compare(self, item: int) -> LevelPairs:
        """Return what blocks say of every two levels; levels of the key of blocks at the place `item` are items.

        A block without an item, or with an empty one, is an item of its own.
        """
        present = self._engine.table(
            "present", f"SELECT DISTINCT level, {', '.join(self._blocks)} FROM {self._cells} WHERE level IS NOT NULL"
        )
        having = dict(self._engine.rows(f"SELECT level, COUNT(*) FROM {present} GROUP BY level"))
        same = match_columns("a", "b", self._blocks)
        both = f"FROM {present} AS a JOIN {present} AS b ON {same} AND a.level < b.level"
        rows = self._engine.rows(f"SELECT a.level, b.level, COUNT(*) {both} GROUP BY a.level, b.level")
        shared = {(one, other): int(count) for one, other, count in rows}
        found = self._compare_pairs(item)
        for pair in combinations(sorted(having), 2):
            blocks = sum(int(having[level]) for level in pair) - shared.get(pair, 0)
            found[pair].unpaired = blocks - found[pair].measures[-1].blocks.total()
        return found

    def _compare_pairs(self, item: int) -> LevelPairs:
        found: LevelPairs = defaultdict(lambda: ComparedLevels([LevelDifferences() for _ in self._query.measures]))
        columns = ["a.n AS n1", "b.n AS n2"]
        columns += [f"{side}.{name} AS {name}_{side}" for name in self._query.measures for side in "ab"]
        pairs = self._engine.table("pairs", pair_cells(self._cells, self._within, self._blocks, columns))
        counts = self._numbers(f"SELECT DISTINCT n FROM {self._cells}")
        judges = self._numbers(f"SELECT DISTINCT judges FROM {pairs}")
        [cells] = self._numbers(f"SELECT COUNT(*) FROM {self._cells}")
        if self._query.sums_fit(2 * cells, self._common * lcm(*counts) * lcm(*judges)):
            self._count(found, pairs, self._find_item(item), counts, judges)
        else:
            self._read(found, pairs, self._find_item(item))
        return found

    def _find_item(self, place: int) -> str:
        """Return SQL for the item of a block; null where it is one of its own."""
        key = self._blocks[place]
        return key if self._query.by[1 + place] == "phase" else f"NULLIF({key}, '')"

    def _count(self, found: LevelPairs, pairs: str, item: str, counts: list[int], judges: list[int]) -> None:
        """Count equal differences on the engine."""
        measures = self._query.measures
        (of_counts, first), (_, second) = (find_shares(name, counts) for name in ("n1", "n2"))
        of_judges, share = find_shares("judges", judges)
        whole = self._query.sum_type(2 * self._common * of_counts * of_judges)
        terms = {
            name: f"CAST({name}_a AS {whole}) * {first} - CAST({name}_b AS {whole}) * {second}" for name in measures
        }
        sums = ", ".join(f"CAST(SUM({each}) AS {whole}) AS {name}" for name, each in terms.items())
        blocks = ", ".join(["one", "other", *self._blocks, "judges"])
        gaps = self._engine.table("gaps", f"SELECT {blocks}, {sums} FROM {pairs} GROUP BY {blocks}")
        items, panels = self._make_items(gaps, pairs, item, share)
        unit = self._common * 10**self._query.places * of_counts
        for place, name in enumerate(measures):
            for one, other, size, labels, total, mean, count in self._engine.rows(
                f"SELECT one, other, size, labels, {name}, {name}_mean, COUNT(*) FROM {items} "
                f"GROUP BY one, other, size, labels, {name}, {name}_mean"
            ):
                differences = found[one, other].measures[place]
                differences.items.counts[Fraction(int(mean), unit * of_judges), int(size)] += int(count)
                if self._judge is not None:
                    differences.panels.items[Fraction(int(total), unit), int(labels)] += int(count)
            mean = f"{name} * {share}"
            for one, other, value, count in self._engine.rows(
                f"SELECT one, other, {mean}, COUNT(*) FROM {gaps} GROUP BY one, other, {mean}"
            ):
                found[one, other].measures[place].blocks[Fraction(int(value), unit * of_judges)] += int(count)
        if self._judge is not None:
            group = f"one, other, {self._judge}, labels"
            for one, other, judge, labels, count, *totals in self._engine.rows(
                f"SELECT {group}, COUNT(*), {sums} FROM {panels} GROUP BY {group}"
            ):
                for differences, total in zip(found[one, other].measures, totals, strict=True):
                    differences.panels.add(str(judge), int(labels), Fraction(int(total), unit), int(count))

    def _make_items(self, gaps: str, pairs: str, item: str, share: str) -> tuple[str, str]:
        """Return the engine's tables of items, and of pairs with the number of labels of their item."""
        engine, measures = self._engine, self._query.measures
        if len(self._blocks) == 1:  # every block is an item
            columns = [*measures, *(f"{name} * {share} AS {name}_mean" for name in measures)]
            items = f"SELECT one, other, 1 AS size, judges AS labels, {', '.join(columns)} FROM {gaps}"
            return engine.view("items", items), engine.view("panels", f"SELECT *, judges AS labels FROM {pairs}")
        keys = ["one", "other", "c", *(f"e{place}" for place in range(len(self._blocks)))]
        apart = [f"CASE WHEN {item} IS NULL THEN {key} END AS e{place}" for place, key in enumerate(self._blocks)]
        named = f"SELECT *, {', '.join([f'{item} AS c', *apart])} FROM"
        sums = [f"SUM({name}) AS {name}" for name in measures]
        sums += [f"SUM({name} * {share}) AS {name}_mean" for name in measures]
        columns = [*keys, "COUNT(*) AS size", "CAST(SUM(judges) AS BIGINT) AS labels", *sums]
        text = f"SELECT {', '.join(columns)} FROM ({named} {gaps}) AS g GROUP BY {', '.join(keys)}"
        items = engine.table("items", text)
        joined = f"({named} {pairs}) AS p JOIN {items} AS i ON {match_columns('p', 'i', keys)}"
        return items, engine.view("panels", f"SELECT p.*, i.labels FROM {joined}")

    def _read(self, found: LevelPairs, pairs: str, item: str) -> None:
        """Read pair after pair, with exact fractions."""
        measures, width = self._query.measures, 2 + len(self._blocks)
        judge = self._judge or "CAST(NULL AS STRING)"
        blocks = ", ".join(["one", "other", *self._blocks])
        values = ", ".join(f"{name}_{side}" for name in measures for side in "ab")
        text = f"SELECT {blocks}, {item}, {judge}, n1, n2, {values} FROM {pairs} ORDER BY {blocks}"
        unit = self._common * 10**self._query.places
        for pair, rows in groupby(self._engine.rows(text), key=lambda row: row[:2]):
            gaps: list[list[Fraction]] = [[] for _ in measures]
            labels: list[list[JudgedValue]] = [[] for _ in measures]
            items: list[Hashable] = []
            for _, block in groupby(rows, key=lambda row: row[:width]):
                given = list(block)
                name = len(items) if given[0][width] is None else (given[0][width],)
                items.append(name)
                for place in range(len(measures)):
                    each = [
                        Fraction(int(row[width + 4 + 2 * place]), int(row[width + 2]) * unit)
                        - Fraction(int(row[width + 5 + 2 * place]), int(row[width + 3]) * unit)
                        for row in given
                    ]
                    gaps[place].append(sum(each, Fraction(0)) / len(each))
                    labels[place] += [
                        JudgedValue(name, str(row[width + 1]), value) for row, value in zip(given, each, strict=True)
                    ]
            found[pair[0], pair[1]].measures = [
                LevelDifferences(Counter(of), gather(of, items), gather_panels(of_judges) if self._judge else Panels())
                for of, of_judges in zip(gaps, labels, strict=True)
            ]


def match_columns(one: str, other: str, names: Iterable[str]) -> str:
    """Return the condition that rows of two tables have the same values in these columns, or none."""
    return " AND ".join(f"{one}.{name} IS NOT DISTINCT FROM {other}.{name}" for name in names)


def pair_cells(cells: str, within: Sequence[str], block: Sequence[str], columns: Sequence[str] = ()) -> str:
    """Return SQL for the pairs of cells that are compared: the levels `one` and `other`, the columns `within`, further
    ones of the cells `a` and `b`, and `judges`, how many pairs the block has.

    `cells` has for each `level` within a block and a judge whether all its records are self-judged: `own`. Of a block
    all pairs count if a judge has both levels and judges itself in neither.
    """
    own = "CASE WHEN a.own = 1 OR b.own = 1 THEN 1 ELSE 0 END"
    taken = [*(f"a.{name}" for name in within), "a.level AS one", "b.level AS other", f"{own} AS own", *columns]
    same = match_columns("a", "b", within)
    joined = f"SELECT {', '.join(taken)} FROM {cells} AS a JOIN {cells} AS b ON {same} AND a.level < b.level"
    over = f"OVER (PARTITION BY {', '.join([*block, 'one', 'other'])})"
    counted = f"SELECT *, MIN(own) {over} AS least, COUNT(*) {over} AS judges FROM ({joined}) AS p"
    return f"SELECT * FROM ({counted}) AS q WHERE least = 0"
