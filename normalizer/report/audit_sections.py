"""The report's sections on evidence, judges' claims, records left out, and method."""

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Any

import contract_spec as spec

from normalizer.aggregate import keys
from normalizer.checks.evidence import GOOD, VERDICTS
from normalizer.report.drilldown import Drilldowns
from normalizer.report.markup import Html, el, join, table
from normalizer.report.records.record_table import Behind
from normalizer.report.sections import Section, notes, percent, percents, section
from normalizer.report.study import Study
from normalizer.tables.audit_table import NEVER, WORDS, elsewhere

_REASONS: dict[str, Any] = spec.resource("rules/reasons.json")
LEFT_OUT = {
    "not_selected": "not of the selection (--where, or another rubric)",
    "duplicate": "of a bundle that another ledger had already",
    "invalid": "INVALID: breaks a rule of its phase; kept for audit, never in a number",
    "diagnostic": "phase 0 is diagnostic and in no final number",
    "other_judge_kind": "a label of a person or a reference; only labels of models count unless others are asked for",
    "off_scale": "a phase 0 record whose scores are not all on the scale",
    "self_judged": "a group whose only valid records are self-judged gets no number",
    "unreadable_bundles": "bundles from which no record could be made",
    "files_without_entry": "files that a manifest lists and a bundle lacks",
}
_WRONG = 200
"""Quotations listed one by one; more are only counted."""


def evidence(study: Study, drilldowns: Drilldowns) -> Section | None:
    """Return the section with verdicts on quotations."""
    if not study.evidence:
        return None
    places = {each.id: number for number, each in enumerate(study.shown) if each.origin == ""}
    counts: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    known: set[str] = set()
    wrong: list[list[Any]] = []
    for report in study.evidence:
        for finding in report["findings"]:
            key = keys.level(finding["judge_model"]), finding["verdict"]
            if finding["record_id"] in known:  # of a bundle that another ledger had already
                continue
            counts[key] += 1
            found[key][finding["record_id"]] = None
            if finding["verdict"] not in GOOD:
                drilldown = drilldowns.add(
                    f"Record {finding['record_id'][:12]}", _behind([finding["record_id"]], places)
                )
                where = elsewhere(finding) or finding["why"] or ""
                badge = el("span", finding["verdict"], class_="badge bad")
                artifact = drilldowns.words(keys.level(finding["artifact"]), drilldown)
                wrong.append([badge, artifact, key[0], finding["dimension"], finding["quote"], where])
        known |= {finding["record_id"] for finding in report["findings"]}
    rows = [
        [
            judge,
            *(
                drilldowns.number(
                    counts[judge, verdict],
                    drilldowns.add(
                        f"{judge}: evidence that is {verdict}", _behind(found.get((judge, verdict), {}), places)
                    ),
                )
                for verdict in VERDICTS
            ),
        ]
        for judge in sorted({judge for judge, _ in counts})
    ]
    states = Counter(file["state"] for report in study.evidence for file in report["artifacts"])
    said = [f"{verdict}: {WORDS[verdict]}." for verdict in VERDICTS if any(counts[row[0], verdict] for row in rows)]
    said.append("Evaluated files: " + ", ".join(f"{states[state]} {state}" for state in sorted(states)) + ".")
    listed = table(
        ["verdict", "artifact", "judge", "dimension", "quotation", "found in, or why not"],
        wrong[:_WRONG],
        id="t-quotations",
    )
    return section(
        "evidence",
        "Evidence",
        f"Is what judges quote really in the evaluated file? {NEVER}",
        table(["judge", *VERDICTS], rows, id="t-evidence"),
        notes(said),
        join([el("h3", "Not where it should be"), listed]) if wrong else None,
        notes([f"{len(wrong) - _WRONG} more are not listed here."] if len(wrong) > _WRONG else []),
    )


def _behind(ids: Collection[str], places: dict[str, int]) -> Behind:
    """Return the records with these ids, each once."""
    return Behind(len(ids), tuple(places[one] for one in ids if one in places))


def claims(study: Study, drilldowns: Drilldowns) -> Section | None:
    """Return the section on numbers that judges wrote about their own scores."""
    counts = study.claim_counts
    if not counts:
        return None
    rows = []
    for claim in study.claims:
        spot = claim["bundle_sha256"], claim["pointer"]
        drilldown = drilldowns.add(f"Claimed: {claim['claimed']} at {claim['pointer']}", Behind(), (spot,))
        behind = study.lookup.bundle(claim["bundle_sha256"])
        computed = drilldowns.add(f"Records of bundle {claim['bundle_sha256'][:12]}", behind)
        number = drilldowns.number(claim["recomputed"], computed if claim["recomputed"] is not None else None)
        tone = "bad" if claim["verdict"] == "mismatch" else "warn"
        badge = el("span", claim["verdict"], class_=f"badge {tone}")
        cited = drilldowns.number(claim["claimed"], drilldown)
        rows.append([claim["bundle_sha256"][:12], claim["pointer"], cited, number, badge])
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts))
    return section(
        "claims",
        "Claims of judges about their own scores",
        "Totals of entries and numbers under a bundle's aggregates, recomputed from its VALID records. "
        "Claims are never used.",
        table(["bundle", "where", "claimed", "recomputed", "verdict"], rows, id="t-claims") if rows else None,
        notes([f"{counts.total()} claims: {said}."]),
        name="Claims",
    )


