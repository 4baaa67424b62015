"""The page about ledgers that hold comparisons alone: rates, order effects, ratings, and the records behind them.

`gather_any` and `any_page` take ledgers of both kinds.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from normalizer.aggregate.summary import Options
from normalizer.documents.protocol import version
from normalizer.documents.rubric import Rubric
from normalizer.ledger.open_ledgers import holds_comparisons
from normalizer.ledger.reader import Ledger
from normalizer.report import audit_sections
from normalizer.report.decisions.other_records import OtherRecords
from normalizer.report.decisions.sections import decision_sections
from normalizer.report.drilldown import Drilldowns, records_document
from normalizer.report.html_page import assemble, describe_sample, page
from normalizer.report.markup import Html, el, join, table
from normalizer.report.raw_lines import Raw
from normalizer.report.record_lookup import RecordLookup
from normalizer.report.record_status import Sample
from normalizer.report.sections import Section, section
from normalizer.report.study import ReportOptions, Study, gather, open_all, preferences_with_criteria, raw_bundles
from normalizer.tables.formats import note_flags
from normalizer.tables.summary_table import selection_in_words

_NO_SCALE = Rubric("", {})


def gather_any(
    folders: tuple[Path, ...], options: Options, wanted: ReportOptions, done: Callable[[], None] = lambda: None
) -> Study:
    """Return the study of ledgers. Those that hold comparisons are its preferences."""
    with open_all(folders, options, wanted) as opened:
        compares = {folder: holds_comparisons(opened[folder]) for folder in folders}
        duels = (*(folder for folder in folders if compares[folder]), *wanted.preferences)
        scores = tuple(folder for folder in folders if not compares[folder])
        if not scores:
            return gather_comparisons([opened[folder] for folder in duels], options, wanted)
        return gather(opened, scores, options, replace(wanted, preferences=duels), done)


def any_page(study: Study, options: Options, *, title: str) -> bytes:
    """Return the page of a study."""
    return page(study, options, title=title) if study.summary else comparison_page(study, options, title=title)


def gather_comparisons(ledgers: list[Ledger], options: Options, wanted: ReportOptions) -> Study:
    """Return the study of opened ledgers of comparisons. It has no summary, and its records are the `others`."""
    document = preferences_with_criteria(ledgers, options, wanted)
    sample = Sample(dict.fromkeys(ledgers))
    bundles, reasons = raw_bundles(ledgers, None if sample.is_all else set())
    others = OtherRecords([], bundles, sample)
    others.add_comparisons(ledgers, options, options.where)
    return Study(
        rubric=_NO_SCALE,
        records=[],
        summary={},
        rates={},
        distribution=[],
        agreement={},
        sensitivity={},
        contrasts=[],
        drift=[],
        claims=[],
        bundles=bundles,
        bundle_reasons=reasons,
        preferences=document,
        others=others.records,
    )


def comparison_page(study: Study, options: Options, *, title: str) -> bytes:
    """Return the page of a study of comparisons."""
    drilldowns = Drilldowns(study.shown)
    lookup = RecordLookup(replace(study, records=study.others), options.rules)
    raw = Raw(study.bundles, (each.record for each in study.shown if each.record))
    command = ["normalizer preferences LEDGER"]
    command += [f"--where {shlex.quote(f'{name}={level}')}" for name, level in options.where.items()]
    command += ["--diagnostic"] if options.rules.diagnostic else []
    command += [f"--mix {name}" for name in sorted(options.rules.mix)]
    parts = [
        *decision_sections(study, drilldowns),
        _explain_left_out(study, drilldowns, lookup),
        audit_sections.method(study, lookup, [" ".join(command)], version()),
    ]
    top = _top(study, title, drilldowns, lookup)  # before the data, since its numbers open records, too
    data = {"trails": drilldowns.document(raw), "records": records_document(study, raw), "bundles": raw.document()}
    return assemble(title, top, parts, data)


def _top(study: Study, title: str, drilldowns: Drilldowns, lookup: RecordLookup) -> Html:
    document = study.preferences or {}
    where = selection_in_words(document["where"])
    kinds = [("comparisons", study.others), ("counted", lookup.of_status("counted"))]
    kinds.append(("INVALID", lookup.of_status("invalid")))
    shown = [
        el("div", el("dt", name), el("dd", drilldowns.number(len(found), drilldowns.add(f"All: {name}", found))))
        for name, found in kinds
    ]
    lead = f"Verdicts on two answers. {f'Selected: {where}. ' if where else ''}Only VALID and eligible ones count."
    said = [*note_flags(document["flags"]), *describe_sample(study)]
    notices = (el("p", one, class_="notice") for one in said)
    return join([el("h1", title), el("p", lead, class_="muted"), *notices, el("dl", *shown, class_="figures")])


def _explain_left_out(study: Study, drilldowns: Drilldowns, lookup: RecordLookup) -> Section:
    rows = []
    for reason, count in (study.preferences or {})["left_out"].items():
        found = drilldowns.add(f"Left out: {audit_sections.LEFT_OUT[reason]}", lookup.of_status(reason))
        rows.append([reason, drilldowns.number(count, found), audit_sections.LEFT_OUT[reason]])
    return section(
        "left-out",
        "Left out, and why",
        "Nothing is dropped silently. Comparisons that reach no number are counted here by reason.",
        table(["reason", "count", "meaning"], rows, id="t-left-out"),
        name="Left out",
    )
