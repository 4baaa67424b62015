"""How far judges agree with gold, measure by measure: a document of `calibration.json`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate import groups, keys
from normalizer.aggregate.eligibility import ALONE, Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import INSTRUMENT
from normalizer.aggregate.summary import Options, count_left_out, query_of
from normalizer.aggregate.units import prepare_records
from normalizer.calibration import prediction_powered, preference_labels
from normalizer.calibration.alternative_annotator import try_alternatives
from normalizer.calibration.ceiling import ceiling
from normalizer.calibration.choice import closest
from normalizer.calibration.identity import describe_instruments, find_expiry, group_by_instrument
from normalizer.calibration.labels import Labels, LabelStudy, labels
from normalizer.calibration.measures import (
    NO_DIRECTION,
    by_level,
    compare_items,
    confusion,
    prevalence,
    reliability,
    turn_to,
)
from normalizer.calibration.pass_rate import correct_pass_rate
from normalizer.documents.exact import ROUNDING
from normalizer.errors import CannotRun
from normalizer.ledger import open_ledgers
from normalizer.ledger.open_ledgers import OpenLedgers, holds_comparisons
from normalizer.ledger.reader import Ledger

GOLD = frozenset(("human", "reference"))


def calibrate(
    folders: tuple[Path, ...], options: Options, rule: str, method: Method, gold_kinds: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the calibration document of ledgers, of single scores or of comparisons: see `read_labels`.

    Raises CannotRun where some of the ledgers hold comparisons and some single scores.
    """
    with open_ledgers.open_each(folders, options.check) as found:
        ledgers = [found[folder] for folder in folders]
        if len({holds_comparisons(ledger) for ledger in ledgers}) > 1:
            raise CannotRun("some of the ledgers hold comparisons and some single scores: a calibration needs one kind")
        if holds_comparisons(ledgers[0]):
            return _of_comparisons(ledgers, options, rule, method, gold_kinds)
        for name in (*options.by, *options.where):
            keys.check_key(name, keys.ALSO_SELECTED)
        given = open_ledgers.as_one(ledgers)
        with start_engine(options.engine, options.memory, given.size) as engine:
            return calibrate_labels(read_labels(engine, given, options, rule, gold_kinds), options, method)


def _of_comparisons(
    ledgers: list[Ledger], options: Options, rule: str, method: Method, gold_kinds: frozenset[str]
) -> dict[str, Any]:
    """Compare the verdicts of models with those of people or references."""
    models = replace(options.rules, judge_kinds=frozenset(("model",)))
    people = replace(options.rules, judge_kinds=gold_kinds or GOLD)
    found = preference_labels.read(ledgers, options, models, people)
    _refuse_both_kinds(gold_kinds, found.gold_kinds)
    counted = {"left_out": found.left_out, "records": found.records, "rubric": None}
    _check_shared(found.judged, found.annotated)
    study = LabelStudy(found.judged, found.annotated, rule, mirrored=True, identities=found.identities)
    return calibrate_labels(LabelReading(study, [preference_labels.MEASURE], found.flags, counted), options, method)


class LabelReading(NamedTuple):
    """The labels of ledgers, and what a document says of them."""

    study: LabelStudy
    names: list[str]
    """The measures."""
    flags: set[str]
    counted: dict[str, Any]
    """The members about records."""


def _refuse_both_kinds(asked: frozenset[str], found: set[str]) -> None:
    """Raise CannotRun if gold is of both kinds and neither was asked for."""
    if not asked and found == GOLD:
        raise CannotRun(
            "gold is of the kinds human and reference, which are not mixed silently: choose one with --gold-kind, "
            "name both, or give ledgers of one kind"
        )


def read_labels(
    engine: Engine, given: OpenLedgers, options: Options, rule: str, gold_kinds: frozenset[str] = frozenset()
) -> LabelReading:
    """Return the labels of models and those of people or references, all from opened ledgers.

    Gold are the VALID records whose judge_kind is one of `gold_kinds`; empty: human or reference, whichever there is.
    Raises CannotRun where there are none, or where both kinds are found and were not asked for.
    """
    models = replace(options.rules, judge_kinds=frozenset(("model",)))
    people = replace(options.rules, judge_kinds=gold_kinds or GOLD)
    query = query_of(given, options)
    with prepare_records(engine, query, given, diagnostic=options.rules.diagnostic) as query:
        found = groups.find_groups(engine, query, given, options.where)
        models.check_mixing(found.kinds(), options.by)
        people.check_mixing(found.kinds(), options.by)
        _refuse_both_kinds(gold_kinds, {kind.judge_kind for kind in found.kinds() if people.admits(kind)})
        judged, annotated = (
            labels(engine, query, engine.table("judged", query.select_judged(rules.condition())))
            for rules in (models, people)
        )
        columns = ", ".join(["judge", *INSTRUMENT, "artifact", "generator"])
        condition = f"{models.condition()} AND judge IS NOT NULL"
        identities = group_by_instrument(
            (judge, tuple(instrument), (artifact, generator))
            for judge, *instrument, artifact, generator in engine.rows(
                f"SELECT DISTINCT {columns} FROM {query.table} WHERE {condition}"
            )
        )
    names = [*query.rubric.dimensions, "total"]
    everything = replace(options.rules, judge_kinds=people.judge_kinds | {"model"})
    counted = {
        "left_out": count_left_out(given, found, everything),
        "records": found.total(given),
        "rubric": query.rubric.name,
    }
    flags = {*models.flags_of_all(found.kinds()), *people.flags_of_all(found.kinds())}
    flags |= {"partial"} if found.partial else set()
    _check_shared(judged, annotated)
    scales = tuple(query.scale(place) for place in range(len(names)))
    study = LabelStudy(judged, annotated, rule, scales=scales, identities=identities)
    return LabelReading(study, names, flags, counted)


