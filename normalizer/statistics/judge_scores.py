"""Scores by judge and artifact, repeated records averaged, and counts of pairs of scores of two judges."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from normalizer.aggregate.artifact_names import refuse_shared_names
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.parsed_lines import sql_literal
from normalizer.aggregate.query import Query
from normalizer.estimation.clusters import Clusters, count_by_item

MOST_PAIRS = 100_000
"""With more answers that two judges share, no intervals are computed."""
Joint = Counter[tuple[int, int]]
"""Counts of pairs of values that two judges gave."""


def match_answers(one: str, other: str) -> str:
    """Return the condition that rows of two tables are about the same answer."""
    return f"{one}.artifact = {other}.artifact AND {one}.generator IS NOT DISTINCT FROM {other}.generator"


_SAME = match_answers("a", "b")


class Label(NamedTuple):
    """A judge's total for an answer, and whether the answer is its own model's."""

    judge: str
    own: bool
    total: Fraction | float


class Answer(NamedTuple):
    """The labels of an answer, sorted."""

    generator: str | None
    labels: tuple[Label, ...]


JudgedItem = tuple[Answer, ...]
"""The answers about an artifact. Most artifacts are like many others: items are counted, not kept one by one."""


@dataclass(slots=True)
class Shared:
    """The artifacts that two judges share."""

    n: int = 0
    self_judged: bool = False
    repeated: bool = False


@dataclass(slots=True)
class JointValues:
    """The pairs of values of one measure."""

    pairs: dict[tuple[str, str], Joint] = field(default_factory=lambda: defaultdict(Counter))
    coincidences: dict[tuple[int, int], Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    """Over all judges. Each pair within an artifact has the weight 1 / (its judges - 1); smaller value first."""
    artifacts: int = 0
    """Number of artifacts with two judges or more."""


class JudgeScores:
    """Makes a table of verdicts from ungrouped records and queries it."""

    def __init__(self, engine: Engine, query: Query, eligible: str) -> None:
        self.engine = engine
        self.query = query
        judged = engine.table("judged", query.select_judged(eligible))
        refuse_shared_names(engine, query, query.find_differing_names(judged), eligible)
        repeats = engine.rows(f"SELECT DISTINCT m FROM {judged}")
        text, common = query.verdicts(judged, (int(row[0]) for row in repeats))
        self._verdicts = engine.table("verdicts", text)
        self._panels = engine.table(
            "panels",
            "SELECT artifact, generator, COUNT(*) AS k, SUM(t) AS t, SUM(t * t) AS t2 "
            f"FROM {self._verdicts} GROUP BY artifact, generator",
        )
        self.denominator = common * 10**query.places

    def judges(self) -> dict[str, int]:
        """Return all judges, sorted, with the number of artifacts they judged."""
        rows = self.engine.rows(f"SELECT judge, COUNT(*) FROM {self._verdicts} GROUP BY judge")
        return dict(sorted((judge, int(count)) for judge, count in rows))

    def count_shared(self) -> dict[tuple[str, str], Shared]:
        """Return the artifacts that each pair of judges shares; pairs without any are absent."""
        text = (
            "SELECT a.judge, b.judge, COUNT(*), SUM(a.selfs + b.selfs), MAX(a.m), MAX(b.m) "
            f"FROM {self._verdicts} a JOIN {self._verdicts} b ON {_SAME} "
            "WHERE a.judge < b.judge GROUP BY a.judge, b.judge"
        )
        return {
            (first, second): Shared(int(n), selfs > 0, max(one, other) > 1)
            for first, second, n, selfs, one, other in self.engine.rows(text)
        }

    def joint(self, measure: str) -> JointValues:
        """Return all pairs of values of one measure."""
        text = (
            f"SELECT a.judge, b.judge, p.k, a.{measure}, b.{measure}, COUNT(*) "
            f"FROM {self._verdicts} a JOIN {self._verdicts} b ON {_SAME} "
            f"JOIN {self._panels} p ON {match_answers('a', 'p')} "
            f"WHERE a.judge < b.judge GROUP BY a.judge, b.judge, p.k, a.{measure}, b.{measure}"
        )
        found = JointValues()
        artifacts = Fraction(0)
        for first, second, panel, one, other, count in self.engine.rows(text):
            values = int(one), int(other)
            found.pairs[first, second][values] += int(count)
            low, high = sorted(values)
            # A pair counts in both orders; for unequal values each order is a cell of its own.
            found.coincidences[low, high] += Fraction(int(count) * (2 if low == high else 1), int(panel) - 1)
            artifacts += Fraction(2 * int(count), int(panel) * (int(panel) - 1))
        found.artifacts = int(artifacts)
        return found

    def pairs(self) -> dict[tuple[str, str], list[tuple[str, list[tuple[int, int]]]]]:
        """Return each answer that two judges share: its artifact, and both values of every measure. Nothing where there
        are more than `MOST_PAIRS`."""
        shared = f"FROM {self._verdicts} a JOIN {self._verdicts} b ON {_SAME} WHERE a.judge < b.judge"
        [[count]] = self.engine.rows(f"SELECT COUNT(*) {shared}")
        found: dict[tuple[str, str], list[tuple[str, list[tuple[int, int]]]]] = defaultdict(list)
        if int(count) > MOST_PAIRS:
            return found
        columns = ", ".join(f"a.{name}, b.{name}" for name in self.query.measures)
        text = f"SELECT a.judge, b.judge, a.artifact, {columns} {shared}"
        for first, second, artifact, *values in self.engine.rows(text):
            whole = [int(value) for value in values]
            found[first, second].append((artifact, list(zip(whole[::2], whole[1::2], strict=True))))
        return {pair: sorted(rows) for pair, rows in found.items()}

    def count_items(self) -> Counter[JudgedItem]:
        """Return how many artifacts have each answers, with the labels of all judges."""
        columns = "artifact, generator, judge, selfs, t"
        rows = self.engine.rows(f"SELECT {columns} FROM {self._verdicts} ORDER BY artifact, generator, judge")
        whole = Counter(
            tuple((generator, judge, int(selfs) > 0, int(total)) for _, generator, judge, selfs, total in some)
            for _, some in groupby(rows, key=itemgetter(0))
        )
        found: Counter[JudgedItem] = Counter()
        for labels, count in whole.items():
            answers = groupby(labels, key=itemgetter(0))
            found[tuple(Answer(generator, self._labels(some)) for generator, some in answers)] += count
        return found

    def _labels(self, some: Iterable[tuple[str | None, str, bool, int]]) -> tuple[Label, ...]:
        return tuple(Label(judge, own, Fraction(total, self.denominator)) for _, judge, own, total in some)

    def against_others(self, judge: str, *, own: bool) -> tuple[Counter[Fraction], Clusters]:
        """Return a judge's total minus the mean of the cross-judging others, for the answers of its own model or of
        others: how often it is which, and the clusters by artifact."""
        text = (
            "SELECT a.artifact, a.t, SUM(b.t), COUNT(*) "
            f"FROM {self._verdicts} a JOIN {self._verdicts} b ON {_SAME} "
            f"WHERE a.judge = {sql_literal(judge)} AND b.judge <> a.judge AND b.selfs = 0 "
            f"AND a.selfs {'> 0' if own else '= 0'} GROUP BY a.artifact, a.generator, a.t ORDER BY a.artifact"
        )
        return count_by_item(
            ((int(value) - Fraction(int(others), int(k))) / self.denominator, artifact)
            for artifact, value, others, k in self.engine.rows(text)
        )

    def self_judging(self) -> list[str]:
        """Return judges with a self-judged record, sorted."""
        return sorted(
            row[0] for row in self.engine.rows(f"SELECT DISTINCT judge FROM {self._verdicts} WHERE selfs > 0")
        )
