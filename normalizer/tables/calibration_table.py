"""Calibration as tables: judges against gold, the human ceiling, the closest judge, prediction-powered means."""

from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.keys import INSTRUMENT
from normalizer.tables.formats import Cell, Table, note_flags, note_left_out, p_value

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
            cells: list[Cell] = [_measure(measure), keys.level(row["judge"]), *levels, row["n"]]
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
    found: list[Cell] = [row[name] for name in _SHOWN]
    for name in _WITH_INTERVAL:
        found += row["ci95"][name] or [None, None]
    return found


def _by_level(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for measure in document["measures"]:
        for row in measure["judges"]:
            if not row["key"]:
                for level in row["by_level"]:
                    start: list[Cell] = [_measure(measure), keys.level(row["judge"]), level["gold"], level["n"]]
                    rows.append([*start, level["judge_mean"], level["bias"], *(level["ci95"] or [None, None])])
    columns = ["measure", "judge", "gold", "n", "judge_mean", "bias", "ci95_low", "ci95_high"]
    return Table(columns, rows, ["Intervals assume independent items, and nothing about how the labels are spread."])


def _confusion(document: dict[str, Any]) -> Table:
    """Return a row for each value that a judge or gold gave: its shares, and how often the judge gave which."""
    rows: list[list[Cell]] = []
    for measure in document["measures"]:
        for row in measure["judges"]:
            if not row["key"]:
                for value in row["prevalence"]:
                    given = [cell for cell in row["confusion"] if cell["gold"] == value["value"]]
                    counted = ", ".join(f"{cell['judge']:f}: {cell['n']}" for cell in given)
                    start: list[Cell] = [_measure(measure), keys.level(row["judge"]), value["value"]]
                    rows.append([*start, value["gold"], value["judge"], counted or None])
    note = (
        "gold share and judge share: how often each gave the value. Kappa falls where one value is rare, with any "
        "judge. judge gave: the judge's values on the items of that gold value, each with the number of items."
    )
    columns = ["measure", "judge", "value", "gold share", "judge share", "judge gave"]
    return Table(columns, rows, [note])


def _ceiling(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [_measure(measure), keys.level(row["annotator"]), row["n"], *_agreement(row)]
        for measure in document["measures"]
        for row in measure["ceiling"]["annotators"]
    ]
    return Table(["measure", "annotator", "n", *_agreement_columns()], rows, [])


def _in_place(document: dict[str, Any]) -> Table:
    """Return one row per judge and annotator: both against the consensus of the other annotators."""
    rows: list[list[Cell]] = []
    for measure in document["measures"]:
        for row in measure["ceiling"]["judges"]:
            cells: list[Cell] = [_measure(measure), keys.level(row["judge"]), keys.level(row["annotator"])]
            beside = [row[side][name] for name in _BESIDE for side in ("as_judge", "as_annotator")]
            rows.append([*cells, row["n"], *beside])
    columns = [f"{name} of {side}" for name in _BESIDE for side in ("judge", "annotator")]
    note = (
        "Both against the consensus of the other annotators, on the same items. A judge is as good as the annotator "
        "where the two numbers agree. Agreement with gold must not be put beside an annotator's: gold has that label "
        "in it."
    )
    return Table(["measure", "judge", "instead of", "n", *columns], rows, [note])


def _alternatives(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    notes = {
        "winning rate: the share of annotators whose place the judge may take, at a false discovery rate of 5 %; from "
        "0.5 on it passes. advantage: how often the judge is at least as close to the others as the annotator."
    }
    for measure in document["measures"]:
        notes.add(f"A person may be closer more often by {measure['alternative']['epsilon']:f} (epsilon).")
        for row in measure["alternative"]["judges"]:
            passes = None if row["passes"] is None else "yes" if row["passes"] else "no"
            start: list[Cell] = [_measure(measure), keys.level(row["judge"]), len(row["annotators"])]
            rows.append([*start, row["winning_rate"], row["advantage"], passes])
            notes |= {f"NA: {row['na']}."} if row["na"] else set()
    return Table(["measure", "judge", "annotators", "winning rate", "advantage", "passes"], rows, sorted(notes))


def _pass_rates(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    notes = {
        "corrected: the judge's rate on items without gold, corrected by its sensitivity and specificity on items with "
        "gold (Rogan and Gladen 1978); report it with its interval. It assumes that the judge errs as often on both."
    }
    for measure in document["measures"]:
        for row in measure["pass_rates"]:
            start: list[Cell] = [_measure(measure), keys.level(row["judge"]), row["n_gold"], row["n_judged"]]
            cells: list[Cell] = [row["judge_rate"], row["sensitivity"], row["specificity"], row["corrected"]]
            rows.append([*start, *cells, *(row["ci95"] or [None, None])])
            notes |= {f"NA: {row['na']}."} if row["na"] else set()
    columns = ["measure", "judge", "gold items", "other items", "judge rate", "sensitivity", "specificity", "corrected"]
    return Table([*columns, "ci95_low", "ci95_high"], rows, sorted(notes))


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
            is_best = row["name"] == found["best"]
            start: list[Cell] = [_measure(measure), keys.level(row["name"]), found["items"], row["mae"]]
            rows.append(
                [*start, found["corrected_mae"] if is_best else None, p_value(row["p_holm"]), row["chosen_share"]]
            )
        notes |= {f"NA: {found['na']}."} if found["na"] and found["candidates"] else set()
    columns = ["measure", "judge or panel", "items", "mae", "corrected mae", "p_holm", "chosen share"]
    return Table(columns, rows, sorted(notes))


def _prediction_powered(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    notes = {"Labelled items must be a random sample of all items."}
    for measure in document["measures"]:
        for row in measure["prediction_powered"]:
            start: list[Cell] = [_measure(measure), keys.level(row["judge"]), row["n_gold"], row["n_judged"]]
            cells: list[Cell] = [row["gold_only"], *(row["gold_only_ci95"] or [None, None]), row["judge_only"]]
            cells += [row["estimate"], *(row["ci95"] or [None, None]), row["weight"]]
            rows.append([*start, *cells])
            notes |= {f"NA: {row['na']}."} if row["na"] else set()
    notes.add(
        "gold only: the mean of the gold labels. estimate: that mean, corrected by what the judge says of the items "
        "without gold; report it with its interval. weight: how far the judge is relied on, 0 not at all, 1 fully."
    )
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


def _measure(measure: dict[str, Any]) -> str:
    name = measure["measure"]
    return name if name == "total" else keys.dimension(name)
