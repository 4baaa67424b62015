"""Labels of items: what each judge and each annotator said of an artifact, and the consensus of several."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.query import Query
from normalizer.statistics.spread import mean_of

Item = tuple[str, str | None]
"""An artifact and its generator."""
Values = tuple[Fraction, ...]
"""A value for each dimension of the rubric and, last, the total."""
CONSENSUS = ("median", "mean", "majority")


class Labels(NamedTuple):
    """Labels by item and by who gave them; repeats of one judge are averaged."""

    by_item: dict[Item, dict[str, Values]]
    levels: dict[Item, set[Levels]]
    self_judged: set[str]
    """Judges with a self-judged label."""

    def judges(self) -> list[str]:
        """All who gave a label, sorted."""
        return sorted({judge for labels in self.by_item.values() for judge in labels})


def labels(engine: Engine, query: Query, condition: str) -> Labels:
    """The labels of records that meet a condition. A judge's records of one item in several groups are averaged."""
    engine.table("judged", query.judged(condition))
    columns = [*query.keys, "artifact", "generator", "judge", "m", "selfs", *query.measures]
    width = len(query.keys)
    sums: dict[Item, dict[str, list[Fraction]]] = defaultdict(dict)
    counts: Counter[tuple[Item, str]] = Counter()
    levels: dict[Item, set[Levels]] = defaultdict(set)
    own: set[str] = set()
    unit = 10**query.places
    for row in engine.rows(f"SELECT {', '.join(columns)} FROM judged WHERE judge IS NOT NULL"):
        artifact, generator, judge, repeats, selfs = row[width : width + 5]
        item = (artifact, generator)
        values = [Fraction(int(value), unit) for value in row[width + 5 :]]
        before = sums[item].get(judge, [Fraction(0)] * len(values))
        sums[item][judge] = [one + other for one, other in zip(before, values, strict=True)]
        counts[item, judge] += int(repeats)
        levels[item].add(tuple(row[:width]))
        if selfs:
            own.add(judge)
    by_item = {
        item: {judge: tuple(total / counts[item, judge] for total in found[judge]) for judge in sorted(found)}
        for item, found in sorted(sums.items(), key=lambda pair: (pair[0][0], pair[0][1] or ""))
    }
    return Labels(by_item, dict(levels), own)


def consensus(given: Iterable[Values], rule: str) -> Values:
    """One label from several, measure by measure.

    `median`: the middle value, the mean of the two middle ones where their number is even. `majority`: the most
    frequent value, the median of these where several are. `mean`: the average.
    """
    return tuple(_one(list(column), rule) for column in zip(*given, strict=True))


def _one(values: list[Fraction], rule: str) -> Fraction:
    if rule == "mean":
        return mean_of(values)
    if rule == "majority":
        counts = Counter(values)
        most = max(counts.values())
        values = [value for value, count in counts.items() if count == most]
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
