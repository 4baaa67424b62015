"""Rates of INVALID records, and bounds on the means had these records been valid."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from normalizer.aggregate import groups, keys, restated_scores
from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.groups import Found
from normalizer.aggregate.intervals import rate_interval
from normalizer.aggregate.query import Query
from normalizer.aggregate.summary import Options
from normalizer.aggregate.units import prepare_records, read_exactly
from normalizer.documents.exact import round_exact
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.statistics.group_means import GroupMeans
from normalizer.statistics.spread import ends

BY = ("judge_model", "generator_model", "phase")


def rate_with_interval(count: int, records: int) -> tuple[Decimal, list[Decimal]]:
    """Return the share of a count and its 95 % interval, Clopper and Pearson's, both rounded."""
    share = Fraction(count, records)
    return round_exact(share), ends(rate_interval(share, records))


def invalid_rates(found: Found) -> dict[str, Any]:
    """Return the rates by judge, by generator and by phase, from counts grouped by all three."""
    rates: dict[str, Any] = {}
    for place, key in enumerate(BY):
        records: Counter[keys.Level] = Counter()
        invalid: Counter[keys.Level] = Counter()
        for levels, kinds in found.valid.items():
            records[levels[place]] += kinds.total()
        for levels, count in found.invalid.items():
            records[levels[place]] += count
            invalid[levels[place]] += count
        rates[key] = []
        for level in sorted(+records, key=lambda level: keys.sort_key((level,))):
            rate, interval = rate_with_interval(invalid[level], records[level])
            counts = {"level": level, "records": records[level], "invalid": invalid[level]}
            rates[key].append({**counts, "rate": rate, "exact95": interval, "na": {}})
    return rates


def bounds(
    engine: Engine, given: OpenLedgers, query: Query, options: Options, headline: GroupMeans
) -> list[dict[str, Any]]:
    """Return the mean total of each group, and its bounds with every INVALID record of an admitted phase, and every
    file of a manifest that has no entry, at one end of the scale. One whose phase cannot be read counts as
    diagnostic."""
    ends_of: dict[str, GroupMeans] = {}
    absent = groups.absent_files(given)
    with TemporaryDirectory(prefix="normalizer-") as scratch:
        for end in ("minimum", "maximum"):
            hidden = chain(given.invalid(), map(_as_record, absent))
            chosen = (record for record in hidden if groups.is_selected(record, options.where))
            lines = restated_scores.at_end(
                chosen, query.rubric, end, worths=read_exactly(query, given, diagnostic=options.rules.diagnostic)
            )
            extra = restated_scores.write_lines(lines, Path(scratch) / f"{end}.jsonl")
            with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic, extra=extra) as bounded:
                ends_of[f"at_{end}"] = GroupMeans.of(engine, given, bounded, options)
    lacking = Counter(
        tuple(keys.level_in(file, name) for name in query.by)
        for file in absent
        if groups.is_selected(file, options.where) and options.rules.admits_phase(keys.level_in(file, "phase"))
    )
    return [_bound(levels, query, options, headline, ends_of, lacking[levels]) for levels in headline.levels()]


def _as_record(file: dict[str, Any]) -> dict[str, Any]:
    """Return a file without an entry as an INVALID record, which bounds put at an end of the scale."""
    return {**file, "source": {"bundle_sha256": ""}, "record_id": f"file {file['file']}"}


def _bound(
    levels: Levels, query: Query, options: Options, headline: GroupMeans, ends_of: dict[str, GroupMeans], absent: int
) -> dict[str, Any]:
    kinds = headline.found.valid[levels]
    with_all = ends_of["at_minimum"].found.valid[levels]
    means = {"mean": headline.mean(levels, options.rules)}
    means |= {name: end.mean(levels, options.rules) for name, end in ends_of.items()}
    if means["mean"] is None:
        means = dict.fromkeys(means)  # what is no number has no bounds
    hidden = sum(count - kinds[kind] for kind, count in with_all.items() if options.rules.admits(kind))
    why = "only_self_judged" if options.rules.only_self_judged(kinds) else "no_records"
    return {
        "key": dict(zip(query.by, levels, strict=True)),
        "mean": None if means["mean"] is None else round_exact(means["mean"]),
        "n": headline.group(levels, options.rules).n,
        "invalid": hidden - absent,
        "absent": absent,
        **{name: None if mean is None else round_exact(mean) for name, mean in means.items() if name != "mean"},
        "na": {name: why for name, mean in means.items() if mean is None},
    }
