"""Verdicts on evidence as tables: counts by judge, and quotations that were not found."""

from typing import Any

from normalizer.aggregate import cell_names
from normalizer.checks.evidence import GOOD, VERDICTS
from normalizer.tables.formats import Cell, Table

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


def counts(report: dict[str, Any]) -> Table:
    """Return one row per judge."""
    rows: list[list[Cell]] = [
        [cell_names.level(judge["judge_model"]), sum(judge["counts"].values()), *judge["counts"].values()]
        for judge in report["judges"]
    ]
    used = [verdict for verdict in VERDICTS if report["counts"][verdict]]
    states = [file["state"] for file in report["artifacts"]]
    said = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    notes = [f"{verdict}: {WORDS[verdict]}." for verdict in used]
    return Table(["judge", "quotations", *VERDICTS], rows, [*notes, f"Evaluated files: {said or 'none'}.", NEVER])


def wrong(report: dict[str, Any]) -> Table:
    """Return one row per quotation that is not in its file, and per file with another hash or none."""
    rows: list[list[Cell]] = []
    for file in report["artifacts"]:
        if file["state"] not in ("checked", "unhashed"):
            rows.append([f"file {file['state']}", file["artifact"], "", "", file["path"], ""])
    for finding in report["findings"]:
        if finding["verdict"] not in GOOD:
            where = elsewhere(finding) or finding["why"] or ""
            rows.append(
                [
                    finding["verdict"],
                    cell_names.level(finding["artifact"]),
                    finding["record_id"][:8],
                    finding["dimension"],
                    finding["quote"],
                    where,
                ]
            )
    return Table(["verdict", "artifact", "record", "dimension", "quotation or path", "found in, or why not"], rows, [])


def everything(report: dict[str, Any]) -> Table:
    """Return one row per quotation, for programs."""
    columns = ["record_id", "validity", "judge_model", "artifact", "dimension", "verdict", "found_in", "why", "quote"]
    rows: list[list[Cell]] = []
    for finding in report["findings"]:
        where = " ".join(cell_names.level(found["artifact"], " ") for found in finding["found_in"])
        named = [cell_names.level(finding[name]) for name in ("judge_model", "artifact", "dimension")]
        cells: list[Cell] = [finding["record_id"], finding["validity"], *named, finding["verdict"], where]
        rows.append([*cells, finding["why"] or "", cell_names.as_text(finding["quote"])])
    return Table(columns, rows, [])


def elsewhere(finding: dict[str, Any]) -> str:
    """Return the other artifacts in which a quotation was found."""
    return ", ".join(cell_names.level(found["artifact"], ", ") for found in finding["found_in"])
