"""Noise of the judges of ledgers, and a plan for the next study: a document of `plan.json`."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.aggregate import groups, keys
from normalizer.aggregate.artifact_names import refuse_doubtful_repeats
from normalizer.aggregate.summary import Options, count_left_out, open_on_engine, query_of
from normalizer.aggregate.units import prepare_records
from normalizer.documents.exact import ROUNDING, round_exact
from normalizer.errors import CannotRun
from normalizer.estimation.paired_test import SCALE
from normalizer.noise.components import components
from normalizer.noise.designs import cluster_effect, draw_curve, plan_items, plan_panels, tables_of
from normalizer.noise.sample_size import PowerTarget

_Labels = dict[tuple[str, str | None], list[Fraction]]
"""The labels of one judge by artifact and generator."""


def plan(
    folders: tuple[Path, ...],
    options: Options,
    wanted: PowerTarget | None,
    repeats: frozenset[str] = frozenset(),
    assume: str = SCALE,
) -> dict[str, Any]:
    """Return the noise of every judge on every measure; with `wanted`, the items that a study needs and its power, if
    its test assumes what `assume` says.

    Raises CannotRun where a judge has labels under several prompt versions, which is no noise, and where labels of one
    file differ in a factor that is not among `repeats`: these may be several answers; and where totals cannot differ by
    what `wanted` names.
    """
    options = replace(options, by=("judge_prompt_version",))
    with open_on_engine(folders, options) as (engine, given):
        query = query_of(given, options)
        with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
            found = groups.find_groups(engine, query, given, options.where)
            options.rules.check_mixing(found.kinds(), None)
            columns = ", ".join([*query.keys, "c", "artifact", "generator", "judge", *query.measures])
            condition = options.rules.condition()
            labelled = f"FROM {query.table} WHERE {condition} AND judge IS NOT NULL"
            rows = list(engine.rows(f"SELECT {columns} {labelled}"))
            named = f"SELECT artifact, generator, judge, factors {labelled} AND named IS NOT NULL"
            refuse_doubtful_repeats(engine.rows(named), repeats)
    names = [*query.rubric.dimensions, "total"]
    unit = 10**query.places
    judges: dict[str, list[_Labels]] = defaultdict(lambda: [defaultdict(list) for _ in names])
    prompts: dict[str, set[str | None]] = defaultdict(set)
    clusters: dict[str, str | None] = {}
    for prompt, cluster, artifact, generator, judge, *values in rows:
        prompts[judge].add(prompt)
        if clusters.setdefault(artifact, cluster) != cluster:
            raise CannotRun(
                f"records of the artifact {artifact} differ in {options.interval.cluster}: it is no cluster"
            )
        for place, value in enumerate(values):
            judges[judge][place][artifact, generator].append(Fraction(int(value), unit))
    _refuse_beyond(wanted, *query.scale(len(names) - 1))
    targets = [_on_scale(wanted, *query.scale(place), assume) for place in range(len(names))]
    results = []
    for judge in sorted(judges):
        if len(prompts[judge]) > 1:
            known = sorted(keys.level(prompt) for prompt in prompts[judge])
            raise CannotRun(
                f"{judge} was asked under the prompt versions {' and '.join(known[:5])}, and a change of prompt is no "
                f"noise: choose one with --where judge_prompt_version={known[-1]}"
            )
        for name, labels, asked in zip(names, judges[judge], targets, strict=True):
            result = {"judge": judge, "measure": name, **components(tables_of(labels))}
            result |= _plan(labels, clusters, asked, clustered=options.interval.cluster is not None)
            results.append(result)
    panels = [
        _plan_panel(name, place, judges, results, asked)
        for place, (name, asked) in enumerate(zip(names, targets, strict=True))
        if asked is not None
    ]
    return {
        "results": results,
        "panels": [panel for panel in panels if panel is not None],
        "detect": None if wanted is None else wanted.detect,
        "margin": None if wanted is None else wanted.margin,
        "assume": None if wanted is None else assume,
        "cluster": options.interval.cluster,
        "power": None if wanted is None else wanted.power,
        "alpha": None if wanted is None else wanted.alpha,
        "left_out": count_left_out(given, found, options.rules),
        "records": found.total(given),
        "rubric": query.rubric.name,
        "where": options.where,
        "rounding": ROUNDING,
        "flags": options.rules.flags_of_all(found.kinds()),
    }


def _on_scale(wanted: PowerTarget | None, low: Fraction, high: Fraction, assume: str) -> PowerTarget | None:
    """Return the target with the range of a measure's scale, which a test that assumes no spread reckons with; None
    where a measure cannot differ by so much."""
    if wanted is None or (low < high and _asks_nothing(wanted, high - low)):
        return None
    return wanted if assume != SCALE or low == high else replace(wanted, reach=float(high - low))


def _asks_nothing(wanted: PowerTarget, reach: Fraction) -> bool:
    """Whether every system would pass the margin, or none could differ by what is to be found."""
    return wanted.gap > reach or (wanted.margin is not None and wanted.gap == reach)


def _refuse_beyond(wanted: PowerTarget | None, low: Fraction, high: Fraction) -> None:
    """Raise CannotRun where the scale of totals makes the aim empty."""
    if wanted is None or not _asks_nothing(wanted, high - low):
        return
    most = f"totals can differ by {round_exact(high - low):f} at most; give a smaller one"
    if wanted.margin is not None:
        raise CannotRun(f"--margin {wanted.margin:g} lets everything pass: {most}")
    raise CannotRun(f"--detect {wanted.gap:g} never occurs: {most}")


def _plan(
    labels: _Labels, clusters: dict[str, str | None], wanted: PowerTarget | None, *, clustered: bool
) -> dict[str, Any]:
    """Return the items needed, the power at numbers of items, and what clusters do to both."""
    effect = cluster_effect(labels, clusters) if clustered else None
    times = Fraction(1) if effect is None else Fraction(effect["design_effect"])
    return {
        "clusters": effect,
        "plan": None if wanted is None else plan_items(labels, wanted, times),
        "curve": None if wanted is None else draw_curve(labels, wanted, times),
    }


def _plan_panel(
    name: str, place: int, judges: dict[str, list[_Labels]], results: list[dict[str, Any]], wanted: PowerTarget
) -> dict[str, Any] | None:
    effects = [row["clusters"]["design_effect"] for row in results if row["measure"] == name and row["clusters"]]
    largest = Fraction(max(effects, default=1))
    found = plan_panels([judges[judge][place] for judge in sorted(judges)], wanted, largest)
    return None if found is None else {"measure": name, **found}
