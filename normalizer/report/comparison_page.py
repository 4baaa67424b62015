"""The page about ledgers that hold comparisons alone: rates, order effects, ratings, and the records behind them.

`gather_any` and `any_page` take ledgers of both kinds.
"""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.summary import Options
from normalizer.documents.protocol import version
from normalizer.documents.rubric import Rubric
from normalizer.ledger.open_ledgers import holds_comparisons
from normalizer.ledger.reader import Ledger
from normalizer.report import audit_sections
from normalizer.report.decisions.sections import decision_sections
from normalizer.report.drilldown import Drilldowns, records_document
from normalizer.report.gathering import find_preferences, gather, open_all
from normalizer.report.html_page import assemble, describe_sample, page
from normalizer.report.markup import Html, el, join, table
from normalizer.report.raw_lines import Raw
from normalizer.report.records.lookup import COUNTED, RecordLookup
from normalizer.report.records.page_records import PageRecords
from normalizer.report.records.sample import Sample
from normalizer.report.sections import Section, section
from normalizer.report.study import RecordCounts, ReportOptions, Study
from normalizer.tables.formats import note_flags
from normalizer.tables.summary_table import selection_in_words

_NO_SCALE = Rubric("", {})


@contextmanager
def gather_any(
    folders: tuple[Path, ...], options: Options, wanted: ReportOptions, done: Callable[[], None] = lambda: None
) -> Iterator[Study]:
    """Open ledgers and yield the study of them. Those that hold comparisons are its preferences."""
    with open_all(folders, options, wanted) as opened:
        compares = {folder: holds_comparisons(opened[folder]) for folder in folders}
        duels = (*(folder for folder in folders if compares[folder]), *wanted.preferences)
        scores = tuple(folder for folder in folders if not compares[folder])
        with (
            gather(opened, scores, options, replace(wanted, preferences=duels), done)
            if scores
            else gather_comparisons([opened[folder] for folder in duels], options, wanted)
        ) as study:
            yield study


def any_page(study: Study, options: Options, *, title: str) -> bytes:
    """Return the page of a study."""
    return page(study, options, title=title) if study.summary else comparison_page(study, options, title=title)


@contextmanager
def gather_comparisons(ledgers: list[Ledger], options: Options, wanted: ReportOptions) -> Iterator[Study]:
    """Yield the study of opened ledgers of comparisons. It has no summary, and is about the comparisons."""
    size = sum(ledger.size("records") for ledger in ledgers)
    with (
        start_engine(options.engine, options.memory, size) as engine,
        TemporaryDirectory(prefix="normalizer-") as scratch,
    ):
        pages = PageRecords(engine, Sample(dict.fromkeys(ledgers)), Path(scratch))
        table = pages.make_table(pages.add_comparisons(ledgers, options.where, options.rules))
        pages.complete(table, "NULL", 1)
        reasons = pages.add_bundles(ledgers)
        yield Study(
            rubric=_NO_SCALE,
            lookup=RecordLookup(table, about="1 = 1"),
            shown=pages.shown,
            counts=RecordCounts(table.count(), table.count(), table.count(COUNTED)),
            bundles=pages.bundles,
            bundle_reasons=reasons,
            preferences=find_preferences(table, ledgers, options, wanted),
            comparisons=table,
        )


def comparison_page(study: Study, options: Options, *, title: str) -> bytes:
    """Return the page of a study of comparisons."""
    drilldowns = Drilldowns()
    raw = Raw(study.bundles, (each.record for each in study.shown))
    command = ["normalizer preferences LEDGER"]
    command += [f"--where {shlex.quote(f'{name}={level}')}" for name, level in options.where.items()]
    command += ["--diagnostic"] if options.rules.diagnostic else []
    command += [f"--mix {name}" for name in sorted(options.rules.mix)]
    parts = [
        *decision_sections(study, drilldowns),
        _explain_left_out(study, drilldowns),
        audit_sections.method(study, [" ".join(command)], version()),
    ]
    top = _top(study, title, drilldowns)  # before the data, since its numbers open records, too
    data = {"trails": drilldowns.document(raw), "records": records_document(study, raw), "bundles": raw.document()}
    return assemble(title, top, parts, data)


def _top(study: Study, title: str, drilldowns: Drilldowns) -> Html:
    document = study.preferences or {}
    where = selection_in_words(document["where"])
    kinds = [("comparisons", study.lookup.of_status()), ("counted", study.lookup.of_status("counted"))]
    kinds.append(("INVALID", study.lookup.of_status("invalid")))
    shown = [
        el("div", el("dt", name), el("dd", drilldowns.number(found.count, drilldowns.add(f"All: {name}", found))))
        for name, found in kinds
    ]
    lead = f"Verdicts on two answers. {f'Selected: {where}. ' if where else ''}Only VALID and eligible ones count."
    said = [*note_flags(document["flags"]), *describe_sample(study)]
    notices = (el("p", one, class_="notice") for one in said)
    return join([el("h1", title), el("p", lead, class_="muted"), *notices, el("dl", *shown, class_="figures")])


def _explain_left_out(study: Study, drilldowns: Drilldowns) -> Section:
    rows = []
    for reason, count in (study.preferences or {})["left_out"].items():
        found = drilldowns.add(f"Left out: {audit_sections.LEFT_OUT[reason]}", study.lookup.of_status(reason))
        rows.append([reason, drilldowns.number(count, found), audit_sections.LEFT_OUT[reason]])
    return section(
        "left-out",
        "Left out, and why",
        "Nothing is dropped silently. Comparisons that reach no number are counted here by reason.",
        table(["reason", "count", "meaning"], rows, id="t-left-out"),
        name="Left out",
    )
