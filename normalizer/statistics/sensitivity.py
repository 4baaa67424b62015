"""How far means depend on INVALID records, absent files and single judges. Makes `sensitivity.json`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from normalizer.aggregate import groups
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.query import Query
from normalizer.aggregate.summary import Options, open_on_engine, query_of, summarize
from normalizer.aggregate.units import prepare_records
from normalizer.documents.exact import round_exact
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.statistics import rates
from normalizer.statistics.group_means import GroupMeans


def aggregate_with_sensitivity(folders: tuple[Path, ...], options: Options) -> dict[str, Any]:
    """Return the summary of ledgers with the part `sensitivity`. Raises UnusableLedger or CannotRun."""
    with open_on_engine(folders, options) as (engine, given):
        return {**summarize(engine, given, options), "sensitivity": find_sensitivity(engine, given, options)}


def find_sensitivity(engine: Engine, given: OpenLedgers, options: Options) -> dict[str, Any]:
    """Return the invalid rates, the bounds of the means of groups, and these means without each judge."""
    query = query_of(given, options)
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        headline = GroupMeans.of(engine, given, query, options)
        options.rules.check_mixing(headline.found.kinds(), options.by)
        judges = _judges(engine, query, options)
        without = [_without(engine, query, options, headline, judge) for judge in judges]
    by_all = query_of(given, replace(options, by=rates.BY))
    with prepare_records(engine, by_all, given, diagnostic=options.rules.diagnostic) as by_all:
        found = groups.find_groups(engine, by_all, given, options.where)
    return {
        "invalid_rates": rates.invalid_rates(found),
        "bounds": rates.bounds(engine, given, query, options, headline),
        "leave_one_judge_out": without,
    }


def _judges(engine: Engine, query: Query, options: Options) -> list[str]:
    text = f"SELECT DISTINCT judge FROM {query.table} WHERE {options.rules.condition()} AND judge IS NOT NULL"
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
                **{name: None if value is None else round_exact(value) for name, value in numbers.items()},
                "na": {name: why for name, value in numbers.items() if value is None},
            }
        )
    return {"judge": judge, "rows": rows}
