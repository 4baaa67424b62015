"""Paired contrasts: two levels of a key, compared on blocks that agree in the other keys, judge by judge.

In each block a judge's score of one level is compared with the same judge's score of the other, and the differences of
the judges are averaged: who judged which level cannot make a difference. Blocks of one item are one cluster; the item
is the artifact, or of the keys that pairs agree in the one with the most levels, unless it is named. Interval and p are
of one test, see `estimation.paired_test`.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate import keys, neighbours
from normalizer.aggregate.eligibility import Levels, Rules
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.keys import INSTRUMENT
from normalizer.aggregate.query import Query
from normalizer.aggregate.summary import Options, count_left_out, open_on_engine, query_of
from normalizer.aggregate.units import prepare_records
from normalizer.documents.exact import ROUNDING, round_exact
from normalizer.errors import CannotRun
from normalizer.estimation.over_judges import JudgedValue, interval_over_judges
from normalizer.estimation.paired_test import SCALE, PairedTest
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.statistics.group_means import GroupMeans
from normalizer.statistics.signflip import holm
from normalizer.statistics.spread import describe_differences, ends, mean_of

JUDGE = "judge_model"
ALPHA = 0.05
_NO_OTHERS = "fewer than two judges or items, which say nothing about other judges, or no spread"
_NO_PAIR = "there is no pair: no block has both levels, judged by one judge that does not judge itself"


class Contrast(NamedTuple):
    """A comparison of the levels of a key, on blocks that agree in others."""

    key: str
    paired_by: tuple[str, ...]
    item: str | None = None
    """The key of `paired_by` whose levels are items; None: see the module."""
    assume: str = SCALE
    """The assumption that tests and intervals may make, of `ASSUMPTIONS`."""

    @property
    def by(self) -> tuple[str, ...]:
        """Return the keys of the cells: the judge is the last, unless it is compared or paired itself."""
        named = (self.key, *self.paired_by)
        return named if JUDGE in named else (*named, JUDGE)


GENERATORS = Contrast("generator_model", ("artifact",))
"""The comparison that is made by default."""


def compare(folders: tuple[Path, ...], options: Options, wanted: Contrast) -> dict[str, Any]:
    """Return the contrasts of ledgers: a document of `comparison.json`. Raises UnusableLedger or CannotRun."""
    with open_on_engine(folders, options) as (engine, given):
        document = compare_opened(engine, given, options, wanted)
    if not document["contrasts"]:
        raise CannotRun(f"there are no two levels of {wanted.key} to compare: see `normalizer aggregate`")
    return document


def compare_opened(engine: Engine, given: OpenLedgers, options: Options, wanted: Contrast) -> dict[str, Any]:
    """Return the contrasts of opened ledgers, none where the key has fewer than two levels."""
    query = query_of(given, replace(options, by=wanted.by))
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        cells = GroupMeans.of(engine, given, query, options)
        # Instruments that are compared stand apart; those of anything else are mixed.
        apart = tuple(name for name in query.by if name != wanted.key or name not in INSTRUMENT)
        mixed = neighbours.find_mixed_instruments(engine, query, options.rules.condition(), apart)
    kinds = cells.found.kinds()
    options.rules.check_mixing(kinds, None)
    found = contrasts(query, cells, wanted, options.rules)
    return {
        "by": wanted.key,
        "paired_by": list(wanted.paired_by),
        "item": item_of(cells, wanted),
        "contrasts": found,
        "alpha": ALPHA,
        "assume": wanted.assume,
        "left_out": count_left_out(given, cells.found, options.rules),
        "records": cells.found.total(given),
        "rubric": query.rubric.name,
        "where": options.where,
        "rounding": ROUNDING,
        "diagnostic": options.rules.diagnostic,
        "flags": sorted([*options.rules.flags_of_all(kinds), *(["mixed_instruments"] if mixed else [])]),
    }


def contrasts(query: Query, cells: GroupMeans, wanted: Contrast, rules: Rules) -> list[dict[str, Any]]:
    """Return every pair of levels: the total first, then dimensions. Holm's correction covers each of these two."""
    blocks = _Blocks(query, cells, wanted, rules)
    measures = [
        ("total", -1),
        *((keys.dimension(name), place) for place, name in enumerate(query.rubric.dimensions)),
    ]
    tested: list[tuple[str, dict[str, Any], PairedTest | None]] = []
    for measure, place in measures:
        low, high = query.scale(place if place >= 0 else len(query.rubric.dimensions))
        for pair in combinations(blocks.levels, 2):
            found: dict[str, Any] = {"key": wanted.key, "levels": list(pair), "measure": measure}
            numbers, test = _contrast(blocks, pair, place, high - low, wanted.assume)
            tested.append((measure, {**found, **numbers}, test))
    for family in (True, False):
        members = [(found, test) for measure, found, test in tested if (measure == "total") is family]
        ps = [None if test is None else test.p for _, test in members]
        for (found, test), corrected in zip(members, holm(ps), strict=True):
            found["p_holm"] = None if corrected is None else round_exact(corrected)
            found["verdict"] = _verdict(test, corrected)
    return [found for _, found, _ in tested]


