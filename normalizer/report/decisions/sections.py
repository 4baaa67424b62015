"""Sections on preferences, calibration and gates, each where its document is there."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from normalizer.aggregate import keys
from normalizer.report import plots
from normalizer.report.decisions import records_of_row
from normalizer.report.decisions.records_of_row import Rows
from normalizer.report.drilldown import Drilldowns
from normalizer.report.markup import Html, el, table
from normalizer.report.records.record_table import Behind
from normalizer.report.sections import Section, notes, section
from normalizer.report.study import Study
from normalizer.tables import calibration_table, gate_table, preferences_table
from normalizer.tables.formats import Table


def decision_sections(study: Study, drilldowns: Drilldowns) -> Iterator[Section]:
    """The sections that the study has documents for."""
    records = study.lookup.table
    if study.preferences is not None and study.comparisons is not None:
        compared = records_of_row.of_preferences(study.preferences, study.comparisons)
        yield _preferences(study.preferences, compared, drilldowns)
    if study.calibration is not None and study.labels is not None:
        labelled = records_of_row.of_calibration(study.calibration, study.labels, records)
        yield _calibration(study, study.calibration, labelled, drilldowns)
    if study.gate is not None:
        yield _gate(study.gate, records_of_row.of_gate(records), drilldowns)


def _preferences(document: dict[str, Any], rows: dict[str, Rows], drilldowns: Drilldowns) -> Section:
    rates, rated = [], []
    for group in document["groups"]:
        where = "".join(f"{keys.level(level)}: " for level in group["key"].values())
        for pair in group["pairs"]:
            if pair["rate"] is not None:
                ends = pair["bootstrap95"] or pair["exact95"]
                rates.append(_range(f"{where}{pair['a']} against {pair['b']}", pair["rate"], ends))
        rated += [_range(where + row["generator"], row["rating"], row["ci95"]) for row in group["ratings"]["rows"]]
    drawn = [plots.ranges(rates, "win rate", 0.5)] if rates else []
    drawn += [plots.ranges(rated, "Bradley-Terry rating, log-odds", 0.0)] if rated else []
    tables = [
        _table_with_records(title, each, f"preferences-{number}", rows[title], drilldowns)
        for number, (title, each) in enumerate(preferences_table.list_tables(document))
    ]
    lead = "Comparisons of two answers: how often each generator is preferred, and how far the order shown decides."
    return section("preferences", "Preferences", lead, *drawn, *tables)


def _calibration(study: Study, document: dict[str, Any], rows: dict[str, Rows], drilldowns: Drilldowns) -> Section:
    total = document["measures"][-1]
    ends = study.summary["scale"]
    points = [
        {
            "judge": row["judge"],
            "given": float(level["judge"]),
            "gold": float(level["gold_mean"]),
            "low": float(max((level["ci95"] or [level["gold_mean"]])[0], ends[0])),
            "high": float(min((level["ci95"] or [level["gold_mean"]])[-1], ends[1])),
            "n": level["n"],
        }
        for row in total["judges"]
        for level in row["reliability"]
    ]
    drawn = [plots.reliability(points)] if points else []
    tables = [
        _table_with_records(title, each, f"calibration-{number}", rows[title], drilldowns)
        for number, (title, each) in enumerate(calibration_table.list_tables(document))
    ]
    lead = (
        "Judges against human or reference labels. On the dashed line the judge's value is what gold says on average; "
        "intervals are drawn as far as the scale goes."
    )
    return section("calibration", "Calibration against gold", lead, *drawn, *tables, name="Calibration")


def _gate(document: dict[str, Any], used: Behind, drilldowns: Drilldowns) -> Section:
    rows = [
        _range(gate_table.verdict_name(result), result["difference"], result["interval"])
        for result in document["results"]
        if result["difference"] is not None
    ]
    drawn = [plots.ranges(rows, "difference, positive is better", 0.0)] if rows else []
    verdicts = gate_table.table(document)
    shown = _table_with_records("Verdicts", verdicts, "gate-verdicts", [used] * len(verdicts.rows), drilldowns)
    lead = f"This ledger as a candidate against a base, paired by artifact: {document['verdict']}."
    return section("gate", "Gate", lead, *drawn, shown)


def _range(label: str, value: Any, ends: list[Any] | None) -> dict[str, Any]:
    low, high = ends or (value, value)
    return {"label": label, "value": float(value), "low": float(low), "high": float(high)}


def _table_with_records(title: str, found: Table, id: str, rows: Rows, drilldowns: Drilldowns) -> Html:
    """A table whose numbers open the records of their row."""
    shown = []
    for row, records in zip(found.rows, rows, strict=True):
        names = ", ".join(cell for cell in row if isinstance(cell, str) and cell)
        drilldown = drilldowns.add(f"{title}: {names}" if names else title, records)
        shown.append(
            [drilldowns.number(cell, drilldown) if isinstance(cell, (int, Decimal)) else cell for cell in row],
        )
    return el("div", el("h3", title), table(list(found.columns), shown, id=id), notes(found.notes))
