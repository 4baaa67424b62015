"""Labels of items by each judge and each annotator, and the consensus of several."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from sys import intern
from typing import NamedTuple

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.keys import Level
from normalizer.aggregate.parsed_lines import WIDE
from normalizer.aggregate.query import Query
from normalizer.statistics.spread import mean_of

Item = tuple[str, str | None]
"""An artifact and its generator."""
Values = tuple[Fraction, ...]
"""A value for each dimension of the rubric and, last, the total."""
PairsByItem = dict[Item, tuple[Fraction, Fraction]]
"""Two values of each item."""
Instrument = tuple[Level, ...]
"""The levels of the keys of `INSTRUMENT`; None where records do not say."""
Identities = Mapping[str, Mapping[Instrument, frozenset[Item]]]
"""The items that each instrument of each judge judged."""
CONSENSUS = ("median", "mean", "majority")


class Labels(NamedTuple):
    """Labels by item and by who gave them; repeats of one judge are averaged."""

    by_item: dict[Item, dict[str, Values]]
    by_group: dict[Levels, dict[Item, dict[str, Values]]]
    """The labels of each group, from its own records alone."""
    own: frozenset[tuple[Item, str]]
    """The labels, by item and judge, that a judge gave on its own model's output."""

    def gives_only_own(self, judge: str, items: Iterable[Item]) -> bool:
        """Whether all labels of a judge on some items are on its own model's outputs."""
        return all((item, judge) in self.own for item in items)

    def judges(self) -> list[str]:
        """All who gave a label, sorted."""
        return sorted({judge for labels in self.by_item.values() for judge in labels})


@dataclass(frozen=True)
class LabelStudy:
    """The labels of judges and of annotators, looked at on one measure."""

    judged: Labels
    annotated: Labels
    rule: str
    """How the labels of several annotators become one."""
    mirrored: bool = False
    """Whether labels are verdicts on two answers, whose direction is only one of names."""
    place: int = 0
    """The place of the measure among the values of a label."""
    scales: tuple[tuple[Fraction, Fraction], ...] = ((Fraction(0), Fraction(1)),)
    """The least and the greatest value of each measure."""
    identities: Identities = field(default_factory=dict)
    """The instruments of each judge, with the items that each judged."""

    @property
    def scale(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest value of the measure."""
        return self.scales[self.place]

    @cached_property
    def gold(self) -> dict[Item, Values]:
        """The consensus of the annotators on each item."""
        return {item: consensus(values.values(), self.rule) for item, values in self.annotated.by_item.items()}

    def at(self, place: int) -> "LabelStudy":
        """Return the study of another measure."""
        return replace(self, place=place)

    def pairs(self, judge: str, levels: Levels | None = None) -> PairsByItem:
        """Return the judge's value and the gold value of each item that has both, in all or in one group."""
        items = self.judged.by_item if levels is None else self.judged.by_group[levels]
        return {
            item: (given[judge][self.place], self.gold[item][self.place])
            for item, given in items.items()
            if judge in given and item in self.gold
        }


def labels(engine: Engine, query: Query, judged: str, width: int | None = None) -> Labels:
    """Return the labels of an engine's table of judges, grouped by the first `width` keys of the query."""
    grouped = query.keys[:width]
    whole = _average(engine, query, judged, ())[()]
    own = engine.rows(
        f"SELECT artifact, generator, judge FROM {judged} WHERE judge IS NOT NULL "
        "GROUP BY artifact, generator, judge HAVING SUM(selfs) = SUM(m)"
    )
    alone = frozenset(((artifact, generator), judge) for artifact, generator, judge in own)
    if not grouped:
        return Labels(whole, {(): whole}, alone)
    return Labels(whole, _average(engine, query, judged, grouped), alone)


def _average(
    engine: Engine, query: Query, judged: str, keys: Sequence[str]
) -> dict[Levels, dict[Item, dict[str, Values]]]:
    """Return the mean of each judge's labels of an item, by the levels of keys and sorted. Equal values are one object:
    there are few of them, however many labels there are."""
    unit = 10**query.places

    @cache
    def divide(total: int, repeats: int) -> Fraction:
        return Fraction(total, repeats * unit)

    sums = ["SUM(m)", *(f"SUM(CAST({name} AS {WIDE}))" for name in query.measures)]
    group = [*keys, "artifact", "generator", "judge"]
    order = [*keys, "artifact", "COALESCE(generator, '')", "judge"]
    rows = engine.rows(
        f"SELECT {', '.join(group + sums)} FROM {judged} WHERE judge IS NOT NULL "
        f"GROUP BY {', '.join(group)} ORDER BY {', '.join(order)}"
    )
    found: dict[Levels, dict[Item, dict[str, Values]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        levels, (artifact, generator, judge, repeats, *totals) = tuple(row[: len(keys)]), row[len(keys) :]
        item = artifact, None if generator is None else intern(generator)
        found[levels][item][intern(judge)] = tuple(divide(int(total), int(repeats)) for total in totals)
    return found


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