def _verdict(test: PairedTest | None, corrected: Fraction | None) -> str:
    """Return the verdict; its direction is that of the exact interval, since a printed difference may round to 0."""
    if test is None or corrected is None or corrected > ALPHA:
        return "undecided"
    return "higher" if test.interval[0] >= 0 else "lower"


def item_of(cells: GroupMeans, wanted: Contrast) -> str:
    """Return the key whose levels are items."""
    if wanted.item is not None:
        return wanted.item
    if "artifact" in wanted.paired_by:
        return "artifact"
    counts = [len({levels[1 + place] for levels in cells.groups}) for place in range(len(wanted.paired_by))]
    return wanted.paired_by[counts.index(max(counts))]


def pair_cells(cells: str, within: list[str], block: list[str]) -> str:
    """Return SQL for the pairs of cells that are compared: the levels `one` and `other`, and the columns `within`.

    `cells` has for each `level` within a block and a judge whether all its records are self-judged: `own`. Of a block
    all pairs count if a judge has both levels and judges itself in neither.
    """
    same = " AND ".join(f"a.{name} IS NOT DISTINCT FROM b.{name}" for name in within)
    own = "CASE WHEN a.own = 1 OR b.own = 1 THEN 1 ELSE 0 END"
    columns = ", ".join([*(f"a.{name}" for name in within), "a.level AS one", "b.level AS other", f"{own} AS own"])
    joined = f"SELECT {columns} FROM {cells} AS a JOIN {cells} AS b ON {same} AND a.level < b.level"
    least = f"MIN(own) OVER (PARTITION BY {', '.join([*block, 'one', 'other'])})"
    return f"SELECT * FROM (SELECT *, {least} AS least FROM ({joined}) AS p) AS q WHERE least = 0"


class _Blocks:
    """The cells of each block, by level and judge."""

    def __init__(self, query: Query, cells: GroupMeans, wanted: Contrast, rules: Rules) -> None:
        self.cells = cells
        self._rules = rules
        self.has_judges = len(query.by) > 1 + len(wanted.paired_by)
        self._item = wanted.paired_by.index(item_of(cells, wanted))
        self._blocks: dict[Levels, dict[str, dict[keys.Level, Levels]]] = defaultdict(lambda: defaultdict(dict))
        width = 1 + len(wanted.paired_by)
        for levels in cells.levels():
            if levels[0] is not None and levels in cells.groups:
                judge = levels[-1] if self.has_judges else None
                self._blocks[levels[1:width]][str(levels[0])][judge] = levels
        self.levels = sorted({level for block in self._blocks.values() for level in block})

    def pairs(self, pair: tuple[str, str]) -> Iterator[tuple[keys.Level, list[tuple[Levels, Levels]]]]:
        """Yield the item of each block that has a level of the pair, and the cells that are compared; none if a judge
        that does not judge itself has only one of the levels."""
        for block in sorted(self._blocks, key=keys.sort_key):
            one, other = (self._blocks[block].get(level, {}) for level in pair)
            if not one and not other:
                continue
            shared = sorted(one.keys() & other.keys(), key=str)
            cells = [(one[judge], other[judge]) for judge in shared]
            if all(self._is_own(first) or self._is_own(second) for first, second in cells):
                cells = []
            yield (None if block[self._item] == "" else block[self._item]), cells

    def _is_own(self, levels: Levels) -> bool:
        return bool(self._rules.only_self_judged(self.cells.found.valid[levels]))


def _contrast(
    blocks: _Blocks, pair: tuple[str, str], place: int, reach: Fraction, assume: str
) -> tuple[dict[str, Any], PairedTest | None]:
    gaps: list[Fraction] = []
    items: list[keys.Level] = []
    judged: list[JudgedValue] = []
    unpaired = 0
    for item, cells in blocks.pairs(pair):
        if not cells:
            unpaired += 1
            continue
        means = [[blocks.cells.groups[cell].mean(blocks.cells.denominator, place) for cell in both] for both in cells]
        # A block without an item is one of its own, as in `gather`.
        name = len(gaps) if item is None else (item,)
        gaps.append(mean_of([first - second for first, second in means]))
        items.append(item)
        judged += [
            JudgedValue(name, str(both[0][-1]), first - second)
            for both, (first, second) in zip(cells, means, strict=True)
            if blocks.has_judges
        ]
    found, tested = describe_differences(gaps, items, reach, "pair", assume)
    counts = {"n": len(gaps), "items": len(set(items) - {None}) + items.count(None), "unpaired": unpaired}
    found = {**counts, "difference": found.pop("mean"), **found, "ci95_over_judges": None, "p_holm": None}
    if tested is None:
        found["na"] = dict.fromkeys((name for name, value in found.items() if value is None), _NO_PAIR)
        return {**found, "verdict": "undecided"}, None
    these = None if found["ci95"] is None else tested.interval
    over = interval_over_judges(judged, (-reach, reach), these) if judged else None
    if over is None:
        found["na"]["ci95_over_judges"] = _NO_OTHERS
    else:
        found["ci95_over_judges"] = ends(over)
    return {**found, "verdict": "undecided"}, tested
