"""The variance of a difference in the next study, design by design, and what a pilot leaves uncertain about it.

A square is the variance of the difference of two values on one item. It comes from a pilot with few items, and is
uncertain: the safe square is the upper end of its one-sided 80 % interval, as Browne (1995) proposed for sample sizes;
a study planned with it has its power in four pilots of five. Items of one cluster go together: squares are multiplied
by the design effect, 1 + (values a cluster - 1) * ICC.
"""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any, NamedTuple

from normalizer.documents.exact import round_exact, round_root
from normalizer.errors import CannotRun
from normalizer.estimation.pairs_needed import clusters_to_show, of_deviation, power_to_show
from normalizer.noise.components import variances
from normalizer.noise.sample_size import LEAST, PowerTarget, items_needed, power_of
from normalizer.statistics.spread import mean_of, variance_of

REPEATS = (1, 2, 3, 5)
PANELS = (1, 2, 3, 5)
CURVE = (10, 20, 50, 100, 200, 500, 1000)
"""The numbers of items at which power is told."""
_SURE = 0.2
"""The chance that the true variance is above the safe one."""
ItemLabels = Mapping[tuple[str, str | None], list[Fraction]]
"""The labels of one judge by artifact and generator."""


class Square(NamedTuple):
    """The variance of a difference, the degrees of freedom it was estimated with, and how many groups a study has."""

    value: Fraction
    freedom: int
    groups: int = 1

    def root(self, *, safe: bool) -> float:
        """Return the deviation, or the safe one."""
        from scipy.special import chdtri

        factor = self.freedom / float(chdtri(self.freedom, 1 - _SURE)) if safe and self.freedom else 1.0
        return sqrt(float(self.value) * factor)

    def items(self, wanted: PowerTarget, *, safe: bool = False) -> int:
        """Return how many items a study needs."""
        deviation = self.root(safe=safe)
        if wanted.reach is None or self.groups > 1:
            return items_needed(wanted.gap, deviation, wanted.power, wanted.alpha, groups=self.groups)
        known = of_deviation(min(deviation, wanted.reach))
        found = clusters_to_show(known, wanted.aim, wanted.reach, wanted.alpha, wanted.power)
        if found is None:
            raise CannotRun("no number of items would be enough: --detect or --margin must be above 0, and larger")
        return max(found, LEAST)

    def power(self, wanted: PowerTarget, items: int, *, safe: bool = False) -> float:
        """Return the power of a study with so many items."""
        deviation = self.root(safe=safe)
        if wanted.reach is None or self.groups > 1:
            return power_of(wanted.gap, deviation, items, wanted.alpha, self.groups) if deviation else 1.0
        return power_to_show(of_deviation(deviation), wanted.aim, wanted.reach, wanted.alpha, items)


def tables_of(labels: ItemLabels) -> list[list[list[Fraction]]]:
    """Return the labels of each item, generator by generator."""
    generators = sorted({generator for _, generator in labels}, key=str)
    return [
        [sorted(labels[item]) for item in sorted(labels, key=lambda item: item[0]) if item[1] == generator]
        for generator in generators
    ]


def squares_of(labels: ItemLabels, repeats: int, effect: Fraction) -> dict[str, Square | None]:
    """Return the square of each design, with so many repeats; None where it cannot be estimated."""
    found = variances(tables_of(labels))
    if found is None:
        return dict.fromkeys(("paired_least", "paired", "unpaired"))
    within, between, (_, above, below, _) = found
    noise = 2 * within / repeats
    gaps = _gaps([labels], [within])
    return {
        "paired_least": Square(effect * noise, below),
        "paired": None if gaps is None else Square(effect * (noise + gaps.shared + gaps.own), gaps.freedom),
        "unpaired": Square(effect * (noise + 2 * between), above, 2),
    }


def plan_items(labels: ItemLabels, wanted: PowerTarget, effect: Fraction) -> list[dict[str, Any]] | None:
    """Return the items needed for each number of repeats; None where no noise can be estimated."""
    rows = []
    for repeats in REPEATS:
        squares = squares_of(labels, repeats, effect)
        if squares["paired_least"] is None:
            return None
        row: dict[str, Any] = {"repeats": repeats}
        row |= {name: None if square is None else square.items(wanted) for name, square in squares.items()}
        for name in ("paired", "unpaired"):
            square = squares[name]
            row[f"{name}_safe"] = None if square is None else square.items(wanted, safe=True)
        rows.append(row)
    return rows


def draw_curve(labels: ItemLabels, wanted: PowerTarget, effect: Fraction) -> list[dict[str, Any]] | None:
    """Return the power at numbers of items, with one label of each."""
    squares = squares_of(labels, 1, effect)
    if squares["paired_least"] is None:
        return None
    rows = []
    for items in CURVE:
        row: dict[str, Any] = {"items": items}
        for name in ("paired", "unpaired"):
            square = squares[name]
            for end, safe in (("", False), ("_safe", True)):
                power = None if square is None else square.power(wanted, items, safe=safe)
                row[name + end] = None if power is None else round_exact(Fraction(power))
        rows.append(row)
    return rows


