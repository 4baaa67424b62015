"""Agreement of judges: of every pair on the artifacts it shares, and of all together; their severity, what they add for
their own models, and what they say about other judges. Makes `agreement.json`."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from normalizer.aggregate import groups, neighbours
from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.summary import Options, count_left_out, open_on_engine, query_of
from normalizer.aggregate.units import prepare_records
from normalizer.documents.exact import ROUNDING, round_exact
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.statistics import agreement_measures
from normalizer.statistics.agreement_intervals import find_intervals
from normalizer.statistics.generalizability import describe_generators, leave_out_own, split_variance
from normalizer.statistics.judge_scores import Joint, JointValues, JudgeScores, Shared
from normalizer.statistics.self_judging import self_against_cross
from normalizer.statistics.severity import JudgeModel, severity


def agreement(folders: tuple[Path, ...], options: Options) -> dict[str, Any]:
    """Return the agreement document of ledgers."""
    with open_on_engine(folders, options) as (engine, given):
        return agreement_of(engine, given, options)


def agreement_of(engine: Engine, given: OpenLedgers, options: Options) -> dict[str, Any]:
    """Return the agreement document of opened ledgers."""
    query = query_of(given, options)
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        found = groups.find_groups(engine, query, given, options.where)
        kinds = found.kinds()
        options.rules.check_mixing(kinds, None)
        scores = JudgeScores(engine, query, options.rules.condition())
        mixed = neighbours.find_mixed_instruments(engine, query, options.rules.condition(), query.by)
        judges = list(scores.judges())
        alone = bool(options.rules.only_self_judged(kinds))
        shared = {} if alone else scores.count_shared()
        answers = {} if alone else scores.pairs()
        joints = [JointValues() if alone else scores.joint(measure) for measure in query.measures]
        judged = JudgeScores(engine, query, f"{options.rules.condition()} AND 1 = 0") if alone else scores
        items = judged.count_items()
        model = JudgeModel(items)
        severities = severity(judged, model)
        low, high = query.scale(len(query.rubric.dimensions))
        selves = self_against_cross(judged, model, high - low)
    crossed = leave_out_own(items)
    flags = sorted([*options.rules.flags_of_all(kinds), *(["mixed_instruments"] if mixed else [])])
    names = list(
        query.rubric.dimensions
    )  # a dimension may be called total: the total is identified by its place, the last
    pairs = []
    for pair in combinations(judges, 2):
        rows = answers.get(pair, [])
        *each, total = [
            {
                **_measure(joint.pairs[pair], scores.denominator, alone=alone),
                "ci95": _intervals(
                    [(artifact, values[place]) for artifact, values in rows], scores.denominator, query.scale(place)
                ),
            }
            for place, joint in enumerate(joints)
        ]
        measured = {"total": total, "dimensions": dict(zip(names, each, strict=True))}
        clusters = len({artifact for artifact, _ in rows})
        pairs.append(_pair(pair, shared.get(pair, Shared()), clusters, measured, flags))
    *everyone, together = [_alphas(joint, alone=alone) for joint in joints]
    return {
        "pairs": pairs,
        "all": {"total": together, "dimensions": dict(zip(names, everyone, strict=True))},
        "severity": severities,
        "variance": split_variance(crossed),
        "generators": describe_generators(crossed, model, query.scale(len(names))),
        "self_against_cross": selves,
        "left_out": count_left_out(given, found, options.rules),
        "records": found.total(given),
        "rubric": query.rubric.name,
        "where": options.where,
        "rounding": ROUNDING,
        "diagnostic": options.rules.diagnostic,
        "flags": flags,
    }


def _intervals(
    rows: list[tuple[str, tuple[int, int]]], denominator: int, scale: tuple[Fraction, Fraction]
) -> dict[str, Any]:
    pairs = [(Fraction(one, denominator), Fraction(other, denominator)) for _, (one, other) in rows]
    return find_intervals(pairs, [artifact for artifact, _ in rows], scale=scale)


def _pair(
    pair: tuple[str, str], shared: Shared, clusters: int, measured: dict[str, Any], flags: list[str]
) -> dict[str, Any]:
    own = [
        *flags,
        *(["repeated"] if shared.repeated else []),
        *(["self_judged_included"] if shared.self_judged else []),
    ]
    return {
        "judges": list(pair),
        "n": shared.n,
        "clusters": clusters,
        **measured,
        "flags": sorted(own),
    }


def _measure(joint: Joint, denominator: int, *, alone: bool) -> dict[str, Any]:
    found, reasons = agreement_measures.pair_measures(joint, denominator)
    return {
        **_round_all(found),
        "na": dict.fromkeys(reasons, ALONE) if alone else reasons,
        "confusion": [
            {"values": [round_exact(Fraction(value, denominator)) for value in values], "n": count}
            for values, count in sorted(joint.items())
        ],
    }


def _alphas(joint: JointValues, *, alone: bool) -> dict[str, Any]:
    found, reasons = agreement_measures.alphas(joint.coincidences)
    values = sum(weight * (1 if low == high else 2) for (low, high), weight in joint.coincidences.items())
    return {
        **_round_all(found),
        "n": joint.artifacts,
        "n_values": int(values),
        "na": dict.fromkeys(reasons, ALONE) if alone else reasons,
    }


def _round_all(found: dict[str, Fraction | None]) -> dict[str, Any]:
    return {name: None if value is None else round_exact(value) for name, value in found.items()}
