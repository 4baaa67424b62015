"""Invalid rates, bounds, contrasts, judge severity and leave-one-out. Makes `statistics.json`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from normalizer.aggregate import groups
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.query import Query
from normalizer.aggregate.summary import Options, left_out, opened_on_engine, query_of
from normalizer.aggregate.units import prepared
from normalizer.documents.exact import ROUNDING, rounded
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.statistics import rates
from normalizer.statistics.contrasts import GENERATORS, Contrast, cells_of, contrasts
from normalizer.statistics.group_means import GroupMeans
from normalizer.statistics.judge_scores import JudgeScores
from normalizer.statistics.self_judging import self_against_cross
from normalizer.statistics.severity import fit_judges, severity
from normalizer.statistics.signflip import RESAMPLES

MOST_LEVELS = 6
"""A key with more levels than this is compared only if it is asked for."""
_MOST_SHARED = 20_000
"""Generators that share more artifacts than this are compared only if it is asked for."""


def statistics(
    folders: tuple[Path, ...],
    options: Options,
    contrast: str | None = None,
    paired_by: tuple[str, ...] = (),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """Return the statistics of ledgers. The levels of the key `contrast` are compared on blocks of `paired_by`.

    Without `contrast`, generators are compared on the artifacts that they share.
    """
    with opened_on_engine(folders, options) as (engine, given):
        if contrast is None and _share_artifacts(engine, given, options):
            contrast, paired_by, _ = GENERATORS
        return statistics_of(engine, given, options, contrast, paired_by, seed, resamples)


def statistics_of(
    engine: Engine,
    given: OpenLedgers,
    options: Options,
    contrast: str | None = None,
    paired_by: tuple[str, ...] = (),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """Return the statistics of opened ledgers."""
    query = query_of(given, options)
    with prepared(engine, query, given, diagnostic=options.rules.diagnostic):
        headline = GroupMeans.of(engine, given, query, options)
        kinds = headline.found.kinds()
        options.rules.check_mixing(kinds, None)  # whatever the groups, judges are compared over all of them
        judges = _judges(engine, options)
        without = [_without(engine, query, options, headline, judge) for judge in judges]
    by_all = query_of(given, replace(options, by=rates.BY))
    with prepared(engine, by_all, given, diagnostic=options.rules.diagnostic):
        found = groups.find_groups(engine, by_all, given, options.where)
    ungrouped = query_of(given, replace(options, by=()))
    with prepared(engine, ungrouped, given, diagnostic=options.rules.diagnostic):
        alone = options.rules.only_self_judged(kinds)
        scores = JudgeScores(engine, ungrouped, options.rules.condition() + (" AND 1 = 0" if alone else ""))
        model = fit_judges(scores)
        severities = severity(scores, model)
        selves = self_against_cross(scores, model, seed, resamples)
    contrasted = []
    if contrast is not None:
        wanted = Contrast(contrast, paired_by)
        crossed, cells = cells_of(engine, given, options, wanted)
        contrasted = contrasts(crossed, cells, wanted, options.rules, seed, resamples)
    bounds = rates.bounds(engine, given, query, options, headline)
    return {
        "by": list(options.by),
        "unit": options.unit,
        "invalid_rates": rates.invalid_rates(found),
        "bounds": bounds,
        "paired_by": list(paired_by),
        "contrasts": contrasted,
        "severity": severities,
        "leave_one_judge_out": without,
        "self_against_cross": selves,
        "seed": seed,
        "resamples": resamples,
        "left_out": left_out(given, headline.found, options.rules),
        "records": headline.found.total(given),
        "rubric": query.rubric.name,
        "where": options.where,
        "rounding": ROUNDING,
        "diagnostic": options.rules.diagnostic,
        "flags": options.rules.flags_of_all(kinds),
    }


def _share_artifacts(engine: Engine, given: OpenLedgers, options: Options) -> bool:
    """Whether there are two to six generators, and artifacts of two of them, but not too many."""
    query = query_of(given, replace(options, by=()))
    with prepared(engine, query, given, diagnostic=options.rules.diagnostic):
        known = f"{options.rules.condition()} AND generator IS NOT NULL"
        [[count]] = engine.rows(f"SELECT COUNT(DISTINCT generator) FROM records WHERE {known}")
        shared = f"SELECT artifact FROM records WHERE {known} GROUP BY artifact HAVING COUNT(DISTINCT generator) > 1"
        [[artifacts]] = engine.rows(f"SELECT COUNT(*) FROM ({shared}) AS s")
    return 2 <= int(count) <= MOST_LEVELS and 0 < int(artifacts) <= _MOST_SHARED


def _judges(engine: Engine, options: Options) -> list[str]:
    text = f"SELECT DISTINCT judge FROM records WHERE {options.rules.condition()} AND judge IS NOT NULL"
    return sorted(row[0] for row in engine.rows(text))


def _without(engine: Engine, query: Query, options: Options, headline: GroupMeans, judge: str) -> dict[str, Any]:
    left = headline.without(judge, engine, query, options)
    rows = []
    for levels in headline.levels():
        before, after = headline.mean(levels, options.rules), left.mean(levels, options.rules)
        change = None if before is None or after is None else after - before
        kinds = left.found.valid.get(levels)
        why = "only_self_judged" if kinds and options.rules.only_self_judged(kinds) else "no_records"
        numbers = {"mean": after, "change": change}
        rows.append(
            {
                "key": dict(zip(query.by, levels, strict=True)),
                "n": left.group(levels, options.rules).n,
                **{name: None if value is None else rounded(value) for name, value in numbers.items()},
                "na": {name: why for name, value in numbers.items() if value is None},
            }
        )
    return {"judge": judge, "rows": rows}
