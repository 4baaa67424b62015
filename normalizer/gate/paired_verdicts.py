"""The gate: one verdict for each group and measure asked for. A document of `gate.json`."""

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.summary import Options
from normalizer.documents.exact import ROUNDING, round_exact
from normalizer.errors import CannotRun
from normalizer.estimation.clusters import Clusters, gather
from normalizer.estimation.paired_test import SCALE
from normalizer.gate.sides import MEASURE, Side, check_comparable, read_rates, read_scores
from normalizer.gate.verdict import (
    Decision,
    Terms,
    decide,
    detectable,
    numbers,
    pairs_needed,
    tipping_point,
    with_worst,
)
from normalizer.ledger import open_ledgers
from normalizer.ledger.open_ledgers import OpenLedgers, holds_comparisons
from normalizer.ledger.reader import Ledger
from normalizer.statistics.spread import mean_of

TOTAL = ("total",)
MISSING = ("refuse", "worst", "ignore")
MOST_MISSING = Fraction(5, 100)
"""The share of base's artifacts that may lack a pair before the policy `refuse` gives no verdict."""


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Options of a gate."""

    margin: Fraction = Fraction(0)
    alpha: float = 0.05
    measures: tuple[str, ...] = TOTAL
    lower_is_better: bool = False
    undecided_passes: bool = False
    mix: frozenset[str] = frozenset()
    base_where: dict[str, keys.Level] = field(default_factory=dict)
    candidate_where: dict[str, keys.Level] = field(default_factory=dict)
    baseline: str | None = None
    """For comparisons: the generator that both sides were compared with."""
    missing: str = "refuse"
    """The meaning of artifacts of base without a pair, of `MISSING`: no verdict if many, a total loss, nothing."""
    assume: str = SCALE
    """The assumption that the test may make: `scale` or `spread`, see `estimation.paired_test`."""
    always_valid: bool = False
    """Whether verdicts hold however often one looks while pairs are added."""


def margin_of(text: str) -> Fraction:
    """Return a margin given as text. Raises CannotRun if it is no number or negative."""
    try:
        margin = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise CannotRun(f"--margin {text} is not a number") from None
    if margin < 0:
        raise CannotRun(f"--margin {text} is negative: say how much worse is still no worse")
    return margin


def gate(base: Path, candidate: Path, options: Options, gate_options: GateOptions) -> dict[str, Any]:
    """Return the gate document of two ledgers, of single scores or of comparisons: see `gate_of`."""
    if gate_options.always_valid and gate_options.assume != SCALE:
        raise CannotRun("an always-valid gate assumes nothing but the scale: leave out --assume spread")
    with open_ledgers.open_each((base, candidate), options.check) as ledgers:
        one, other = ledgers[base], ledgers[candidate]
        if _are_comparisons(one, other):
            return _of_comparisons(one, other, options, gate_options)
        if gate_options.baseline is not None:
            raise CannotRun("--baseline is for ledgers of comparisons, and these hold single scores")
        for name in (*options.by, *options.where, *gate_options.base_where, *gate_options.candidate_where):
            keys.check_key(name, keys.ALSO_SELECTED)
        before, after = (open_ledgers.as_one([ledger]) for ledger in (one, other))
        with start_engine(options.engine, options.memory, before.size + after.size) as engine:
            return gate_of(engine, before, after, options, gate_options)


def gate_of(
    engine: Engine, base: OpenLedgers, candidate: OpenLedgers, options: Options, gate_options: GateOptions
) -> dict[str, Any]:
    """Compare the records of two opened ledgers of single scores, paired by artifact and judge."""
    before, after = (
        read_scores(name, engine, given, replace(options, where={**options.where, **where}))
        for name, given, where in (
            ("base", base, gate_options.base_where),
            ("candidate", candidate, gate_options.candidate_where),
        )
    )
    return _compare_sides([before, after], options, gate_options)


def _are_comparisons(base: Ledger, candidate: Ledger) -> bool:
    """Whether both ledgers hold comparisons. Raises CannotRun where only one does."""
    one, other = map(holds_comparisons, (base, candidate))
    if one != other:
        raise CannotRun("one of the ledgers holds comparisons and the other single scores: a gate needs two of a kind")
    return one


def _of_comparisons(base: Ledger, candidate: Ledger, options: Options, gate_options: GateOptions) -> dict[str, Any]:
    """Compare the rates against `gate_options.baseline`, paired by item, judge and order shown."""
    before, after = (
        read_rates(
            name, ledger, replace(options, where={**options.where, **where}), gate_options.baseline, gate_options.mix
        )
        for name, ledger, where in (
            ("base", base, gate_options.base_where),
            ("candidate", candidate, gate_options.candidate_where),
        )
    )
    if gate_options.measures == TOTAL:
        gate_options = replace(gate_options, measures=(MEASURE,))
    return _compare_sides([before, after], options, gate_options)


def _compare_sides(sides: list[Side], options: Options, gate_options: GateOptions) -> dict[str, Any]:
    """Return the document of two sides."""
    differing = check_comparable(sides[0], sides[1], gate_options.mix)
    rubric = sides[0].rubric
    names = [MEASURE] if rubric is None else [*rubric.dimensions, "total"]
    for measure in gate_options.measures:
        if measure not in names:
            raise CannotRun(f"{measure} is not a measure: there are {', '.join(names)}")
    groups = sorted({levels for side in sides for _, levels in side.artifacts}, key=keys.sort_key)
    tests = [(levels, measure) for levels in groups for measure in gate_options.measures]
    each = gate_options.alpha / len(tests)
    results = [
        _result(sides, levels, measure, names.index(measure), options, gate_options, each) for levels, measure in tests
    ]
    passed = all(result["passes"] for result in results)
    return {
        "verdict": "pass" if passed else "fail",
        "results": results,
        "by": list(options.by),
        "margin": round_exact(gate_options.margin),
        "alpha": gate_options.alpha,
        "alpha_each": each,
        "assume": gate_options.assume,
        "always_valid": gate_options.always_valid,
        "lower_is_better": gate_options.lower_is_better,
        "undecided_passes": gate_options.undecided_passes,
        "missing": gate_options.missing,
        "most_missing": round_exact(MOST_MISSING),
        "cluster": options.interval.cluster,
        "rubric": None if rubric is None else rubric.name,
        "baseline": gate_options.baseline,
        "where": {
            "base": {**options.where, **gate_options.base_where},
            "candidate": {**options.where, **gate_options.candidate_where},
        },
        "left_out": {side.name: side.left_out for side in sides},
        "records": {side.name: side.records for side in sides},
        "rounding": ROUNDING,
        "flags": sorted(
            [*(f"different_{key}" for key in differing), *(["diagnostic"] if options.rules.diagnostic else [])]
        ),
    }


class _Paired(NamedTuple):
    """The pairs of a group and measure."""

    means: list[tuple[Fraction, Fraction]]
    """The values of base and candidate."""
    items: list[str]
    """The item of each pair: its artifact, or the level of the key that `--cluster` names."""
    alone: list[Fraction]
    """The values of base that have no pair."""
    new: int
    """Artifacts of the candidate that have no pair."""
    self_judged: bool
    """Whether nothing but self-judged records is in the pairs of a side."""


def _pair_records(sides: list[Side], levels: tuple[keys.Level, ...], place: int, gate_options: GateOptions) -> _Paired:
    base, candidate = ({at: values for at, values in side.artifacts.items() if at[1] == levels} for side in sides)
    means, items, paired = [], [], set()
    own: list[list[bool]] = [[], []]
    for at in sorted(base.keys() & candidate.keys(), key=lambda at: at[0]):
        judges = sorted(base[at].keys() & candidate[at].keys())
        pairs = [([judge], [judge]) for judge in judges]
        if not pairs and "judge_model" in gate_options.mix and sides[0].rubric is not None:
            # No judge need be shared: those of each side are averaged.
            pairs = [(list(base[at]), list(candidate[at]))]
        if not pairs:
            continue
        values = []
        for number, given in enumerate((base[at], candidate[at])):
            values.append(mean_of([mean_of([given[judge][place] for judge in pair[number]]) for pair in pairs]))
            own[number] += [(at[0], judge) in sides[number].own for pair in pairs for judge in pair[number]]
        means.append((values[0], values[1]))
        items.append(_item(sides, at[0]))
        paired.add(at)
    lost = sorted(base.keys() - paired, key=lambda at: at[0])
    alone = [mean_of([values[place] for values in base[at].values()]) for at in lost]
    return _Paired(means, items, alone, len(candidate.keys() - paired), any(each and all(each) for each in own))


def _item(sides: list[Side], artifact: str) -> str:
    """Return the item of an artifact. Raises CannotRun if the sides differ in it."""
    named = sorted({side.items[artifact] for side in sides if artifact in side.items})
    if len(named) > 1:
        raise CannotRun(f"artifact {artifact} is of item {named[0]} on one side and of {named[1]} on the other")
    return f"item {named[0]}" if named else f"artifact {artifact}"


def _result(
    sides: list[Side],
    levels: tuple[keys.Level, ...],
    measure: str,
    place: int,
    options: Options,
    gate_options: GateOptions,
    alpha: float,
) -> dict[str, Any]:
    found = _pair_records(sides, levels, place, gate_options)
    sign = -1 if gate_options.lower_is_better else 1
    gaps = [sign * (after - before) for before, after in found.means]
    low, high = sides[0].scale(measure)
    if gate_options.margin >= high - low:
        raise CannotRun(
            f"--margin {round_exact(gate_options.margin):f} lets everything pass: {measure} can differ by "
            f"{round_exact(high - low):f} at most; give a smaller one"
        )
    terms = Terms(high - low, gate_options.margin, alpha, gate_options.assume, gate_options.always_valid)
    differences = gather(gaps, found.items)
    decided = decide(differences, terms)
    tips = tipping_point(differences, terms)
    worst = [sign * ((low if sign > 0 else high) - value) for value in found.alone]
    decided = _with_missing(decided, differences, worst, terms, gate_options.missing)
    if found.self_judged:  # last, so that no policy for missing artifacts makes a pass of it
        decided = decided._replace(verdict="undecided", why="all paired records of a side are self-judged")
    undecided = decided.verdict == "undecided" and gate_options.undecided_passes and not found.self_judged
    least = detectable(differences, terms, decided.assumes)
    tested = with_worst(differences, Counter(worst)) if gate_options.missing == "worst" else differences
    return {
        "key": dict(zip(options.by, levels, strict=True)),
        "measure": measure,
        **numbers(differences, decided),
        "difference": round_exact(tested.mean) if tested.counts else None,
        "passes": decided.passes or undecided,
        "base": round_exact(mean_of([one for one, _ in found.means])) if found.means else None,
        "candidate": round_exact(mean_of([other for _, other in found.means])) if found.means else None,
        "only_in_base": len(found.alone),
        "only_in_candidate": found.new,
        "improved": sum(gap > 0 for gap in gaps),
        "equal": sum(gap == 0 for gap in gaps),
        "worsened": sum(gap < 0 for gap in gaps),
        "tipping_point": tips if decided.passes else None,
        "detectable": None if least is None else round_exact(least),
        "pairs_needed": pairs_needed(differences, terms, decided.assumes),
    }


def _with_missing(
    decided: Decision, differences: Clusters, worst: list[Fraction], terms: Terms, policy: str
) -> Decision:
    """Return the decision in view of artifacts of base without a pair; `worst` are their worst differences."""
    if not worst or policy == "ignore":
        return decided
    every = differences.values + len(worst)
    told = f"{len(worst)} of {every} artifacts of base have no pair"
    if policy == "refuse" and len(worst) > MOST_MISSING * every:
        why = f"{told}, more than {float(100 * MOST_MISSING):g} %: find them, or say with --missing what they mean"
        return decided._replace(verdict="incomplete", why=why)
    against = decide(with_worst(differences, Counter(worst)), terms)
    if policy == "worst":
        return against._replace(why=f"{against.why}; {told} and count as the worst score")
    if decided.passes and not against.passes:
        why = f"{told}: with the worst score for them it would not pass, and without them it would"
        return decided._replace(verdict="undecided", why=why)
    return decided
