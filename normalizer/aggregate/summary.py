"""The table: groups of eligible records with exact means, spreads and intervals. A document of `summary.json`."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.aggregate import intervals, keys, neighbours
from normalizer.aggregate.eligibility import Levels, Rules
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.groups import Found, find_groups
from normalizer.aggregate.query import Query
from normalizer.aggregate.recipes import Recipe, score_groups
from normalizer.aggregate.units import Group, Numbers, prepare_records
from normalizer.documents.exact import PLACES, ROUNDING, round_exact, round_root
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun
from normalizer.ledger import open_ledgers
from normalizer.ledger.open_ledgers import Check, OpenLedgers, check_records


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an aggregation."""

    by: tuple[str, ...] = ()
    unit: str = "artifact"
    where: dict[str, keys.Level] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    interval: intervals.Method = field(default_factory=intervals.Method)
    engine: str = "duckdb"
    memory: str = "1200MB"
    places: int = PLACES
    """Decimal places of the final rounding."""
    check: Check = check_records
    """The check of each ledger before its records are used; see `ledger.record_check`."""
    recipe: Recipe | None = None
    """The recipe of a further score."""


@contextmanager
def open_on_engine(folders: tuple[Path, ...], options: Options) -> Iterator[tuple[Engine, OpenLedgers]]:
    """Open ledgers, check their records, and start the engine that the options name."""
    with (
        open_ledgers.open_as_one(folders, options.check) as given,
        start_engine(options.engine, options.memory, given.size) as engine,
    ):
        yield engine, given


def aggregate(folders: tuple[Path, ...], options: Options) -> dict[str, Any]:
    """Return the summary of ledgers. Raises UnusableLedger or CannotRun."""
    with open_on_engine(folders, options) as (engine, given):
        return summarize(engine, given, options)


def summarize(engine: Engine, given: OpenLedgers, options: Options) -> dict[str, Any]:
    """Return the summary of opened ledgers. The total is of the dimensions that are not optional; each of the others
    has numbers of its own, over the records that have it."""
    rubric = select_rubric(given, options)
    if keys.DIMENSION in options.where or not rubric.optional:
        return _summarize(engine, given, options, query_of(given, options))
    total = rubric.narrow(None)
    summary = _summarize(engine, given, options, _query(total, options))
    none = _moments(Group(), 0, 1, None, options.places)
    apart = {}
    for name in rubric.optional:
        alone = summarize(engine, given, replace(options, where={**options.where, keys.DIMENSION: name}, recipe=None))
        apart[name] = {tuple(row["key"].values()): {**row["total"], "n": row["n"]} for row in alone["rows"]}
    for row in summary["rows"]:
        if not total.dimensions:
            flags = [flag for flag in row["flags"] if flag not in ("one_value_scale", "no_spread")]
            row |= {"total": none, "at_min": 0, "at_max": 0, "flags": flags}
        levels = tuple(row["key"].values())
        own = {name: found.get(levels, {**none, "n": 0}) for name, found in apart.items()}
        row["dimensions"] = {name: own.get(name) or row["dimensions"][name] for name in rubric.dimensions}
    return summary


def _summarize(engine: Engine, given: OpenLedgers, options: Options, query: Query) -> dict[str, Any]:
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        found = find_groups(engine, query, given, options.where)
        options.rules.check_mixing(found.kinds(), options.by)
        numbers = Numbers(engine, query, options.rules.condition(), options.unit)
        groups = numbers.groups()
        spreads = intervals.intervals(numbers, groups, options.interval)
        eligible = options.rules.condition()
        shown = {levels for levels in groups if not options.rules.only_self_judged(found.valid[levels])}
        differing = {
            "different_artifacts": neighbours.different_artifacts(engine, query, eligible),
            "mixed_instruments": neighbours.find_mixed_instruments(engine, query, eligible),
            "different_judges": neighbours.different_judges(engine, query, eligible, shown),
        }
    scores = {}
    if options.recipe is not None:
        by_item = query_of(given, replace(options, by=(*options.by, *keys.PAIRING)))
        scores = score_groups(engine, given, by_item, options, options.recipe)
    rows = []
    has_one_value = any(low == high for low, high in map(query.scale, range(len(query.measures))))
    for levels in sorted(found.valid, key=keys.sort_key):
        kinds = found.valid[levels]
        flags = options.rules.flags(kinds, invalid=found.invalid[levels] > 0)
        counts = not options.rules.only_self_judged(kinds)
        group = groups.get(levels, Group()) if counts else Group()
        if group.n and levels in found.partial:
            flags.append("partial")
        if group.n == 1:
            flags.append("one_unit")
        if group.n > 1 and spreads.items[levels] == 1:
            flags.append("one_item")
        if group.n > 1 and spreads.items[levels] > 1 and None in spreads.found[levels]:
            flags.append("one_value_scale" if has_one_value else "no_spread")
        flags += [flag for flag, among in differing.items() if group.n and levels in among]
        row = _row(query, levels, group, numbers.denominator, spreads, flags, options.places)
        rows.append({**row, "recipe": scores.get(levels) if group.n else None} if options.recipe else row)
    low, high = query.rubric.bounds()
    return {
        "by": list(options.by),
        "unit": options.unit,
        "rows": rows,
        "left_out": count_left_out(given, found, options.rules),
        "records": found.total(given),
        "rubric": query.rubric.name,
        "scale": [round_exact(Fraction(low), 12), round_exact(Fraction(high), 12)],
        "where": options.where,
        "interval": options.interval.document(),
        "rounding": {**ROUNDING, "places": options.places},
        "diagnostic": options.rules.diagnostic,
        **({} if options.recipe is None else {"recipe": options.recipe.describe()}),
    }


