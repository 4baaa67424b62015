"""Judges against gold, measure by measure: a document of `calibration.json`."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.aggregate import cell_names, groups, keys
from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.engines.start import started
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.summary import Options, left_out, query_of
from normalizer.aggregate.units import prepared
from normalizer.calibration import prediction_powered, preference_labels
from normalizer.calibration.choice import closest
from normalizer.calibration.item_intervals import intervals
from normalizer.calibration.labels import Item, Labels, Values, consensus, labels
from normalizer.calibration.measures import by_level, compare, confusion, prevalence, reliability
from normalizer.documents.exact import ROUNDING, rounded
from normalizer.errors import CannotRun
from normalizer.ledger import open_ledgers
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.ledger.reader import Ledger

GOLD = frozenset(("human", "reference"))


def calibrate(
    folders: tuple[Path, ...], options: Options, rule: str, method: Method, gold_kinds: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the calibration document of ledgers, of single scores or of comparisons: see `calibration_of`.

    Raises CannotRun where some of the ledgers hold comparisons and some single scores.
    """
    with open_ledgers.opened_each(folders, options.check) as found:
        ledgers = [found[folder] for folder in folders]
        if len({preference_labels.holds_comparisons(ledger) for ledger in ledgers}) > 1:
            raise CannotRun("some of the ledgers hold comparisons and some single scores: a calibration needs one kind")
        if preference_labels.holds_comparisons(ledgers[0]):
            return _of_comparisons(ledgers, options, rule, method, gold_kinds)
        for name in (*options.by, *options.where):
            keys.checked(name, keys.ALSO_SELECTED)
        given = open_ledgers.as_one(ledgers)
        with started(options.engine, options.memory, given.size) as engine:
            return calibration_of(engine, given, options, rule, method, gold_kinds)


def _of_comparisons(
    ledgers: list[Ledger], options: Options, rule: str, method: Method, gold_kinds: frozenset[str]
) -> dict[str, Any]:
    """Compare the verdicts of models with those of people or references."""
    models = replace(options.rules, judge_kinds=frozenset(("model",)))
    people = replace(options.rules, judge_kinds=gold_kinds or GOLD)
    found = preference_labels.read(ledgers, options, models, people)
    _refuse_both_kinds(gold_kinds, found.gold_kinds)
    names = [preference_labels.MEASURE]
    counted = {"left_out": found.left_out, "records": found.records, "rubric": None}
    return _document(found.judged, found.annotated, names, found.flags, counted, options, rule, method)


def _refuse_both_kinds(asked: frozenset[str], found: set[str]) -> None:
    """Raise CannotRun if gold is of both kinds and neither was asked for."""
    if not asked and found == GOLD:
        raise CannotRun(
            "gold is of the kinds human and reference, which are not mixed silently: choose one with --gold-kind, "
            "name both, or give ledgers of one kind"
        )