def calibrate_labels(reading: LabelReading, options: Options, method: Method) -> dict[str, Any]:
    """Return the document of labels."""
    study, names, flags, counted = reading
    judged, gold = study.judged, study.gold
    return {
        "by": list(options.by),
        "measures": [_measure(name, study.at(place), options, method) for place, name in enumerate(names)],
        "annotators": len(study.annotated.judges()),
        "items": {"gold": len(gold), "judged": len(judged.by_item), "both": len(gold.keys() & judged.by_item.keys())},
        "instruments": describe_instruments(study.identities, gold),
        "consensus": study.rule,
        **counted,
        "where": options.where,
        "bootstrap": {"resamples": method.resamples, "seed": method.seed},
        "rounding": ROUNDING,
        "flags": sorted(flags | _flags_of(study)),
    }


def _flags_of(study: LabelStudy) -> set[str]:
    """Return the flags of the judges' labels."""
    mixed = any(len(instruments) > 1 for instruments in study.identities.values())
    return ({"self_judged_included"} if study.judged.own else set()) | ({"mixed_instruments"} if mixed else set())


def _check_shared(judged: Labels, annotated: Labels) -> None:
    """Raise CannotRun, with what to do, unless some item has labels of models and gold."""
    if not annotated.by_item:
        raise CannotRun(
            "there are no human or reference labels: normalize them with --set judge_kind=human or under a "
            "manifest that states it, and give --diagnostic if they are of phase 0"
        )
    if not judged.by_item:
        raise CannotRun("there are no labels of models to compare with gold")
    if judged.by_item.keys() & annotated.by_item.keys():
        return
    by_model, by_people = (dict(sorted(labels.by_item, key=str, reverse=True)) for labels in (judged, annotated))
    shared = sorted(by_model.keys() & by_people.keys())
    if shared:
        at = shared[0]
        raise CannotRun(
            f"no item has both labels of models and gold: gold of {at} is about {keys.level(by_people[at])}, "
            f"the models' labels about {keys.level(by_model[at])}; state the generator of both, in a manifest or "
            "with --set generator_model=NAME"
        )
    raise CannotRun(
        f"no item has both labels of models and gold: models labelled {min(by_model)} and others, gold is of "
        f"{min(by_people)} and others; a manifest's artifact aligns names that differ"
    )


def _measure(name: str, study: LabelStudy, options: Options, method: Method) -> dict[str, Any]:
    rows = []
    for judge in study.judged.judges():
        for levels in _groups(study.judged, judge, options):
            key = {"judge": judge, "key": dict(zip(options.by, levels or (), strict=bool(levels)))}
            rows.append(key | _row(study, judge, levels))
    return {
        "measure": name,
        "judges": rows,
        "ceiling": ceiling(study),
        "closest": closest(study.judged, study.gold, study.place, method),
        "alternative": try_alternatives(study),
        "prediction_powered": [{"judge": judge, **_estimate_mean(study, judge)} for judge in study.judged.judges()],
        "pass_rates": list(_pass_rates(study)),
    }


def _groups(judged: Labels, judge: str, options: Options) -> list[Levels | None]:
    """All items together, then each group where keys were given."""
    if not options.by:
        return [None]
    found = [levels for levels, items in judged.by_group.items() if any(judge in given for given in items.values())]
    return [None, *sorted(found, key=keys.sort_key)]


def _row(study: LabelStudy, judge: str, levels: Levels | None) -> dict[str, Any]:
    """Return the measures of one judge. Its labels on its own model's outputs alone give no number."""
    found = study.pairs(judge, levels)
    alone = bool(found) and study.judged.gives_only_own(judge, found)
    pairs = [] if alone else list(found.values())
    items = [] if alone else [artifact for artifact, _ in found]
    by_gold, by_judge = (turn_to(pairs, side) if study.mirrored else pairs for side in (1, 0))
    return {
        "n": len(found),
        **compare_items({} if alone else found, study, why=ALONE if alone else None),
        "by_level": by_level(by_gold, items, study.scale),
        "reliability": reliability(by_judge, items, study.scale),
        "prevalence": prevalence(by_gold),
        "confusion": confusion(by_gold),
    }


def _estimate_mean(study: LabelStudy, judge: str) -> dict[str, Any]:
    labelled = study.pairs(judge)
    given = {item: labels[judge] for item, labels in study.judged.by_item.items() if judge in labels}
    unlabelled = {item: values[study.place] for item, values in given.items() if item not in study.gold}
    found = prediction_powered.estimate(labelled, unlabelled, study.scale)
    why = found["na"]
    if given and study.judged.gives_only_own(judge, given):
        why = ALONE
    elif study.mirrored:
        why = NO_DIRECTION
    else:
        why = find_expiry(study.identities, judge, study.gold) or why
    if why != found["na"]:
        found = {**dict.fromkeys(found), "n_gold": found["n_gold"], "n_judged": found["n_judged"], "na": why}
    return found


def _pass_rates(study: LabelStudy) -> Iterator[dict[str, Any]]:
    """Return the corrected pass rate of each judge whose labels have two values; comparisons have none."""
    for judge in study.judged.judges():
        given = {item: labels[judge][study.place] for item, labels in study.judged.by_item.items() if judge in labels}
        if study.mirrored or study.judged.gives_only_own(judge, given):
            continue
        unlabelled = {item: value for item, value in given.items() if item not in study.gold}
        found = correct_pass_rate(study.pairs(judge), unlabelled)
        if found is None:
            continue
        expired = find_expiry(study.identities, judge, study.gold)
        yield {"judge": judge, **found, **({"corrected": None, "ci95": None, "na": expired} if expired else {})}
