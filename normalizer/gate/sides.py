"""The two sides of a gate: labels of each artifact by judge, and whether the sides can be compared."""

from dataclasses import replace
from typing import NamedTuple

from normalizer.aggregate import cell_names, groups, keys
from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.summary import Options, left_out, query_of
from normalizer.aggregate.units import prepared
from normalizer.calibration.labels import Values, labels
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import OpenLedgers

MUST_AGREE = ("phase", "judge_model", "judge_prompt_version", "protocol_version")
"""Keys whose levels must be the same on both sides."""


class Side(NamedTuple):
    """One ledger, read for a gate."""

    name: str
    artifacts: dict[tuple[str, Levels], dict[str, Values]]
    """Values by judge, by artifact and levels of the keys asked for."""
    found: dict[str, set[keys.Level]]
    """The levels of each key that must agree."""
    rubric: Rubric | None
    """None for comparisons."""
    left_out: dict[str, int]
    records: int


def read(name: str, engine: Engine, given: OpenLedgers, options: Options) -> Side:
    """Read one side. Raises CannotRun where it has several generators for one artifact, or nothing that counts."""
    extended = replace(options, by=(*options.by, *MUST_AGREE))
    query = query_of(given, extended)
    with prepared(engine, query, given, diagnostic=options.rules.diagnostic):
        counted = groups.find_groups(engine, query, given, options.where)
        options.rules.check_mixing(counted.kinds(), options.by)
        if options.rules.only_self_judged(counted.kinds()):
            raise CannotRun(f"all records of {name} are self-judged, which must not be the sole basis of a verdict")
        judged = labels(engine, query, options.rules.condition(), len(options.by))
    out = left_out(given, counted, options.rules)
    width = len(options.by)
    admitted = [levels for levels, kinds in counted.valid.items() if any(options.rules.admits(kind) for kind in kinds)]
    levels_of = {key: {levels[width + place] for levels in admitted} for place, key in enumerate(MUST_AGREE)}
    owner: dict[str, str | None] = {}
    for artifact, generator in judged.by_item:
        if owner.setdefault(artifact, generator) != generator:
            names = " and ".join(sorted({cell_names.level(generator), cell_names.level(owner[artifact])}))
            raise CannotRun(
                f"{name} has artifact {artifact} of {names}: choose one with --{name}-where generator_model=NAME"
            )
    artifacts = {
        (artifact, levels): values
        for levels, items in judged.by_group.items()
        for (artifact, _), values in items.items()
    }
    if not artifacts:
        raise CannotRun(f"{name} has no record that counts: see `normalizer audit {given.parts[0].ledger.folder}`")
    return Side(name, artifacts, levels_of, query.rubric, out, counted.total(given))


def check_comparable(base: Side, candidate: Side, mix: frozenset[str]) -> list[str]:
    """The keys that differ and that `mix` lets pass. Raises CannotRun where a difference is not let pass."""
    if base.rubric and candidate.rubric and base.rubric != candidate.rubric:
        raise CannotRun(
            f"base is scored by the rubric {base.rubric.name} and candidate by another {candidate.rubric.name}: "
            "judge both by one rubric"
        )
    differing = []
    for key in base.found:
        one, other = base.found[key], candidate.found[key]
        if one == other:
            continue
        if key in mix:
            differing.append(key)
            continue
        shared = sorted(str(level) for level in one & other if level is not None)
        remedy = f"choose one that both have with --where {key}={shared[0]}" if shared else "judge both the same way"
        raise CannotRun(
            f"{key} is {_listed(one)} in base and {_listed(other)} in candidate, so that a difference could be the "
            f"judging's: {remedy}, or let it pass with --mix {key}"
        )
    return differing


def _listed(levels: set[keys.Level]) -> str:
    return " and ".join(sorted(cell_names.level(level) for level in levels))
