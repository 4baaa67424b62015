"""Rows beside each other whose means cannot be compared: they are of different artifacts, or by different judges."""

from collections import defaultdict
from collections.abc import Collection

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.keys import DESIGN_KEYS, FACTOR, INSTRUMENT, Level
from normalizer.aggregate.query import Query


def different_artifacts(engine: Engine, query: Query, eligible: str) -> set[Levels]:
    """Return the groups whose generators or judges have other artifacts than those they stand beside."""
    apart = tuple(name for name in query.by if name in DESIGN_KEYS)
    if not apart:
        return set()
    return _fewer(engine, query, eligible, ("artifact",), apart)


def different_judges(engine: Engine, query: Query, eligible: str, shown: Collection[Levels]) -> set[Levels]:
    """Return the groups, of those shown, whose generators or factors have other judges than those they stand beside.

    Judges are the same if each of them has all artifacts, or if each artifact has the same judges in every row.
    """
    apart = tuple(name for name in query.by if name == "generator_model" or name.startswith(FACTOR))
    if not apart:
        return set()
    judges: dict[Levels, set[Level]] = defaultdict(set)
    for *levels, judge in engine.rows(query.distinct(eligible, ("judge",))):
        if tuple(levels) in shown:
            judges[tuple(levels)].add(judge)
    mixed = [group for group in _beside(query, judges, apart) if len(set.union(*(judges[each] for each in group))) > 1]
    if not mixed:
        return set()
    artifacts = _count(engine, query, eligible, ("artifact",))
    pairs = _count(engine, query, eligible, ("artifact", "judge"))
    fewer = _fewer(engine, query, eligible, ("artifact", "judge"), apart)
    differing: set[Levels] = set()
    for group in mixed:
        every = set.union(*(judges[levels] for levels in group))
        if any(pairs[levels] < artifacts[levels] * len(every) for levels in group):
            differing |= fewer.intersection(group)
    return differing


def find_mixed_instruments(engine: Engine, query: Query, eligible: str, apart: tuple[str, ...] = ()) -> set[Levels]:
    """Return the groups, put together over the keys `apart`, in which one judge has different prompts or settings."""
    judges = _count(engine, query, eligible, ("judge",), apart)
    instruments = _count(engine, query, eligible, ("judge", *INSTRUMENT), apart)
    return {levels for levels, count in instruments.items() if count > judges[levels]}


def _fewer(
    engine: Engine, query: Query, eligible: str, columns: tuple[str, ...], apart: tuple[str, ...]
) -> set[Levels]:
    """Return the groups that stand beside one which lacks values of these columns that another has."""
    together = _count(engine, query, eligible, columns, apart)
    own = _count(engine, query, eligible, columns)
    kept = _select_columns(query, apart)
    return {
        levels
        for group in _beside(query, own, apart)
        if any(own[levels] < together[tuple(levels[place] for place in kept)] for levels in group)
        for levels in group
    }


def _count(
    engine: Engine, query: Query, eligible: str, columns: tuple[str, ...], apart: tuple[str, ...] = ()
) -> dict[Levels, int]:
    rows = engine.rows(query.count_distinct(eligible, columns, apart))
    return {tuple(row[:-1]): int(row[-1]) for row in rows}


def _beside(query: Query, groups: Collection[Levels], apart: tuple[str, ...]) -> list[list[Levels]]:
    """Return the groups that differ only in the keys `apart`, together."""
    beside: dict[Levels, list[Levels]] = defaultdict(list)
    for levels in groups:
        beside[tuple(levels[place] for place in _select_columns(query, apart))].append(levels)
    return list(beside.values())


def _select_columns(query: Query, apart: tuple[str, ...]) -> list[int]:
    return [place for place, name in enumerate(query.by) if name not in apart]
