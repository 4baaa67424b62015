"""The gate: one verdict for each group and measure asked for. A document of `gate.json`."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.summary import Options
from normalizer.documents.exact import ROUNDING, rounded
from normalizer.errors import CannotRun
from normalizer.gate.sides import Side, check_comparable, read
from normalizer.gate.verdict import LEAST_PAIRS, decide
from normalizer.statistics.spread import mean_of

PASSES = ("better", "no_worse")


@dataclass(frozen=True, slots=True)
class Terms:
    """Options of a gate."""

    margin: Fraction = Fraction(0)
    alpha: float = 0.05
    measures: tuple[str, ...] = ("total",)
    lower_is_better: bool = False
    undecided_passes: bool = False
    mix: frozenset[str] = frozenset()
    base_where: dict[str, keys.Level] = field(default_factory=dict)
    candidate_where: dict[str, keys.Level] = field(default_factory=dict)


def gate(base: Path, candidate: Path, options: Options, terms: Terms) -> dict[str, Any]:
    """Compare the candidate's records with the base's, paired by artifact and judge."""
    before, after = (
        read(name, folder, replace(options, where={**options.where, **where}))
        for name, folder, where in (
            ("base", base, terms.base_where),
            ("candidate", candidate, terms.candidate_where),
        )
    )
    sides = [before, after]
    differing = check_comparable(before, after, terms.mix)
    names = [*sides[0].rubric.dimensions, "total"]
    for measure in terms.measures:
        if measure not in names:
            raise CannotRun(f"{measure} is not a measure: there are {', '.join(names)}")
    groups = sorted({levels for side in sides for _, levels in side.artifacts}, key=keys.sort_key)
    tests = [(levels, measure) for levels in groups for measure in terms.measures]
    each = terms.alpha / len(tests)
    results = [_result(sides, levels, measure, names.index(measure), options, terms, each) for levels, measure in tests]
    passed = all(result["passes"] for result in results)
    return {
        "verdict": "pass" if passed else "fail",
        "results": results,
        "by": list(options.by),
        "margin": rounded(terms.margin),
        "alpha": terms.alpha,
        "alpha_each": each,
        "lower_is_better": terms.lower_is_better,
        "undecided_passes": terms.undecided_passes,
        "least_pairs": LEAST_PAIRS,
        "rubric": sides[0].rubric.name,
        "where": {
            "base": {**options.where, **terms.base_where},
            "candidate": {**options.where, **terms.candidate_where},
        },
        "left_out": {side.name: side.left_out for side in sides},
        "records": {side.name: side.records for side in sides},
        "rounding": ROUNDING,
        "flags": sorted(
            [*(f"different_{key}" for key in differing), *(["diagnostic"] if options.rules.diagnostic else [])]
        ),
    }


def _result(
    sides: list[Side],
    levels: tuple[keys.Level, ...],
    measure: str,
    place: int,
    options: Options,
    terms: Terms,
    alpha: float,
) -> dict[str, Any]:
    base, candidate = ({at: values for at, values in side.artifacts.items() if at[1] == levels} for side in sides)
    differences, means = [], []
    for at in sorted(base.keys() & candidate.keys(), key=lambda at: at[0]):
        judges = sorted(base[at].keys() & candidate[at].keys())
        # With --mix judge_model no judge need be shared: then the judges of each side are averaged.
        pairs = [([base[at][judge]], [candidate[at][judge]]) for judge in judges] or [
            (list(base[at].values()), list(candidate[at].values()))
        ]
        before = mean_of([mean_of([values[place] for values in one]) for one, _ in pairs])
        after = mean_of([mean_of([values[place] for values in other]) for _, other in pairs])
        means.append((before, after))
        differences.append(before - after if terms.lower_is_better else after - before)
    decided = decide(differences, terms.margin, alpha)
    passes = decided["verdict"] in PASSES or (decided["verdict"] == "undecided" and terms.undecided_passes)
    return {
        "key": dict(zip(options.by, levels, strict=True)),
        "measure": measure,
        **decided,
        "passes": passes,
        "base": rounded(mean_of([one for one, _ in means])) if means else None,
        "candidate": rounded(mean_of([other for _, other in means])) if means else None,
        "only_in_base": len(base.keys() - candidate.keys()),
        "only_in_candidate": len(candidate.keys() - base.keys()),
        "improved": sum(gap > 0 for gap in differences),
        "equal": sum(gap == 0 for gap in differences),
        "worsened": sum(gap < 0 for gap in differences),
    }
