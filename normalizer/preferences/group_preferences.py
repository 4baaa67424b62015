"""The preferences of ledgers: a document of `preferences.json`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.recipes import Recipe
from normalizer.documents.exact import ROUNDING
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import Check, check_records, open_each
from normalizer.ledger.reader import Ledger
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.lengths import length_bias
from normalizer.preferences.rates import RULE, order_effects, rates
from normalizer.preferences.ratings import ratings
from normalizer.preferences.reading import MEMORY, read_on_engine
from normalizer.preferences.recipes import TurnedPairs, describe, score_pairs
from normalizer.preferences.verdicts import ComparisonGroup, Verdicts


@dataclass(frozen=True, slots=True)
class PreferenceOptions:
    """Options of `normalizer preferences`."""

    by: tuple[str, ...] = ()
    where: dict[str, keys.Level] = field(default_factory=dict)
    baseline: str | None = None
    recipe: Recipe | None = None
    rules: Rules = field(default_factory=Rules)
    method: Method = field(default_factory=lambda: Method(bootstrap=True))
    engine: str = "duckdb"
    memory: str = MEMORY
    check: Check = check_records


def preferences(folders: tuple[Path, ...], asked: PreferenceOptions) -> dict[str, Any]:
    """Return the preferences document of ledgers of comparisons."""
    with open_each(folders, asked.check) as ledgers:
        return preferences_of([ledgers[folder] for folder in folders], asked)


def preferences_of(ledgers: list[Ledger], asked: PreferenceOptions) -> dict[str, Any]:
    """Return rates, order effects, ratings and length bias of every group of opened ledgers of comparisons."""
    with read_on_engine(
        ledgers, asked.by, asked.where, asked.rules, engine=asked.engine, memory=asked.memory
    ) as reading:
        groups = reading.groups()
        one_by_one = reading.comparisons() if asked.recipe is not None else {}
    names = {name for group in groups.values() for name in group.names}
    if asked.baseline is not None and asked.baseline not in names:
        known = ", ".join(sorted(names)) or "none"
        raise CannotRun(f"no comparison is with {asked.baseline}: the generators are {known}")
    return {
        "by": list(asked.by),
        "baseline": asked.baseline,
        "recipe": None if asked.recipe is None else describe(asked.recipe),
        "groups": [
            {"key": dict(zip(asked.by, levels, strict=True)), **_group(group, one_by_one.get(levels, []), asked)}
            for levels, group in groups.items()
        ],
        "rule": RULE,
        "left_out": reading.left_out,
        "records": reading.records,
        "where": asked.where,
        "bootstrap": {"resamples": asked.method.resamples, "seed": asked.method.seed},
        "rounding": ROUNDING,
        "flags": reading.flags,
    }


def _group(group: ComparisonGroup, one_by_one: list[Comparison], asked: PreferenceOptions) -> dict[str, Any]:
    both, met = _face_each_other(group)
    baseline = None if asked.baseline not in group.names else group.names.index(asked.baseline)
    pairs = [(a, b) for a, b in met if (a < b if asked.baseline is None else b == baseline)]
    scores = {} if asked.recipe is None else _score(asked.recipe, one_by_one, [_name(group, pair) for pair in pairs])
    tables = [both.take(met[pair]) for pair in pairs]
    return {
        "pairs": [
            {
                "a": group.names[pair[0]],
                "b": group.names[pair[1]],
                **rate,
                "recipe": scores.get(_name(group, pair)),
                "length": length_bias(table),
            }
            for pair, table, rate in zip(pairs, tables, rates(tables, asked.method), strict=True)
        ],
        "overall": _overall(group, both, met, asked.method),
        "order": order_effects(group, asked.method),
        "ratings": ratings(group, asked.baseline),
    }


def _face_each_other(group: ComparisonGroup) -> tuple[Verdicts, dict[tuple[int, int], slice]]:
    """Return all comparisons twice, turned so that the one is A and so that the other is, and where each pair lies."""
    import numpy as np

    both = group.verdicts.join(group.verdicts.turn())
    code = both.a * len(group.names) + both.b
    order = np.argsort(code, kind="stable")
    codes, starts = np.unique(code[order], return_index=True)
    ends = [*starts[1:].tolist(), len(code)]
    met = {
        divmod(each, len(group.names)): slice(start, end)
        for each, start, end in zip(codes.tolist(), starts.tolist(), ends, strict=True)
    }
    return both.take(order), met


def _overall(
    group: ComparisonGroup, both: Verdicts, met: dict[tuple[int, int], slice], method: Method
) -> list[dict[str, Any]]:
    """Return the rate of each generator against all others; flagged where these are not the same for all of them."""
    others = {name: frozenset(b for a, b in met if a == name) | {name} for name in range(len(group.names))}
    unlike = ["different_opponents"] if len(set(others.values())) > 1 else []
    tables = [both.take(both.a == name) for name in others]
    return [
        {"generator": name, **found, "flags": sorted([*found["flags"], *unlike])}
        for name, found in zip(group.names, rates(tables, method), strict=True)
    ]


def _score(recipe: Recipe, comparisons: list[Comparison], pairs: list[tuple[str, str]]) -> dict[Any, dict[str, Any]]:
    """Return the scores of pairs by a recipe, from comparisons one by one."""
    turned: TurnedPairs = {pair: [] for pair in pairs}
    for one in comparisons:
        for seen in (one, one.turn()):
            if (seen.a, seen.b) in turned:
                turned[seen.a, seen.b].append(seen)
    return score_pairs(recipe, turned)


def _name(group: ComparisonGroup, pair: tuple[int, int]) -> tuple[str, str]:
    return group.names[pair[0]], group.names[pair[1]]
