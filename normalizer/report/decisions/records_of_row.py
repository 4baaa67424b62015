"""Which records a row of the tables on preferences, calibration and gates is made of.

Each function returns the records of every row of one table, in the table's order.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from normalizer.aggregate.engines.interface import RecordFiles
from normalizer.aggregate.parsed_lines import Fields
from normalizer.aggregate.restated_scores import write_lines
from normalizer.calibration.judge_accuracy import GOLD
from normalizer.calibration.labels import Item, LabelStudy
from normalizer.documents.exact import round_exact
from normalizer.documents.lossless import dumps
from normalizer.preferences.comparisons import DECIDED
from normalizer.preferences.lengths import BINS, bin_of
from normalizer.preferences.verdicts import NONE
from normalizer.report.records.lookup import ADMITTED, COUNTED, OWN
from normalizer.report.records.record_table import Behind, RecordTable, join_behind
from normalizer.statistics.judge_scores import match_answers

Rows = list[Behind]
_DECIDED = f"winner IN ({', '.join(repr(name) for name in sorted(DECIDED))})"
_MEASURED = f"{COUNTED} AND {_DECIDED} AND length_a <> {NONE} AND length_b <> {NONE}"
_ORDERED = f"{COUNTED} AND shown_first <> 'unknown'"
_ITEM = ("place", "who", "judge", "artifact", "generator")
"""Columns of the items of rows."""
_MODEL = "role IN ('', 'gold') AND off = 0 AND judge_kind = 'model' AND status IN ('counted', 'self_judged')"
_GOLD = (
    f"role IN ('', 'gold') AND off = 0 AND judge_kind IN ({', '.join(repr(name) for name in sorted(GOLD))}) "
    "AND status IN ('counted', 'self_judged', 'other_judge_kind')"
)


def of_preferences(document: dict[str, Any], table: RecordTable) -> dict[str, Rows]:
    """Return the records behind each row of the tables of `preferences_table`, by title."""
    found = _Comparisons(table, document["by"])
    rows: dict[str, Rows] = defaultdict(list)
    for group in document["groups"]:
        key = tuple(group["key"].values())
        for pair in group["pairs"]:
            names_of = key + tuple(sorted((pair["a"], pair["b"])))
            rows["Pairs"].append(found.pairs.get(names_of, Behind()))
            if pair["length"] is not None:
                bins = found.bins[names_of]
                told = BINS if pair["a"] < pair["b"] else BINS[::-1]
                rows["Length"] += [bins[told.index(each["a_is"])] for each in pair["length"]["bins"] if each["items"]]
                rows["Length"].append(join_behind(bins))
        for row in group["overall"]:
            rows["Generators against all others"].append(found.generators.get((*key, row["generator"]), Behind()))
        if group["order"]["first_shown"]["items"]:
            rows["Order shown"].append(found.ordered[key])
        if group["order"]["swapped"]["pairs"]:
            rows["Verdicts in both orders"].append(found.swapped[key])
        ratings = rows["Bradley-Terry ratings"]
        ratings += [found.rated.get((*key, row["generator"]), Behind()) for row in group["ratings"]["rows"]]
        if not group["ratings"]["rows"]:
            ratings.append(found.decided.get(key, Behind()))
    return rows


class _Comparisons:
    """The comparisons that count, by what the tables tell apart."""

    def __init__(self, table: RecordTable, group: list[str]) -> None:
        pair = [*group, "LEAST(a, b)", "GREATEST(a, b)"]
        self.pairs = table.group(pair, COUNTED)
        self.bins = _bins(table, pair)
        decided = f"{COUNTED} AND {_DECIDED}"
        self.generators, self.rated = (
            table.group([*group, "name"], condition, _each_name(table)) for condition in (COUNTED, decided)
        )
        self.ordered = table.group(group, _ORDERED)
        self.swapped = table.group(group, "orders = 2", _select_ordered(table))
        self.decided = table.group(group, decided)


def _each_name(table: RecordTable) -> str:
    """Return SQL for all comparisons twice, by the name of the one and of the other."""
    return f"(SELECT *, a AS name FROM {table.name} UNION ALL SELECT *, b AS name FROM {table.name})"


def _bins(table: RecordTable, pair: list[str]) -> dict[Any, list[Behind]]:
    """Return the comparisons of each pair by how long the first answer is, of those whose lengths are known."""
    found: dict[Any, list[Behind]] = defaultdict(lambda: [Behind()] * len(BINS))
    lengths = ["CASE WHEN a < b THEN length_a ELSE length_b END", "CASE WHEN a < b THEN length_b ELSE length_a END"]
    for (*key, one, other), behind in table.group([*pair, *lengths], _MEASURED).items():
        bins, place = found[tuple(key)], bin_of(one, other)
        bins[place] = join_behind((bins[place], behind))
    return found


def _select_ordered(table: RecordTable) -> str:
    """Return SQL for the comparisons whose order is known, and in how many orders each question was asked."""
    asked = "item, LEAST(a, b), GREATEST(a, b), judge, repeat, criterion"
    first = "CASE WHEN shown_first = 'a' THEN a ELSE b END"
    orders = f"CASE WHEN MIN({first}) OVER w < MAX({first}) OVER w THEN 2 ELSE 1 END"
    return f"(SELECT *, {orders} AS orders FROM {table.name} WHERE {_ORDERED} WINDOW w AS (PARTITION BY {asked}))"


class _Row(NamedTuple):
    """A row of a table about labels: the items, and whose labels beside gold."""

    title: str
    items: set[Item]
    judge: str | None = None
    who: str = "one"
    """Whether labels of one judge are meant, or of all."""


def of_calibration(document: dict[str, Any], labels: LabelStudy, table: RecordTable) -> dict[str, Rows]:
    """Return the records behind each row of the tables of `calibration_table`, by title."""
    every = [
        row for place, measure in enumerate(document["measures"]) for row in _label_rows(measure, labels.at(place))
    ]
    lines = (
        dumps({"place": number, "who": row.who, "judge": row.judge, "artifact": artifact, "generator": generator})
        + "\n"
        for number, row in enumerate(every)
        for artifact, generator in row.items
    )
    with TemporaryDirectory(prefix="normalizer-") as scratch, table.engine.call():
        path = write_lines(lines, Path(scratch) / "items.jsonl")
        fields = Fields((), (*_ITEM, "file"))
        items = table.engine.parse([RecordFiles([path])], fields, "SELECT * FROM {}".format)
        whose = f"({_GOLD}) OR ({_MODEL} AND (i.who = 'all' OR i.judge = r.judge))"
        joined = f"{table.name} AS r JOIN {items} AS i ON {match_answers('r', 'i')}"
        found = table.group(["place"], source=f"(SELECT r.number, i.place FROM {joined} WHERE {whose})")
    rows: dict[str, Rows] = defaultdict(list)
    for number, row in enumerate(every):
        rows[row.title].append(found.get((str(number),), Behind()))
    return rows


def _label_rows(measure: dict[str, Any], labels: LabelStudy) -> Iterator[_Row]:
    """Yield the rows of all tables about one measure."""
    judged, annotated = labels.judged.by_item, labels.annotated.by_item
    of_judge = {judge: {item for item, given in judged.items() if judge in given} for judge in labels.judged.judges()}
    for row in measure["judges"]:
        judge, pairs = row["judge"], labels.pairs(row["judge"])
        yield _Row("Judges against gold", set(pairs), judge)
        rounded = {item: tuple(map(round_exact, values)) for item, values in pairs.items()}
        for level in row["by_level"]:
            at = {item for item, (_, gold) in rounded.items() if gold == level["gold"]}
            yield _Row("Bias by gold level", at, judge)
        for level in row["prevalence"]:
            yield _Row("Confusion", {item for item, values in rounded.items() if level["value"] in values}, judge)
    several = {item for item, given in annotated.items() if len(given) > 1}
    for row in measure["ceiling"]["annotators"]:
        items = {item for item in several if row["annotator"] in annotated[item]}
        yield _Row("Annotators against the others' consensus (the human ceiling)", items)
    for row in measure["ceiling"]["judges"]:
        items = {item for item in several & of_judge[row["judge"]] if row["annotator"] in annotated[item]}
        yield _Row("Judges in the place of an annotator", items, row["judge"])
    by_all = set.intersection(*of_judge.values()) & labels.gold.keys()
    for _ in measure["closest"]["candidates"]:
        yield _Row("Closest judge or panel", by_all, who="all")
    for row in measure["alternative"]["judges"]:
        yield _Row("Alternative-annotator test", set(labels.pairs(row["judge"])), row["judge"])
    for row in measure["pass_rates"]:
        yield _Row("Pass rates corrected for the judge's errors", of_judge[row["judge"]], row["judge"])
    for row in measure["prediction_powered"]:
        yield _Row("Gold means, prediction-powered", of_judge[row["judge"]], row["judge"])


def of_gate(table: RecordTable) -> Behind:
    """Return the records behind every verdict: those of artifacts that both sides have."""
    base = ADMITTED.replace(OWN, "role = 'base'")
    both = [f"artifact IN (SELECT artifact FROM {table.name} WHERE {side})" for side in (ADMITTED, base)]
    return table.find(f"(({ADMITTED}) OR ({base})) AND {' AND '.join(both)}")
