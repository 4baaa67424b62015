"""The preferences of ledgers: a document of `preferences.json`."""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.intervals import Method
from normalizer.documents.exact import ROUNDING
from normalizer.documents.recipes import Recipe
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import Check, check_records, opened_each
from normalizer.ledger.reader import Ledger
from normalizer.preferences.comparisons import Compared, Comparison, read_comparisons
from normalizer.preferences.lengths import length_bias
from normalizer.preferences.order_effects import order_effects
from normalizer.preferences.rates import RULE, rate
from normalizer.preferences.ratings import ratings
from normalizer.preferences.recipes import describe, score_pairs


@dataclass(frozen=True, slots=True)
class PreferenceOptions:
    """Options of `normalizer preferences`."""

    by: tuple[str, ...] = ()
    where: dict[str, keys.Level] = field(default_factory=dict)
    baseline: str | None = None
    recipe: Recipe | None = None
    rules: Rules = field(default_factory=Rules)
    method: Method = field(default_factory=lambda: Method(bootstrap=True))
    check: Check = check_records


def preferences(folders: tuple[Path, ...], asked: PreferenceOptions) -> dict[str, Any]:
    """Return the preferences document of ledgers of comparisons."""
    with opened_each(folders, asked.check) as ledgers:
        return preferences_of([ledgers[folder] for folder in folders], asked)


def preferences_of(ledgers: list[Ledger], asked: PreferenceOptions) -> dict[str, Any]:
    """Return rates, order effects, ratings and length bias of every group of opened ledgers of comparisons."""
    found = read_comparisons(ledgers, asked.by, asked.where, asked.rules)
    names = {name for group in found.groups.values() for one in group for name in (one.a, one.b)}
    if asked.baseline is not None and asked.baseline not in names:
        known = ", ".join(sorted(names)) or "none"
        raise CannotRun(f"no comparison is with {asked.baseline}: the generators are {known}")
    return {
        "by": list(asked.by),
        "baseline": asked.baseline,
        "recipe": None if asked.recipe is None else describe(asked.recipe),
        "groups": [_group(found, levels, asked) for levels in found.groups],
        "rule": RULE,
        "left_out": found.left_out,
        "records": found.records,
        "where": asked.where,
        "bootstrap": {"resamples": asked.method.resamples, "seed": asked.method.seed},
        "rounding": ROUNDING,
        "flags": found.flags,
    }


def _group(found: Compared, levels: tuple[keys.Level, ...], asked: PreferenceOptions) -> dict[str, Any]:
    group = found.groups[levels]
    met = _meetings(group)
    names = sorted({one for one, _ in met})
    pairs = [
        (one, other)
        for one, other in (
            combinations(names, 2) if asked.baseline is None else ((name, asked.baseline) for name in names)
        )
        if one != other and (one, other) in met
    ]
    scores = {} if asked.recipe is None else score_pairs(asked.recipe, {pair: met[pair] for pair in pairs})
    return {
        "key": dict(zip(asked.by, levels, strict=True)),
        "pairs": [_pair(met[pair], pair, scores.get(pair), asked.method) for pair in pairs],
        "overall": _overall(met, names, asked.method),
        "order": order_effects(group, asked.method),
        "ratings": ratings(group, asked.baseline),
    }


Meetings = dict[tuple[str, str], list[Comparison]]
"""The comparisons of every two generators, twice: turned so that the one is A, and so that the other is."""


def _meetings(group: list[Comparison]) -> Meetings:
    met: Meetings = defaultdict(list)
    for one in group:
        met[one.a, one.b].append(one)
        if one.a != one.b:
            met[one.b, one.a].append(one.turn())
    return met


def _overall(met: Meetings, names: list[str], method: Method) -> list[dict[str, Any]]:
    """Return the rate of each generator against all others; flagged where these are not the same for all of them."""
    others = {name: frozenset(b for a, b in met if a == name) | {name} for name in names}
    unlike = ["different_opponents"] if len(set(others.values())) > 1 else []
    rows = []
    for name in names:
        found = rate([one for (a, _), turned in met.items() if a == name for one in turned], method)
        rows.append({"generator": name, **found, "flags": sorted([*found["flags"], *unlike])})
    return rows


def _pair(
    turned: list[Comparison], names: tuple[str, str], score: dict[str, Any] | None, method: Method
) -> dict[str, Any]:
    found = {"a": names[0], "b": names[1], **rate(turned, method)}
    return {**found, "recipe": score, "length": length_bias(turned)}