def cluster_effect(labels: ItemLabels, clusters: Mapping[str, str | None]) -> dict[str, Any] | None:
    """Return size, ICC and design effect of clusters of artifacts; None where no cluster has two artifacts.

    The ICC is that of the differences of two generators where two share artifacts, and of the means otherwise.
    """
    by_generator = _by_generator(labels)
    tables = []
    for one, other in combinations(sorted(by_generator, key=str), 2):
        shared = by_generator[one].keys() & by_generator[other].keys()
        gaps = {item: mean_of(by_generator[one][item]) - mean_of(by_generator[other][item]) for item in shared}
        tables.append(_by_cluster(gaps, clusters))
    if not any(len(row) > 1 for table in tables for row in table):
        means = ({item: mean_of(each) for item, each in mine.items()} for mine in by_generator.values())
        tables = [_by_cluster(each, clusters) for each in means]
    found = variances(tables)
    if found is None:
        return None
    within, between, _ = found
    sizes = [len(row) for table in tables for row in table]
    size = Fraction(sum(each * each for each in sizes), sum(sizes))
    icc = between / (within + between) if within + between else Fraction(0)
    return {
        "clusters": max(len(table) for table in tables),
        "size": round_exact(size),
        "icc": round_exact(icc),
        "design_effect": round_exact(1 + (size - 1) * icc),
    }


class _Gaps(NamedTuple):
    """The variance of true differences between generators: what judges share, what each has alone, and freedom."""

    shared: Fraction
    own: Fraction
    freedom: int


def plan_panels(judges: list[ItemLabels], wanted: PowerTarget, effect: Fraction) -> dict[str, Any] | None:
    """Return the items that panels of several of such judges need, each giving one label; None where no two judges
    labelled three artifacts of two generators."""
    noises = [found[0] for found in (variances(tables_of(labels)) for labels in judges) if found is not None]
    gaps = _gaps(judges, noises) if len(judges) > 1 and len(noises) == len(judges) else None
    if gaps is None:
        return None
    rows = []
    for size in PANELS:
        square = Square(effect * (gaps.shared + (gaps.own + 2 * mean_of(noises)) / size), gaps.freedom)
        rows.append({"judges": size, "paired": square.items(wanted), "paired_safe": square.items(wanted, safe=True)})
    told = {"shared_sd": round_root(gaps.shared), "own_sd": round_root(gaps.own)}
    return {"pilot_judges": len(judges), **told, "rows": rows}


def _gaps(judges: list[ItemLabels], noises: list[Fraction]) -> _Gaps | None:
    """Return the parts of the variance of differences, the noise of each judge taken out; the mean over pairs of
    generators. One judge's is all its own. None where no two generators share three artifacts."""
    tables = [_by_generator(labels) for labels in judges]
    names = sorted(set.intersection(*(set(table) for table in tables)), key=str)
    found = []
    for one, other in combinations(names, 2):
        items = sorted(set.intersection(*(set(table[name]) for table in tables for name in (one, other))))
        if len(items) < 3:
            continue
        sides = [[(table[one][item], table[other][item]) for item in items] for table in tables]
        gaps = [[mean_of(x) - mean_of(y) for x, y in each] for each in sides]
        noise = [
            mean_of([within / len(x) + within / len(y) for x, y in each])
            for each, within in zip(sides, noises, strict=True)
        ]
        together = [_covariance(*two) for two in combinations(gaps, 2)]
        shared = max(mean_of(together), Fraction(0)) if together else Fraction(0)
        whole = mean_of([variance_of(each) for each in gaps]) - mean_of(noise)
        found.append(_Gaps(shared, max(whole - shared, Fraction(0)), len(items) - 1))
    if not found:
        return None
    return _Gaps(mean_of([each.shared for each in found]), mean_of([each.own for each in found]), found[0].freedom)


def _covariance(one: list[Fraction], other: list[Fraction]) -> Fraction:
    sums = [x + y for x, y in zip(one, other, strict=True)]
    return (variance_of(sums) - variance_of(one) - variance_of(other)) / 2


def _by_generator(labels: ItemLabels) -> dict[str | None, dict[str, list[Fraction]]]:
    found: dict[str | None, dict[str, list[Fraction]]] = defaultdict(dict)
    for (artifact, generator), values in labels.items():
        found[generator][artifact] = values
    return found


def _by_cluster(values: Mapping[str, Fraction], clusters: Mapping[str, str | None]) -> list[list[Fraction]]:
    """Return the values of each cluster; a value without one is a cluster of its own."""
    rows: dict[tuple[str, str], list[Fraction]] = defaultdict(list)
    for artifact in sorted(values):
        cluster = clusters.get(artifact)
        rows[("artifact", artifact) if cluster is None else ("cluster", cluster)].append(values[artifact])
    return [rows[key] for key in sorted(rows)]