def distribution(engine: Engine, given: OpenLedgers, options: Options) -> list[dict[str, Any]]:
    """Return one row per group, in the order of a summary: `key`, and `values` as pairs of total and units."""
    query = query_of(given, options)
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        found = find_groups(engine, query, given, options.where)
        numbers = Numbers(engine, query, options.rules.condition(), options.unit)
        values: dict[Levels, list[tuple[Decimal, int]]] = defaultdict(list)
        for levels, value, count, _ in numbers.histogram("t"):
            if not options.rules.only_self_judged(found.valid[levels]):
                values[levels].append((round_exact(Fraction(value, numbers.denominator)), count))
    return [
        {"key": dict(zip(query.by, levels, strict=True)), "values": sorted(values[levels])}
        for levels in sorted(found.valid, key=keys.sort_key)
    ]


def query_of(given: OpenLedgers, options: Options) -> Query:
    """Return the query for the options. Raises CannotRun where they leave no dimension of the rubric."""
    rubric = select_rubric(given, options)
    dimension = options.where.get(keys.DIMENSION)
    names = ", ".join(rubric.dimensions)
    if dimension is not None and dimension not in rubric.dimensions:
        raise CannotRun(f"{rubric.name} has no dimension {dimension}: there are {names}")
    narrowed = rubric.narrow(None if dimension is None else str(dimension))
    if not narrowed.dimensions:
        raise CannotRun(
            f"every dimension of {rubric.name} is optional, so that there is no total: "
            f"choose one with --where {keys.DIMENSION}=NAME, of {names}"
        )
    return _query(narrowed, options)


def select_rubric(given: OpenLedgers, options: Options) -> Rubric:
    """Return the rubric that the options name, or else the only one, with all its dimensions."""
    named = options.where.get("rubric")
    return given.rubric(named if isinstance(named, str) else None)


def _query(rubric: Rubric, options: Options) -> Query:
    return Query(rubric, options.by, options.where, options.interval.cluster)


def count_left_out(given: OpenLedgers, found: Found, rules: Rules) -> dict[str, int]:
    """Count the records that are not part of any number, by reason."""
    counted = Counter({"diagnostic": 0, "off_scale": 0, "self_judged": 0})
    for kinds in found.valid.values():
        counted.update(rules.count_left_out(kinds))
    # Only if there are any: most studies have model judges only.
    other = {"other_judge_kind": counted.pop("other_judge_kind")} if counted["other_judge_kind"] else {}
    counted.pop("other_judge_kind", None)
    return {
        "not_selected": found.not_selected,
        "duplicate": given.duplicates,
        "invalid": found.invalid.total(),
        **counted,
        **other,
        "unreadable_bundles": given.unreadable,
        "files_without_entry": given.without_entry,
    }


def _row(
    query: Query,
    levels: Levels,
    group: Group,
    denominator: int,
    spreads: intervals.Intervals,
    flags: list[str],
    places: int,
) -> dict[str, Any]:
    moments = [
        _moments(group, place, denominator, spreads.of(levels, place), places) for place in range(len(query.measures))
    ]
    return {
        "key": dict(zip(query.by, levels, strict=True)),
        "n": group.n,
        "n_items": spreads.items.get(levels, 0) if group.n else 0,
        "n_records": group.records,
        "n_judges": group.judges,
        "total": moments[-1],
        "dimensions": dict(zip(query.rubric.dimensions, moments, strict=False)),
        "at_min": group.at_min,
        "at_max": group.at_max,
        "flags": sorted(flags),
    }


def _moments(
    group: Group, place: int, denominator: int, interval: tuple[Fraction, Fraction] | None, places: int
) -> dict[str, Decimal | list[Decimal] | None]:
    if not group.n:
        return {"mean": None, "sd": None, "min": None, "max": None, "ci95": None}
    sums = group.sums[place]
    least, most = (Fraction(end or 0, denominator) for end in (sums.least, sums.most))
    return {
        "mean": round_exact(Fraction(sums.total, group.n * denominator), places),
        "sd": round_root(intervals.variance(group.n, sums.total, sums.squares, denominator), places)
        if group.n > 1
        else None,
        "min": round_exact(least, places),
        "max": round_exact(most, places),
        "ci95": [round_exact(end, places) for end in interval] if interval is not None else None,
    }
