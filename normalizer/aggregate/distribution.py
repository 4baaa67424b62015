"""Distribution of the totals of a group's units: each value with its number of units."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

from normalizer.aggregate import groups, keys
from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.summary import Options, query_of
from normalizer.aggregate.units import Numbers, prepared
from normalizer.documents.exact import rounded
from normalizer.ledger.open_ledgers import OpenLedgers


def distribution(engine: Engine, given: OpenLedgers, options: Options) -> list[dict[str, Any]]:
    """Return one row per group, in the order of a summary: `key`, and `values` as pairs of total and units."""
    query = query_of(given, options)
    with prepared(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        found = groups.find_groups(engine, query, given, options.where)
        numbers = Numbers(engine, query, options.rules.condition(), options.unit)
        values: dict[Levels, list[tuple[Decimal, int]]] = defaultdict(list)
        for levels, value, count, _ in numbers.histogram("t"):
            if not options.rules.only_self_judged(found.valid[levels]):
                values[levels].append((rounded(Fraction(value, numbers.denominator)), count))
    return [
        {"key": dict(zip(query.by, levels, strict=True)), "values": sorted(values[levels])}
        for levels in sorted(found.valid, key=keys.sort_key)
    ]
