"""The two sides of a gate: labels of each artifact by judge, and whether the sides can be compared."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from normalizer.aggregate import groups, keys
from normalizer.aggregate.artifact_names import refuse_shared_names
from normalizer.aggregate.eligibility import Kind, Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.query import Query
from normalizer.aggregate.summary import Options, count_left_out, query_of
from normalizer.aggregate.units import prepare_records
from normalizer.calibration.labels import Values, labels
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.ledger.reader import Ledger
from normalizer.preferences.comparisons import DECIDED, Compared, turn_to
from normalizer.preferences.reading import read_comparisons
from normalizer.statistics.spread import mean_of

MUST_AGREE = ("phase", "judge_model", *keys.INSTRUMENT, "protocol_version")
"""Keys whose levels must be the same on both sides."""
MEASURE = "rate"
"""The one measure of comparisons: the rate of the side's generator against the baseline, a draw being half a win."""
_OF_COMPARISONS = (*MUST_AGREE, "criterion")


class Side(NamedTuple):
    """One ledger, read for a gate."""

    name: str
    artifacts: dict[tuple[str, Levels], dict[str, Values]]
    """Values by judge, by artifact and levels of the keys asked for."""
    own: frozenset[tuple[str, str]]
    """Artifacts and judges whose records are all self-judged."""
    items: dict[str, str]
    """The item of each artifact that has one, by the key that `--cluster` names."""
    found: dict[str, set[keys.Level]]
    """The levels of each key that must agree."""
    rubric: Rubric | None
    """None for comparisons."""
    left_out: dict[str, int]
    records: int

    def scale(self, measure: str) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest value of a measure."""
        if self.rubric is None:
            return Fraction(0), Fraction(1)
        if measure == "total":
            low, high = self.rubric.bounds()
            return Fraction(low), Fraction(high)
        scale = self.rubric.dimensions[measure].scale
        return Fraction(scale.minimum), Fraction(scale.maximum)


def read_scores(name: str, engine: Engine, given: OpenLedgers, options: Options) -> Side:
    """Read one side. Raises CannotRun where it has several generators for one artifact, or nothing that counts."""
    extended = replace(options, by=(*options.by, *MUST_AGREE))
    query = query_of(given, extended)
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        counted = groups.find_groups(engine, query, given, options.where)
        options.rules.check_mixing(counted.kinds(), options.by)
        _refuse_self_judged(name, counted, options)
        table = engine.table("judged", query.select_judged(options.rules.condition()))
        judged = labels(engine, query, table, len(options.by))
        refuse_shared_names(engine, query, query.find_differing_names(table), options.rules.condition())
        self_judged = frozenset((artifact, judge) for (artifact, _), judge in judged.own)
        items = _items(engine, query, table)
    out = count_left_out(given, counted, options.rules)
    width = len(options.by)
    admitted = [levels for levels, kinds in counted.valid.items() if any(options.rules.admits(kind) for kind in kinds)]
    levels_of = {key: {levels[width + place] for levels in admitted} for place, key in enumerate(MUST_AGREE)}
    owner: dict[str, str | None] = {}
    for artifact, generator in judged.by_item:
        if owner.setdefault(artifact, generator) != generator:
            names = " and ".join(sorted({keys.level(generator), keys.level(owner[artifact])}))
            raise CannotRun(
                f"{name} has artifact {artifact} of {names}: choose one with --{name}-where generator_model=NAME"
            )
    artifacts = {
        (artifact, levels): values
        for levels, items in judged.by_group.items()
        for (artifact, _), values in items.items()
    }
    if not artifacts:
        told = ", ".join(f"{count} {reason}" for reason, count in out.items() if count) or "no record at all"
        raise CannotRun(
            f"{name} has no record that counts: {told}; `normalizer audit LEDGER` says why, of a file after "
            f"`normalizer normalize`"
        )
    return Side(name, artifacts, self_judged, items, levels_of, query.rubric, out, counted.total(given))


def _refuse_self_judged(name: str, counted: groups.Found, options: Options) -> None:
    """Raise CannotRun if a group of the keys asked for has nothing but self-judged records."""
    width = len(options.by)
    of_groups: dict[Levels, Counter[Kind]] = defaultdict(Counter)
    for levels, kinds in counted.valid.items():
        of_groups[levels[:width]].update(kinds)
    for levels in sorted(of_groups, key=keys.sort_key):
        if options.rules.only_self_judged(of_groups[levels]):
            named = ", ".join(f"{key} = {keys.level(level)}" for key, level in zip(options.by, levels, strict=True))
            raise CannotRun(
                f"all records of {name}{f' with {named}' if named else ''} are self-judged, which must not be the sole "
                "basis of a verdict"
            )


def _items(engine: Engine, query: Query, judged: str) -> dict[str, str]:
    """Return the item of each artifact. Raises CannotRun if the records of an artifact differ in it."""
    found: dict[str, str] = {}
    if query.cluster is None:
        return found
    for artifact, least, most in engine.rows(f"SELECT artifact, MIN(c), MAX(c2) FROM {judged} GROUP BY artifact"):
        if least != most:
            raise CannotRun(f"records of artifact {artifact} differ in {query.cluster}: an item has one level of it")
        if least is not None:
            found[artifact] = str(least)
    return found


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
            f"{key} is {_join_levels(one)} in base and {_join_levels(other)} in candidate, so that a difference could "
            f"be the judging's: {remedy}, or let it pass with --mix {key}"
        )
    return differing


def _join_levels(levels: set[keys.Level]) -> str:
    return " and ".join(sorted(keys.level(level) for level in levels))


def read_rates(name: str, ledger: Ledger, options: Options, baseline: str | None, mix: frozenset[str]) -> Side:
    """Read one side. Raises CannotRun without a baseline, with several generators against it, or with none."""
    found = read_comparisons([ledger], options.by, options.where, options.rules, split=_OF_COMPARISONS)
    generator, rival = _generator(name, found, baseline)
    width = len(options.by)
    cells: dict[tuple[str, Levels], dict[str, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
    own = []
    for levels, group in found.groups.items():
        for one in turn_to(group, generator, rival):
            if one.winner in DECIDED:
                judge = "" if "judge_model" in mix else one.judge or ""
                cells[one.item, levels[:width]][f"{one.first} {judge}"].append(one.score)
                own.append(one.self_judged)
    if not own:
        raise CannotRun(f"{name} has no decided comparison of {generator} with {rival}")
    if all(own):
        raise CannotRun(f"all records of {name} are self-judged, which must not be the sole basis of a verdict")
    items: dict[tuple[str, Levels], dict[str, Values]] = {
        at: {cell: (mean_of(scores),) for cell, scores in sorted(given.items())} for at, given in cells.items()
    }
    levels_of = {key: {levels[width + place] for levels in found.groups} for place, key in enumerate(_OF_COMPARISONS)}
    return Side(name, items, frozenset(), {}, levels_of, None, found.left_out, found.records)


def _generator(name: str, found: Compared, baseline: str | None) -> tuple[str, str]:
    """Return the side's generator and the baseline."""
    names = sorted({each for group in found.groups.values() for one in group for each in (one.a, one.b)})
    if not names:
        raise CannotRun(f"{name} has no comparison that counts")
    if baseline is None:
        raise CannotRun(
            f"the ledgers hold comparisons: say with --baseline NAME what both sides were compared with; {name} has "
            f"{', '.join(names)}"
        )
    others = sorted({one.b for group in found.groups.values() for one in turn_to(group, baseline)})
    if len(others) != 1:
        told = f"compares {' and '.join(others)} with {baseline}" if others else f"has no comparison with {baseline}"
        raise CannotRun(
            f"{name} {told}: a side is one generator compared with the baseline, and its generators are "
            f"{', '.join(names)}; normalize the runs into ledgers of their own"
        )
    return others[0], baseline
