"""Write a study as one page that fetches nothing. Equal ledgers and options give equal bytes.

Tables and drawings are in the page as they are; records and raw bundles go into it as data, in a block that no content
can close, and the page's own script shows them as text only. Its policy forbids every other script, style and request.
"""

import base64
import hashlib
import html
import json
import shlex
from importlib.resources import files
from typing import Any

from normalizer.aggregate.summary import Options
from normalizer.documents.protocol import version
from normalizer.report import audit_sections, judge_sections, sections
from normalizer.report.decisions.sections import decision_sections
from normalizer.report.drilldown import Drilldowns, records_document
from normalizer.report.markup import Html, el, join, visible
from normalizer.report.raw_lines import Raw
from normalizer.report.sections import Section
from normalizer.report.study import Study
from normalizer.tables.formats import note_flags
from normalizer.tables.summary_table import selection_in_words


def page(study: Study, options: Options, *, title: str) -> bytes:
    """Return the page of a study: of scores, of comparisons, or of both."""
    drilldowns = Drilldowns()
    raw = Raw(study.bundles, (each.record for each in study.shown))
    found: list[Section | None] = []
    if study.summary:
        found = [
            sections.headline(study, drilldowns),
            sections.distribution(study),
            sections.contrasts(study, drilldowns),
            judge_sections.judges(study, drilldowns),
            judge_sections.drift(study, drilldowns),
        ]
    found += [
        *decision_sections(study, drilldowns),
        audit_sections.evidence(study, drilldowns),
        audit_sections.claims(study, drilldowns),
        audit_sections.write_left_out(study, drilldowns),
        audit_sections.method(study, _commands(study, options), version()),
    ]
    top = _top(study, title, drilldowns)  # before the data, since its numbers open records, too
    data = {"trails": drilldowns.document(raw), "records": records_document(study, raw), "bundles": raw.document()}
    return _assemble(title, top, [part for part in found if part is not None], data)


def _assemble(title: str, top: Html, parts: list[Section], data: dict[str, Any]) -> bytes:
    """Return a page of these parts below its top, with the data that its script shows."""
    body = join(
        [
            el("header", top, class_="wrap top"),
            _nav(parts),
            el("main", *(part.markup for part in parts), class_="wrap"),
            el("footer", "Made by normalizer report.", class_="wrap"),
        ]
    )
    script, style = _asset("report.js"), _asset("report.css")
    policy = [
        "default-src 'none'",
        f"script-src '{_hash(script)}'",
        f"style-src '{_hash(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ]
    filled = {
        "policy": "; ".join(policy),
        "title": html.escape(visible(title)),
        "style": style,
        "body": body,
        "data": _data(data),
        "script": script,
    }
    # One pass from left to right, so that nothing put in is looked at again.
    first, *pieces = _asset("report.html").split("{{")
    out = [first]
    for piece in pieces:
        name, _, rest = piece.partition("}}")
        out += [filled[name], rest]
    return "".join(out).encode()


def _top(study: Study, title: str, drilldowns: Drilldowns) -> Html:
    document, lookup = study.summary or study.preferences or {}, study.lookup
    where = selection_in_words(document["where"])
    chosen = f"Selected: {where}. " if where else ""
    if study.summary:
        low, high = document["scale"]
        lead = f"Scores by rubric {document['rubric']}, total from {low:f} to {high:f}. {chosen}"
        lead += "Only VALID and eligible records reach a number."
        kinds = {"records": lookup.of_status(), "VALID": lookup.of_status(valid=(1,))}
        kinds |= {"INVALID": lookup.of_status(valid=(0,)), "in the headline": lookup.of_status("counted")}
    else:
        lead = f"Verdicts on two answers. {chosen}Only VALID and eligible ones count."
        kinds = {"comparisons": lookup.of_status(), "counted": lookup.of_status("counted")}
        kinds["INVALID"] = lookup.of_status("invalid")
    figures = {
        name: drilldowns.number(behind.count, drilldowns.add(f"All: {name}", behind)) for name, behind in kinds.items()
    }
    for column in ("artifact", "judge", "generator") if study.summary else ():
        figures[f"{column}s"] = Html(lookup.count_levels(column))
    flags = study.agreement["flags"] if study.summary else document["flags"]
    notices = (el("p", said, class_="notice") for said in [*note_flags(flags), *_describe_sample(study)])
    shown = (el("div", el("dt", name), el("dd", figure)) for name, figure in figures.items())
    return join([el("h1", title), el("p", lead, class_="muted"), *notices, el("dl", *shown, class_="figures")])


def _describe_sample(study: Study) -> list[str]:
    """Return a sentence on the records that are not shown, if there are any."""
    every, shown = study.counts.every, len(study.shown)
    if every == shown:
        return []
    return [
        f"A sample: {shown:,} of {every:,} records can be opened, those with the least ids. "
        "Every number is of all its records; `normalizer explain` shows any of them."
    ]


def _nav(parts: list[Section]) -> Html:
    links = [el("li", el("a", part.name, href=f"#{part.id}")) for part in parts]
    theme = el("button", "Theme: auto", type="button", id="theme", title="Colours: as the system has them")
    return el("nav", el("ul", *links, el("li", theme)), aria_label="Sections")


def _commands(study: Study, options: Options) -> list[str]:
    """The commands that print the numbers of the page."""
    chosen = [
        f"--where {shlex.quote(f'{name}={level if level is not None else str()}')}"
        for name, level in options.where.items()
    ]
    chosen += ["--diagnostic"] if options.rules.diagnostic else []
    chosen += [f"--mix {name}" for name in sorted(options.rules.mix)]
    if not study.summary:
        return [" ".join(["normalizer preferences LEDGER", *chosen])]
    by = [f"--by {shlex.quote(','.join(options.by))}"] if options.by else []
    unit = [f"--unit {options.unit}"] if options.unit != "artifact" else []
    method = options.interval
    spread = ["--interval t"] if method.student else []
    spread += [f"--cluster {shlex.quote(method.cluster)}"] if method.cluster else []
    commands = [" ".join(["normalizer aggregate LEDGER --sensitivity", *by, *unit, *spread, *chosen])]
    commands.append(" ".join(["normalizer agreement LEDGER", *chosen]))
    for report in study.contrasts:
        pairs = [f"--by {shlex.quote(report['by'])} --pair-by {shlex.quote(','.join(report['paired_by']))}"]
        commands.append(" ".join(["normalizer compare LEDGER", *pairs, *chosen]))
    commands.append("normalizer audit LEDGER --claims --all")
    if study.evidence:
        commands.append("normalizer audit LEDGER --artifacts DIR")
    commands.append(" ".join(["normalizer check TABLE.csv LEDGER", *by, *unit, *spread, *chosen]))
    return commands


def _asset(name: str) -> str:
    return (files("normalizer.report") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(value: Any) -> str:
    """JSON that stays inside a script element whatever it holds."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
