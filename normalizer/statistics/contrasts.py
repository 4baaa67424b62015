"""Paired contrasts: two levels of a key, compared on blocks that agree in the other keys, judge by judge.

In each block a judge's score of one level is compared with the same judge's score of the other, and the differences of
the judges are averaged: who judged which level cannot make a difference. Blocks of one item are one cluster; the item
is the artifact, or of the keys that pairs agree in the one with the most levels, unless it is named. Interval and p are
of one test, see `estimation.paired_test`.
"""

from dataclasses import replace
from fractions import Fraction
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate import groups, keys, neighbours
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.keys import INSTRUMENT
from normalizer.aggregate.paired_cells import LevelDifferences, LevelPairs, PairedCells
from normalizer.aggregate.query import Query
from normalizer.aggregate.summary import Options, count_left_out, open_on_engine, query_of
from normalizer.aggregate.units import prepare_records
from normalizer.documents.exact import ROUNDING, round_exact
from normalizer.errors import CannotRun
from normalizer.estimation.over_judges import interval_over_judges
from normalizer.estimation.paired_test import SCALE, PairedTest
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.statistics.signflip import holm
from normalizer.statistics.spread import describe_counts, ends

JUDGE = "judge_model"
_ARTIFACT = "artifact"
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

    def place_item(self, cells: PairedCells) -> int:
        """Return the place among the keys of blocks of the one whose levels are items."""
        if self.item is not None:
            return self.paired_by.index(self.item)
        return self.paired_by.index(_ARTIFACT) if _ARTIFACT in self.paired_by else cells.find_widest()


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
        found = groups.find_whole(engine, query, given, options.where)
        kinds = found.kinds()
        options.rules.check_mixing(kinds, None)
        cells = PairedCells(engine, query, options.rules.condition(), len(wanted.paired_by))
        item = wanted.place_item(cells)
        compared = cells.compare(item)
        left_out = {**count_left_out(given, found, options.rules), "self_judged": cells.count_self_judged()}
        # Instruments that are compared stand apart; those of anything else are mixed.
        apart = tuple(name for name in query.by if name != wanted.key or name not in INSTRUMENT)
        mixed = neighbours.find_mixed_instruments(engine, query, options.rules.condition(), apart)
    return {
        "by": wanted.key,
        "paired_by": list(wanted.paired_by),
        "item": wanted.paired_by[item],
        "contrasts": contrasts(query, compared, wanted),
        "alpha": ALPHA,
        "assume": wanted.assume,
        "left_out": left_out,
        "records": found.total(given),
        "rubric": query.rubric.name,
        "where": options.where,
        "rounding": ROUNDING,
        "diagnostic": options.rules.diagnostic,
        "flags": sorted([*options.rules.flags_of_all(kinds), *(["mixed_instruments"] if mixed else [])]),
    }


def contrasts(query: Query, compared: LevelPairs, wanted: Contrast) -> list[dict[str, Any]]:
    """Return every pair of levels: the total first, then dimensions. Holm's correction covers each of these two."""
    measures = [
        ("total", -1),
        *((keys.dimension(name), place) for place, name in enumerate(query.rubric.dimensions)),
    ]
    tested: list[tuple[str, dict[str, Any], PairedTest | None]] = []
    for measure, place in measures:
        low, high = query.scale(place if place >= 0 else len(query.rubric.dimensions))
        for pair, each in sorted(compared.items(), key=itemgetter(0)):
            found: dict[str, Any] = {"key": wanted.key, "levels": list(pair), "measure": measure}
            numbers, test = _contrast(each.measures[place], each.unpaired, high - low, wanted.assume)
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


def _contrast(
    differences: LevelDifferences, unpaired: int, reach: Fraction, assume: str
) -> tuple[dict[str, Any], PairedTest | None]:
    blocks, items, panels = differences.blocks, differences.items, differences.panels
    found, tested = describe_counts(blocks, items, reach, "pair", assume)
    counts = {"n": blocks.total(), "items": items.clusters, "unpaired": unpaired}
    found = {**counts, "difference": found.pop("mean"), **found, "ci95_over_judges": None, "p_holm": None}
    if tested is None:
        found["na"] = dict.fromkeys((name for name, value in found.items() if value is None), _NO_PAIR)
        return {**found, "verdict": "undecided"}, None
    these = None if found["ci95"] is None else tested.interval
    over = interval_over_judges(panels, (-reach, reach), these) if panels.items else None
    if over is None:
        found["na"]["ci95_over_judges"] = _NO_OTHERS
    else:
        found["ci95_over_judges"] = ends(over)
    return {**found, "verdict": "undecided"}, tested
