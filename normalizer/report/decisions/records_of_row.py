"""Which records a row of the tables on preferences, calibration and gates is made of.

Each function returns the records of every row of one table, in the table's order.
"""

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from normalizer.calibration.judge_accuracy import GOLD
from normalizer.calibration.labels import Item, consensus
from normalizer.documents.exact import round_exact
from normalizer.documents.rubric import Rubric
from normalizer.preferences.comparisons import DECIDED
from normalizer.preferences.lengths import BINS, bin_of
from normalizer.report.record_status import RecordStatus
from normalizer.report.study import Study
from normalizer.statistics.spread import mean_of

Rows = list[list[RecordStatus]]


def of_preferences(study: Study) -> dict[str, Rows]:
    """The records behind each row of the tables of `preferences_table`, by title."""
    all_counted = [each for each in study.others if each.role == "preferences" and each.status == "counted"]
    rows: dict[str, Rows] = defaultdict(list)
    for group in (study.preferences or {"groups": []})["groups"]:
        counted = [
            each for each in all_counted if all(each.plain.get(name) == level for name, level in group["key"].items())
        ]
        for pair in group["pairs"]:
            facing = [each for each in counted if _names(each) == {pair["a"], pair["b"]}]
            rows["Pairs"].append(facing)
            if pair["length"] is not None:
                measured = [each for each in facing if _is_decided(each) and "length" in each.plain]
                for found in pair["length"]["bins"]:
                    if found["items"]:
                        rows["Length"].append(
                            [each for each in measured if BINS[_bin(each, pair["a"])] == found["a_is"]]
                        )
                rows["Length"].append(measured)
        for name in (row["generator"] for row in group["overall"]):
            rows["Generators against all others"].append([each for each in counted if name in _names(each)])
        ordered = [each for each in counted if each.plain["outcome"]["shown_first"] != "unknown"]
        if group["order"]["first_shown"]["items"]:
            rows["Order shown"].append(ordered)
        if group["order"]["swapped"]["pairs"]:
            rows["Verdicts in both orders"].append(_in_both_orders(ordered))
        decided = [each for each in counted if _is_decided(each)]
        for row in group["ratings"]["rows"] or [None]:
            rows["Bradley-Terry ratings"].append(
                [each for each in decided if row is None or row["generator"] in _names(each)]
            )
    return rows


def _names(each: RecordStatus) -> set[str]:
    return {each.plain["outcome"]["a"], each.plain["outcome"]["b"]}


def _is_decided(each: RecordStatus) -> bool:
    return each.plain["outcome"]["winner"] in DECIDED


def _bin(each: RecordStatus, first: str) -> int:
    lengths = float(each.plain["length"]["a"]), float(each.plain["length"]["b"])
    return bin_of(*(lengths if each.plain["outcome"]["a"] == first else lengths[::-1]))


def _in_both_orders(records: list[RecordStatus]) -> list[RecordStatus]:
    found: dict[tuple[Any, ...], dict[str, list[RecordStatus]]] = defaultdict(lambda: defaultdict(list))
    for each in records:
        plain, outcome = each.plain, each.plain["outcome"]
        key = (plain["artifact"], *sorted(_names(each)), plain.get("judge_model"), plain.get("repeat", 0))
        shown = outcome["a"] if outcome["shown_first"] == "a" else outcome["b"]
        found[(*key, plain.get("criterion"))][shown].append(each)
    return [each for sides in found.values() if len(sides) == 2 for side in sides.values() for each in side]


