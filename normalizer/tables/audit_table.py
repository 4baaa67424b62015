"""An audit report as CSV, as text for a pipe, and as tables for a terminal."""

from collections.abc import Iterator
from typing import Any

from normalizer.aggregate import keys
from normalizer.checks.evidence import GOOD, VERDICTS
from normalizer.tables import formats
from normalizer.tables.formats import Cell, Table, escape_invisible

_DIGESTS = {
    "match": "every file is as commit.json records it",
    "differ": "files differ from commit.json",
}


def _rows(report: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """Everything that is counted: table, row, column, number."""
    rows = [("counts", "ledger", key, count) for key, count in report["counts"].items()]
    rows += [("verified", "ledger", key, count) for key, count in report["verified"].items() if key != "not_verifiable"]
    rows += [
        ("not_verifiable", row["protocol"], "bundles", row["bundles"]) for row in report["verified"]["not_verifiable"]
    ]
    rows += [("eligibility", "valid", key, count) for key, count in report["eligibility"].items()]
    titles = {"reasons": "code", "judges": "judge_model", "generators": "generator_model", "phases": "phase"}
    for table, key in {**titles, "protocols": "protocol"}.items():
        for row in report[table]:
            name = keys.level(row[key])
            rows += [
                (table, name, column, row[column]) for column in row if column not in (key, "clause", "invalid_rate")
            ]
    return rows


def csv_text(report: dict[str, Any]) -> str:
    """Return every count as a row: table, name, column, count."""
    return formats.csv_text(Table(["table", "name", "column", "count"], [list(row) for row in _rows(report)], []))


def summary_lines(report: dict[str, Any]) -> list[str]:
    """Return the lines that stand above the tables: bundles, entries, eligibility, verification, digests."""
    counts, eligible = report["counts"], report["eligibility"]
    return [
        f"bundles: {counts['bundles']} read, {counts['audited']} unreadable",
        f"entries: {counts['entries']} = {counts['valid']} valid + {counts['invalid']} invalid",
        f"valid:   {eligible['eligible']} eligible, {eligible['diagnostic']} diagnostic (phase 0), "
        f"{eligible['self_judged']} self-judged",
        f"verified: {_tell_verified(report['verified'], counts['bundles'] + counts['audited'])}",
        f"digests: {_DIGESTS[report['digests']]}",
    ]


def _tell_verified(verified: dict[str, Any], bundles: int) -> str:
    if "not_compared" in verified:
        return "no bundle was normalized again and compared (--no-verify)"
    return f"{verified['bundles']} of {bundles} bundles give the same lines when they are normalized again"


_TITLES = (
    ("judge", "judges", "judge_model"),
    ("generator", "generators", "generator_model"),
    ("phase", "phases", "phase"),
)
"""Title, table and key of each table of counts."""


def tables(report: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables of the text, for a terminal."""
    if report["reasons"]:
        columns = ["code", "clause", "records", "bundles"]
        rows = [[reason[name] for name in columns] for reason in report["reasons"]]
        yield Table(["reason", *columns[1:]], rows, [])
    for title, table, key in _TITLES:
        rows = [[keys.level(row[key]), row["valid"], row["invalid"], _rate(row)] for row in report[table]]
        yield Table([title, "valid", "invalid", "rate"], rows, [])


def _rate(row: dict[str, Any]) -> str:
    """Return the share of INVALID records in per cent."""
    return f"{100 * row['invalid_rate']:.1f} %"


def text(report: dict[str, Any]) -> str:
    """Return the whole report as text for a pipe or a file."""
    lines = summary_lines(report)
    if report["reasons"]:
        lines += ["", f"{'reason':<28}{'clause':>7}{'records':>9}{'bundles':>9}"]
        lines += [f"{r['code']:<28}{r['clause']:>7}{r['records']:>9}{r['bundles']:>9}" for r in report["reasons"]]
    for title, table, key in _TITLES:
        lines += ["", f"{title:<28}{'valid':>7}{'invalid':>9}{'rate':>9}"]
        for row in report[table]:
            name = escape_invisible(keys.level(row[key]))
            lines.append(f"{name:<28}{row['valid']:>7}{row['invalid']:>9}{_rate(row):>9}")
    return "\n".join(lines) + "\n"


_COLUMNS = ["bundle_sha256", "pointer", "claimed", "statistic", "measure", "recomputed", "records", "verdict"]


def claims_table(report: dict[str, Any]) -> Table:
    """Return one row a claim, and a note that counts all verdicts."""
    rows = [[_cell(column, claim[column]) for column in _COLUMNS] for claim in report["claims"]]
    counts = ", ".join(f"{verdict} {count}" for verdict, count in report["counts"].items())
    return Table(_COLUMNS, rows, [f"Claims: {counts}."])


def _cell(column: str, value: Any) -> Any:
    """Return the value of a cell; a dimension is written so that it cannot be taken for `total`."""
    return keys.dimension(value) if column == "measure" and value not in (None, "total") else value


WORDS = {
    "exact": "the quotation is in the evaluated file to the character",
    "folded": "it is there but for compatibility forms, quotation marks, Markdown marks or white space",
    "elided": "its parts between ellipses are there, in order",
    "other_artifact": "it is not in the evaluated file but in another one",
    "absent": "it is in no evaluated file",
    "empty": "nothing is quoted",
    "not_checked": "the evaluated file is missing, is not the one that the manifest means, or has no text",
}
NEVER = "Verdicts are findings for audit; no score and no validity depends on them."


def count_evidence(report: dict[str, Any]) -> Table:
    """Return one row per judge."""
    rows: list[list[Cell]] = [
        [keys.level(judge["judge_model"]), sum(judge["counts"].values()), *judge["counts"].values()]
        for judge in report["judges"]
    ]
    used = [verdict for verdict in VERDICTS if report["counts"][verdict]]
    states = [file["state"] for file in report["artifacts"]]
    said = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    notes = [f"{verdict}: {WORDS[verdict]}." for verdict in used]
    return Table(["judge", "quotations", *VERDICTS], rows, [*notes, f"Evaluated files: {said or 'none'}.", NEVER])


def list_wrong_evidence(report: dict[str, Any]) -> Table:
    """Return one row per quotation that is not in its file, and per file with another hash or none."""
    rows: list[list[Cell]] = []
    for file in report["artifacts"]:
        if file["state"] not in ("checked", "unhashed"):
            rows.append([f"file {file['state']}", file["artifact"], "", "", file["path"], ""])
    for finding in report["findings"]:
        if finding["verdict"] not in GOOD:
            where = elsewhere(finding) or finding["why"] or ""
            cells: list[Cell] = [finding["verdict"], keys.level(finding["artifact"]), finding["record_id"][:8]]
            rows.append([*cells, finding["dimension"], finding["quote"], where])
    return Table(["verdict", "artifact", "record", "dimension", "quotation or path", "found in, or why not"], rows, [])


def list_evidence(report: dict[str, Any]) -> Table:
    """Return one row per quotation, for programs."""
    columns = ["record_id", "validity", "judge_model", "artifact", "dimension", "verdict", "found_in", "why", "quote"]
    rows: list[list[Cell]] = []
    for finding in report["findings"]:
        where = " ".join(keys.level(found["artifact"], " ") for found in finding["found_in"])
        named = [keys.level(finding[name]) for name in ("judge_model", "artifact", "dimension")]
        cells: list[Cell] = [finding["record_id"], finding["validity"], *named, finding["verdict"], where]
        rows.append([*cells, finding["why"] or "", keys.as_text(finding["quote"])])
    return Table(columns, rows, [])


def elsewhere(finding: dict[str, Any]) -> str:
    """Return the other artifacts in which a quotation was found."""
    return ", ".join(keys.level(found["artifact"], ", ") for found in finding["found_in"])