def calibration_of(
    engine: Engine,
    given: OpenLedgers,
    options: Options,
    rule: str,
    method: Method,
    gold_kinds: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Compare the labels of models with those of people or references, all from opened ledgers.

    Gold are the VALID records whose judge_kind is one of `gold_kinds`; empty: human or reference, whichever there is.
    Raises CannotRun where there are none, or where both kinds are found and were not asked for.
    """
    models = replace(options.rules, judge_kinds=frozenset(("model",)))
    people = replace(options.rules, judge_kinds=gold_kinds or GOLD)
    query = query_of(given, options)
    with prepared(engine, query, given, diagnostic=options.rules.diagnostic):
        found = groups.find_groups(engine, query, given, options.where)
        models.check_mixing(found.kinds(), options.by)
        people.check_mixing(found.kinds(), options.by)
        _refuse_both_kinds(gold_kinds, {kind.judge_kind for kind in found.kinds() if people.admits(kind)})
        judged = labels(engine, query, models.condition())
        annotated = labels(engine, query, people.condition())
    names = [*query.rubric.dimensions, "total"]
    everything = replace(options.rules, judge_kinds=people.judge_kinds | {"model"})
    counted = {
        "left_out": left_out(given, found, everything),
        "records": found.total(given),
        "rubric": query.rubric.name,
    }
    flags = {*models.flags_of_all(found.kinds()), *people.flags_of_all(found.kinds())}
    flags |= {"partial"} if found.partial else set()
    return _document(judged, annotated, names, flags, counted, options, rule, method)


def _document(
    judged: Labels,
    annotated: Labels,
    names: list[str],
    flags: set[str],
    counted: dict[str, Any],
    options: Options,
    rule: str,
    method: Method,
) -> dict[str, Any]:
    """Return the document of two sets of labels. Raises CannotRun where one is empty or they share no item."""
    _check_shared(judged, annotated)
    gold = {item: consensus(values.values(), rule) for item, values in annotated.by_item.items()}
    return {
        "by": list(options.by),
        "measures": [
            _measure(name, place, judged, annotated, gold, rule, options, method) for place, name in enumerate(names)
        ],
        "annotators": len(annotated.judges()),
        "items": {"gold": len(gold), "judged": len(judged.by_item), "both": len(gold.keys() & judged.by_item.keys())},
        "consensus": rule,
        **counted,
        "where": options.where,
        "bootstrap": {"resamples": method.resamples, "seed": method.seed},
        "rounding": ROUNDING,
        "flags": sorted(flags | ({"self_judged_included"} if judged.self_judged else set())),
    }


def _check_shared(judged: Labels, annotated: Labels) -> None:
    """Raise CannotRun, with what to do, unless some item has labels of models and gold."""
    if not annotated.by_item:
        raise CannotRun(
            "there are no human or reference labels: normalize them under a manifest that states judge_kind, "
            "and give --diagnostic if they are of phase 0"
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
            f"no item has both labels of models and gold: gold of {at} is about {cell_names.level(by_people[at])}, "
            f"the models' labels about {cell_names.level(by_model[at])}; state the generator of both, in a manifest or "
            "with --set generator_model=NAME"
        )
    raise CannotRun(
        f"no item has both labels of models and gold: models labelled {min(by_model)} and others, gold is of "
        f"{min(by_people)} and others; a manifest's artifact aligns names that differ"
    )


def _measure(
    name: str,
    place: int,
    judged: Labels,
    annotated: Labels,
    gold: dict[Item, Values],
    rule: str,
    options: Options,
    method: Method,
) -> dict[str, Any]:
    rows = []
    for judge in judged.judges():
        for levels in _groups(judged, judge, options):
            pairs = _pairs(judged, judge, gold, place, levels)
            rows.append({"judge": judge, "key": dict(zip(options.by, levels or (), strict=bool(levels)))} | _row(pairs))
    powered = [{"judge": judge, **_powered(judged, judge, gold, place)} for judge in judged.judges()]
    return {
        "measure": name,
        "judges": rows,
        "ceiling": _ceiling(annotated, place, rule),
        "closest": closest(judged, gold, place, method),
        "prediction_powered": powered,
    }


def _groups(judged: Labels, judge: str, options: Options) -> list[Levels | None]:
    """All items together, then each group where keys were given."""
    if not options.by:
        return [None]
    found = [levels for levels, items in judged.by_group.items() if any(judge in given for given in items.values())]
    return [None, *sorted(found, key=keys.sort_key)]


def _pairs(
    judged: Labels, judge: str, gold: dict[Item, Values], place: int, levels: Levels | None
) -> list[tuple[Fraction, Fraction]]:
    items = judged.by_item if levels is None else judged.by_group[levels]
    return [
        (given[judge][place], gold[item][place]) for item, given in items.items() if judge in given and item in gold
    ]


def _row(pairs: list[tuple[Fraction, Fraction]]) -> dict[str, Any]:
    found, reasons = compare(pairs)
    return {
        "n": len(pairs),
        **{name: None if value is None else rounded(value) for name, value in found.items()},
        "ci95": intervals(pairs),
        "na": reasons,
        "by_level": by_level(pairs),
        "reliability": reliability(pairs),
        "prevalence": prevalence(pairs),
        "confusion": confusion(pairs),
    }


def _ceiling(annotated: Labels, place: int, rule: str) -> dict[str, Any]:
    """Agreement of each annotator with the consensus of the others: an upper limit for judges."""
    rows = []
    for annotator in annotated.judges():
        pairs = []
        for given in annotated.by_item.values():
            others = [values for name, values in given.items() if name != annotator]
            if annotator in given and others:
                pairs.append((given[annotator][place], consensus(others, rule)[place]))
        if pairs:
            found, reasons = compare(pairs)
            told = {name: None if value is None else rounded(value) for name, value in found.items()}
            rows.append({"annotator": annotator, "n": len(pairs), **told, "ci95": intervals(pairs), "na": reasons})
    return {"annotators": rows, "na": None if rows else "no item has two annotators"}


def _powered(judged: Labels, judge: str, gold: dict[Item, Values], place: int) -> dict[str, Any]:
    unlabelled = [given[judge][place] for item, given in judged.by_item.items() if judge in given and item not in gold]
    return prediction_powered.estimate(_pairs(judged, judge, gold, place, None), unlabelled)
