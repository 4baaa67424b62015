"""Calibration as tables: judges against gold, the human ceiling, the closest judge, prediction-powered means."""

from collections.abc import Iterator
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.keys import INSTRUMENT
from normalizer.tables.formats import Cell, Table, ends, note_flags, note_left_out, p_value, tell_na

_SHOWN = ("exact", "mae", "bias", "kappa", "ac1", "kappa_quadratic", "alpha_ordinal", "pearson", "spearman", "kendall")
_SELF_JUDGED = "Some labels are of a judge on its own model's outputs (self_judged_included)."
_WITH_INTERVAL = ("exact", "bias", "kappa", "pearson")
_BESIDE = ("exact", "mae", "kappa")


def list_tables(document: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return all tables that are not empty, by title."""
    tables = [
        ("Judges against gold", judges(document)),
        ("Bias by gold level", _by_level(document)),
        ("Confusion", _confusion(document)),
        ("Annotators against the others' consensus (the human ceiling)", _ceiling(document)),
        ("Judges in the place of an annotator", _in_place(document)),
        ("Alternative-annotator test", _alternatives(document)),
        ("Closest judge or panel", _closest(document)),
        ("Gold means, prediction-powered", _prediction_powered(document)),
        ("Pass rates corrected for the judge's errors", _pass_rates(document)),
        ("What was measured", _instruments(document)),
    ]
    return [(title, table) for title, table in tables if table.rows]


def judges(document: dict[str, Any]) -> Table:
    """Return one row per measure, judge and group."""
    rows: list[list[Cell]] = []
    reasons = set()
    for measure in document["measures"]:
        for row in measure["judges"]:
            levels = [keys.level(row["key"][name]) if row["key"] else keys.ALL for name in document["by"]]
            cells: list[Cell] = [keys.measure(measure["measure"]), keys.level(row["judge"]), *levels, row["n"]]
            rows.append([*cells, *_agreement(row)])
            reasons |= set(row["na"].values())
    columns = ["measure", "judge", *document["by"], "n", *_agreement_columns()]
    notes = [note for flag in document["flags"] if flag != "self_judged_included" for note in note_flags([flag])]
    if "self_judged_included" in document["flags"]:
        notes.append(_SELF_JUDGED)
    notes.append(
        "exact is the share of equal labels; bias is judge minus gold, positive where the judge is milder. kappa is "
        "agreement beyond that of two who give each value as often as these do; it falls where one value is rare, and "
        "ac1 does not. 95 % intervals assume independent items; answers about one artifact are one item. The JSON has "
        "those of all measures."
    )
    if document["rubric"] is None:
        notes.append(
            "preference: 1 for the answer that won, 0 for the one that lost, 1/2 for a draw, each verdict counted in "
            "both directions, so that no measure depends on names; of several verdicts of a judge on two answers, over "
            "orders and repeats, the more frequent winner. In the tables by value each verdict is turned to the answer "
            "that gold preferred."
        )
    items = document["items"]
    notes.append(
        f"{items['both']} of {items['judged']} judged items have gold, of {document['annotators']} annotators "
        f"(consensus: {document['consensus']})."
    )
    notes += [note_left_out(document), *(f"NA: {reason}." for reason in sorted(reasons))]
    return Table(columns, rows, notes)


def _agreement_columns() -> list[str]:
    return [*_SHOWN, *(f"{name}.{end}" for name in _WITH_INTERVAL for end in ("ci95_low", "ci95_high"))]


def _agreement(row: dict[str, Any]) -> list[Cell]:
    return [*(row[name] for name in _SHOWN), *(end for name in _WITH_INTERVAL for end in ends(row["ci95"][name]))]


def _list_rows(
    document: dict[str, Any], *parts: str, who: str = "judge"
) -> Iterator[tuple[list[Cell], dict[str, Any]]]:
    """Yield the rows of a part of each measure, each with its first cells: the measure and who gave the labels."""
    for measure in document["measures"]:
        rows = measure
        for part in parts:
            rows = rows[part]
        for row in rows:
            yield [keys.measure(measure["measure"]), keys.level(row[who])], row


def _by_level(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [*start, level["gold"], level["n"], level["judge_mean"], level["bias"], *ends(level["ci95"])]
        for start, row in _list_rows(document, "judges")
        for level in (() if row["key"] else row["by_level"])
    ]
    columns = ["measure", "judge", "gold", "n", "judge_mean", "bias", "ci95_low", "ci95_high"]
    return Table(columns, rows, ["Intervals assume independent items, and nothing about how the labels are spread."])


def _confusion(document: dict[str, Any]) -> Table:
    """Return a row for each value that a judge or gold gave: its shares, and how often the judge gave which."""
    rows: list[list[Cell]] = []
    for start, row in _list_rows(document, "judges"):
        for value in () if row["key"] else row["prevalence"]:
            given = [cell for cell in row["confusion"] if cell["gold"] == value["value"]]
            counted = ", ".join(f"{cell['judge']:f}: {cell['n']}" for cell in given)
            rows.append([*start, value["value"], value["gold"], value["judge"], counted or None])
    note = (
        "gold share and judge share: how often each gave the value. Kappa falls where one value is rare, with any "
        "judge. judge gave: the judge's values on the items of that gold value, each with the number of items."
    )
    columns = ["measure", "judge", "value", "gold share", "judge share", "judge gave"]
    return Table(columns, rows, [note])


def _ceiling(document: dict[str, Any]) -> Table:
    found = _list_rows(document, "ceiling", "annotators", who="annotator")
    rows: list[list[Cell]] = [[*start, row["n"], *_agreement(row)] for start, row in found]
    return Table(["measure", "annotator", "n", *_agreement_columns()], rows, [])


def _in_place(document: dict[str, Any]) -> Table:
    """Return one row per judge and annotator: both against the consensus of the other annotators."""
    rows: list[list[Cell]] = []
    for start, row in _list_rows(document, "ceiling", "judges"):
        beside = [row[side][name] for name in _BESIDE for side in ("as_judge", "as_annotator")]
        rows.append([*start, keys.level(row["annotator"]), row["n"], *beside])
    columns = [f"{name} of {side}" for name in _BESIDE for side in ("judge", "annotator")]
    note = (
        "Both against the consensus of the other annotators, on the same items. A judge is as good as the annotator "
        "where the two numbers agree. Agreement with gold must not be put beside an annotator's: gold has that label "
        "in it."
    )
    return Table(["measure", "judge", "instead of", "n", *columns], rows, [note])


def _alternatives(document: dict[str, Any]) -> Table:
    found = list(_list_rows(document, "alternative", "judges"))
    rows: list[list[Cell]] = []
    for start, row in found:
        passes = None if row["passes"] is None else "yes" if row["passes"] else "no"
        rows.append([*start, len(row["annotators"]), row["winning_rate"], row["advantage"], passes])
    notes = {
        "winning rate: the share of annotators whose place the judge may take, at a false discovery rate of 5 %; from "
        "0.5 on it passes. advantage: how often the judge is at least as close to the others as the annotator.",
        *(
            f"A person may be closer more often by {measure['alternative']['epsilon']:f} (epsilon)."
            for measure in document["measures"]
        ),
        *tell_na(row for _, row in found),
    }
    return Table(["measure", "judge", "annotators", "winning rate", "advantage", "passes"], rows, sorted(notes))


_RATES = ("n_gold", "n_judged", "judge_rate", "sensitivity", "specificity", "corrected")


def _pass_rates(document: dict[str, Any]) -> Table:
    found = list(_list_rows(document, "pass_rates"))
    rows: list[list[Cell]] = [[*start, *(row[name] for name in _RATES), *ends(row["ci95"])] for start, row in found]
    note = (
        "corrected: the judge's rate on items without gold, corrected by its sensitivity and specificity on items with "
        "gold (Rogan and Gladen 1978); report it with its interval. It assumes that the judge errs as often on both."
    )
    columns = ["measure", "judge", "gold items", "other items", "judge rate", "sensitivity", "specificity", "corrected"]
    notes = sorted([note, *tell_na(row for _, row in found)])
    return Table([*columns, "ci95_low", "ci95_high"], rows, notes)


def _closest(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    notes = {
        "mae is the mean absolute difference from gold on the items that every judge labelled. chosen share: how often "
        "the judge or panel is the closest on resamples of the artifacts."
    }
    drawn = document["bootstrap"]
    notes.add(
        "corrected: chosen on resamples of the artifacts, measured on those left out of them "
        f"({drawn['resamples']} resamples, seed {drawn['seed']})."
    )
    for measure in document["measures"]:
        found = measure["closest"]
        for row in found["candidates"]:
            start: list[Cell] = [keys.measure(measure["measure"]), keys.level(row["name"]), found["items"], row["mae"]]
            corrected = found["corrected_mae"] if row["name"] == found["best"] else None
            rows.append([*start, corrected, p_value(row["p_holm"]), row["chosen_share"]])
        notes |= {f"NA: {found['na']}."} if found["na"] and found["candidates"] else set()
    columns = ["measure", "judge or panel", "items", "mae", "corrected mae", "p_holm", "chosen share"]
    return Table(columns, rows, sorted(notes))


def _prediction_powered(document: dict[str, Any]) -> Table:
    found = list(_list_rows(document, "prediction_powered"))
    rows: list[list[Cell]] = []
    for start, row in found:
        cells: list[Cell] = [*start, row["n_gold"], row["n_judged"], row["gold_only"], *ends(row["gold_only_ci95"])]
        rows.append([*cells, row["judge_only"], row["estimate"], *ends(row["ci95"]), row["weight"]])
    notes = [
        "Labelled items must be a random sample of all items.",
        "gold only: the mean of the gold labels. estimate: that mean, corrected by what the judge says of the items "
        "without gold; report it with its interval. weight: how far the judge is relied on, 0 not at all, 1 fully.",
        *tell_na(row for _, row in found),
    ]
    columns = ["measure", "judge", "gold items", "other items", "gold only", "gold low", "gold high", "judge only"]
    return Table([*columns, "estimate", "ci95_low", "ci95_high", "weight"], rows, sorted(notes))


def _instruments(document: dict[str, Any]) -> Table:
    """Return one row per version, prompt and settings of a judge; none where no record says anything about them."""
    told = [row for row in document["instruments"] if any(row[name] is not None for name in INSTRUMENT)]
    rows: list[list[Cell]] = [
        [keys.level(row["judge"]), *(row[name] for name in INSTRUMENT), row["n_gold"], row["n_judged"]] for row in told
    ]
    note = "The calibration holds for these alone: it expires where the version or the prompt of a judge changes."
    return Table(["judge", *INSTRUMENT, "gold items", "other items"], rows, [note])
