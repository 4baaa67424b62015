"""Noise of the judges of ledgers, and a plan for the next study: a document of `plan.json`."""

from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

from normalizer.aggregate import cell_names, groups
from normalizer.aggregate.artifact_names import refuse_doubtful_repeats
from normalizer.aggregate.summary import Options, left_out, opened_on_engine, query_of
from normalizer.aggregate.units import prepared
from normalizer.documents.exact import ROUNDING
from normalizer.errors import CannotRun
from normalizer.noise.components import components, variances
from normalizer.noise.sample_size import items_needed
from normalizer.statistics.spread import mean_of, variance_of

REPEATS = (1, 2, 3, 5)
_Labels = dict[tuple[str, str | None], list[Fraction]]
"""The labels of one judge by artifact and generator."""


@dataclass(frozen=True, slots=True)
class PowerTarget:
    """Options of a plan: the difference and power that the next study needs."""

    detect: float
    power: float = 0.8
    alpha: float = 0.05


def plan(
    folders: tuple[Path, ...], options: Options, wanted: PowerTarget | None, repeats: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The noise of every judge on every measure; with `wanted`, the items a study needs, by its repeats.

    Raises CannotRun where a judge has labels under several prompt versions, which is no noise, and where labels of one
    file differ in a factor that is not among `repeats`: these may be several answers.
    """
    options = replace(options, by=("judge_prompt_version",))
    with opened_on_engine(folders, options) as (engine, given):
        query = query_of(given, options)
        with prepared(engine, query, given, diagnostic=options.rules.diagnostic) as query:
            found = groups.find_groups(engine, query, given, options.where)
            options.rules.check_mixing(found.kinds(), None)
            columns = ", ".join([*query.keys, "artifact", "generator", "judge", *query.measures])
            condition = options.rules.condition()
            labelled = f"FROM {query.table} WHERE {condition} AND judge IS NOT NULL"
            rows = list(engine.rows(f"SELECT {columns} {labelled}"))
            whose = "artifact, generator, judge, named_factors"
            refuse_doubtful_repeats(engine.rows(f"SELECT DISTINCT {whose} {labelled} ORDER BY {whose}"), repeats)
    names = [*query.rubric.dimensions, "total"]
    unit = 10**query.places
    judges: dict[str, list[_Labels]] = defaultdict(lambda: [defaultdict(list) for _ in names])
    prompts: dict[str, set[str | None]] = defaultdict(set)
    for prompt, artifact, generator, judge, *values in rows:
        prompts[judge].add(prompt)
        for place, value in enumerate(values):
            judges[judge][place][artifact, generator].append(Fraction(int(value), unit))
    results = []
    for judge in sorted(judges):
        if len(prompts[judge]) > 1:
            known = sorted(cell_names.level(prompt) for prompt in prompts[judge])
            raise CannotRun(
                f"{judge} was asked under the prompt versions {' and '.join(known[:5])}, and a change of prompt is no "
                f"noise: choose one with --where judge_prompt_version={known[-1]}"
            )
        for name, labels in zip(names, judges[judge], strict=True):
            result = {"judge": judge, "measure": name, **components(_tables(labels))}
            result["plan"] = None if wanted is None else _planned(labels, wanted)
            results.append(result)
    return {
        "results": results,
        "detect": None if wanted is None else wanted.detect,
        "power": None if wanted is None else wanted.power,
        "alpha": None if wanted is None else wanted.alpha,
        "left_out": left_out(given, found, options.rules),
        "records": found.total(given),
        "rubric": query.rubric.name,
        "where": options.where,
        "rounding": ROUNDING,
        "flags": options.rules.flags_of_all(found.kinds()),
    }


def _tables(labels: _Labels) -> list[list[list[Fraction]]]:
    """Return the labels of each item, generator by generator."""
    generators = sorted({generator for _, generator in labels}, key=str)
    return [
        [sorted(labels[item]) for item in sorted(labels, key=lambda item: item[0]) if item[1] == generator]
        for generator in generators
    ]


def _planned(labels: _Labels, wanted: PowerTarget) -> list[dict[str, Any]] | None:
    """Items needed for each number of repeats, under three assumptions; None where no noise can be estimated."""
    found = variances(_tables(labels))
    if found is None:
        return None
    within, between, _ = found
    interaction = _interaction(labels, within)
    rows = []
    for repeats in REPEATS:
        noise = 2 * within / repeats
        deviations = {
            "paired_least": noise,
            "paired": None if interaction is None else noise + interaction,
            "unpaired": noise + 2 * between,
        }
        rows.append({"repeats": repeats, **{name: _items(square, wanted, name) for name, square in deviations.items()}})
    return rows


def _items(square: Fraction | None, wanted: PowerTarget, design: str) -> int | None:
    if square is None:
        return None
    groups = 2 if design == "unpaired" else 1
    return items_needed(wanted.detect, sqrt(square), wanted.power, wanted.alpha, groups=groups)


def _interaction(labels: _Labels, within: Fraction) -> Fraction | None:
    """The variance of true differences between generators on one artifact: that of the observed differences, less the
    judge's noise; the mean over pairs of generators. None where no two generators share three artifacts."""
    by_generator: dict[str | None, dict[str, list[Fraction]]] = defaultdict(dict)
    for (artifact, generator), values in labels.items():
        by_generator[generator][artifact] = values
    found = []
    for one, other in combinations(sorted(by_generator, key=str), 2):
        shared = sorted(by_generator[one].keys() & by_generator[other].keys())
        if len(shared) < 3:
            continue
        sides = [[by_generator[name][artifact] for artifact in shared] for name in (one, other)]
        gaps = [mean_of(x) - mean_of(y) for x, y in zip(*sides, strict=True)]
        noise = mean_of([within / len(x) + within / len(y) for x, y in zip(*sides, strict=True)])
        found.append(max(variance_of(gaps) - noise, Fraction(0)))
    return mean_of(found) if found else None