def write_left_out(study: Study, drilldowns: Drilldowns) -> Section:
    """Return the section on records that are in no number, by reason."""
    document = study.summary or study.preferences or {}
    rows = []
    for reason, count in document["left_out"].items():
        title, behind, spots = f"Left out: {LEFT_OUT[reason]}", Behind(), set[tuple[str, str]]()
        if study.summary and reason in ("unreadable_bundles", "files_without_entry"):
            spots = {
                (one["bundle_sha256"], one["pointer"])
                for one in study.bundle_reasons
                if count
                if (one["unreadable"] if reason == "unreadable_bundles" else one["code"] == "file_without_entry")
            }
        else:
            behind = study.lookup.of_status(reason)
        drilldown = drilldowns.add(title, behind, tuple(sorted(spots)))
        rows.append([reason, drilldowns.number(count, drilldown), LEFT_OUT[reason]])
    said = [f"{study.counts.counted} of {document['records']} records are in the headline's numbers."]
    about_scores = [notes(said), _rates(study, drilldowns), _reasons(study, drilldowns)] if study.summary else []
    what = "Records and bundles" if study.summary else "Comparisons"
    return section(
        "left-out",
        "Left out, and why",
        f"Nothing is dropped silently. {what} that reach no number are counted here by reason.",
        table(["reason", "count", "meaning"], rows, id="t-left-out"),
        *about_scores,
        name="Left out",
    )


def _rates(study: Study, drilldowns: Drilldowns) -> Html:
    rows = []
    for key, levels in study.sensitivity["invalid_rates"].items():
        for row in levels:
            name = f"{key} {keys.level(row['level'])}"
            every = drilldowns.add(f"{name}: all records", study.lookup.find_screened(key, row["level"], invalid=False))
            invalid = drilldowns.add(
                f"{name}: INVALID records", study.lookup.find_screened(key, row["level"], invalid=True)
            )
            counts = [drilldowns.number(row["records"], every), drilldowns.number(row["invalid"], invalid)]
            shares = [percent(row["rate"]), percents(row["exact95"])]
            linked = [drilldowns.number(each, invalid or every) for each in shares]
            rows.append([key, keys.level(row["level"]), *counts, *linked])
    columns = ["key", "level", "records", "invalid", "rate", "95 % (exact)"]
    return join([el("h3", "Invalid rates"), table(columns, rows, id="t-rates")])


def _reasons(study: Study, drilldowns: Drilldowns) -> Html | None:
    bundles: dict[str, list[tuple[str, str]]] = {}
    for reason in study.bundle_reasons:
        bundles.setdefault(reason["code"], []).append((reason["bundle_sha256"], reason["pointer"]))
    rows = []
    for code, rule in _REASONS.items():
        blamed = study.lookup.find_blamed(code)
        if blamed.count or code in bundles:
            records = drilldowns.add(f"{code}: records", blamed)
            raw = drilldowns.add(f"{code}: bundles", Behind(), tuple(sorted(set(bundles.get(code, [])))))
            count = len({sha256 for sha256, _ in bundles.get(code, [])})
            rows.append([code, rule["clause"], drilldowns.number(blamed.count, records), drilldowns.number(count, raw)])
    if not rows:
        return None
    lead = "Over all records of the ledgers, selected or not; a record may have several reasons."
    columns = ["code", "clause of the protocol", "records", "bundles"]
    return join([el("h3", "Reasons of invalidity"), el("p", lead), table(columns, rows, id="t-reasons")])


def method(study: Study, commands: list[str], protocol: str) -> Section:
    """Method, options, versions, and the commands that check the page."""
    sizes = study.bundles.sizes
    rows = [[sha256, sizes[sha256], study.lookup.bundle(sha256).count] for sha256 in sorted(sizes)]
    return section(
        "method",
        "How to check this page",
        "The page is a function of the ledger's bytes and the options: made again, it is the same to the byte. "
        "These commands print the same numbers to six places; a table that was published elsewhere is checked with "
        "normalizer check.",
        el("pre", "\n".join(commands)),
        notes(
            [
                "Numbers are computed exactly, from whole numbers and fractions, and rounded once; what is shown is "
                "what the exact value rounds to.",
                f"Made under protocol version {protocol}.",
            ]
        ),
        el("h3", "Raw bundles"),
        table(["sha256", "bytes", "records"], rows, id="t-bundles"),
        name="Method",
    )