def of_calibration(study: Study) -> dict[str, Rows]:
    """The records behind each row of the tables of `calibration_table`, by title."""
    everybody = [*study.records, *(each for each in study.others if each.role == "gold")]
    usable = [each for each in everybody if each.worths is not None and each.kind is not None]
    gold = [
        each
        for each in usable
        if each.kind and each.kind.judge_kind in GOLD and each.status in ("counted", "self_judged", "other_judge_kind")
    ]
    models = [
        each
        for each in usable
        if each.kind and each.kind.judge_kind == "model" and each.status in ("counted", "self_judged")
    ]
    labelled, judged = _by_item(gold), _by_item(models)
    rows: dict[str, Rows] = defaultdict(list)
    for place, measure in enumerate((study.calibration or {"measures": []})["measures"]):
        value = _values(study.rubric, place)
        agreed = {
            item: consensus([(each,) for each in _means(found, value)], _rule(study))[0]
            for item, found in labelled.items()
        }
        for row in measure["judges"]:
            own = [each for each in models if each.plain.get("judge_model") == row["judge"]]
            both = {_item(each) for each in own} & labelled.keys()
            rows["Judges against gold"].append(_of_items([*own, *gold], both))
            for level in row["by_level"]:
                at = {item for item in both if round_exact(agreed[item]) == level["gold"]}
                rows["Bias by gold level"].append(_of_items([*own, *gold], at))
            given = {item: mean_of([value(each) for each in found]) for item, found in _by_item(own).items()}
            for level in row["prevalence"]:
                at = {item for item in both if level["value"] in (round_exact(agreed[item]), round_exact(given[item]))}
                rows["Confusion"].append(_of_items([*own, *gold], at))
        for row in measure["ceiling"]["annotators"]:
            shared = {
                item
                for item, found in labelled.items()
                if len({each.plain.get("judge_model") for each in found}) > 1
                and any(each.plain.get("judge_model") == row["annotator"] for each in found)
            }
            rows["Annotators against the others' consensus (the human ceiling)"].append(_of_items(gold, shared))
        for row in measure["ceiling"]["judges"]:
            pair = [
                each for each in (*models, *gold) if each.plain.get("judge_model") in (row["judge"], row["annotator"])
            ]
            shared = {item for item, found in _by_item(pair).items() if len({_judge(each) for each in found}) == 2}
            more = {item for item in shared if len({_judge(each) for each in labelled[item]}) > 1}
            rows["Judges in the place of an annotator"].append(_of_items([*pair, *gold], more))
        judges = {each.plain.get("judge_model") for each in models}
        by_all = {
            item
            for item, found in judged.items()
            if item in labelled and {each.plain.get("judge_model") for each in found} == judges
        }
        for _ in measure["closest"]["candidates"]:
            rows["Closest judge or panel"].append(_of_items([*models, *gold], by_all))
        for row in measure["alternative"]["judges"]:
            mine = [each for each in models if _judge(each) == row["judge"]]
            both = {item for item in _by_item(mine) if item in labelled}
            rows["Alternative-annotator test"].append(_of_items([*mine, *gold], both))
        for row in measure["pass_rates"]:
            mine = [each for each in models if _judge(each) == row["judge"]]
            rows["Pass rates corrected for the judge's errors"].append(_of_items([*mine, *gold], set(_by_item(mine))))
        for row in measure["prediction_powered"]:
            own = [each for each in models if each.plain.get("judge_model") == row["judge"]]
            items = {_item(each) for each in own}
            rows["Gold means, prediction-powered"].append(_of_items([*own, *gold], items))
    return rows


def of_gate(study: Study) -> Rows:
    """The records behind each verdict: those of artifacts that both sides have."""
    candidate = [each for each in study.records if each.status in ("counted", "self_judged")]
    base = [each for each in study.others if each.role == "base" and each.status in ("counted", "self_judged")]
    shared = {each.plain.get("artifact") for each in candidate} & {each.plain.get("artifact") for each in base}
    used = [each for each in (*candidate, *base) if each.plain.get("artifact") in shared]
    return [used for _ in (study.gate or {"results": []})["results"]]


def _rule(study: Study) -> str:
    return str((study.calibration or {})["consensus"])


def _item(each: RecordStatus) -> Item:
    return each.plain["artifact"], each.plain.get("generator_model")


def _judge(record: RecordStatus) -> Any:
    return record.plain.get("judge_model")


def _by_item(records: list[RecordStatus]) -> dict[Item, list[RecordStatus]]:
    found: dict[Item, list[RecordStatus]] = defaultdict(list)
    for each in records:
        found[_item(each)].append(each)
    return found


def _of_items(records: list[RecordStatus], items: set[Item]) -> list[RecordStatus]:
    return [each for each in records if _item(each) in items]


def _values(rubric: Rubric, place: int) -> Callable[[RecordStatus], Fraction]:
    """A function that returns one measure of a record: a dimension by its place, the total behind them."""
    names = list(rubric.dimensions)

    def value(each: RecordStatus) -> Fraction:
        worths = each.worths or {}
        return worths[names[place]] if place < len(names) else sum(worths.values(), Fraction(0))

    return value


def _means(records: list[RecordStatus], value: Callable[[RecordStatus], Fraction]) -> list[Fraction]:
    """The mean of each annotator."""
    found: dict[Any, list[Fraction]] = defaultdict(list)
    for each in records:
        found[each.plain.get("judge_model")].append(value(each))
    return [mean_of(values) for values in found.values()]
