"""The tables and figures of a report as files: CSV for programs, Markdown, LaTeX; SVG, PDF and PNG."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from normalizer.aggregate import keys
from normalizer.errors import CannotRun
from normalizer.report.plots import COLOURS
from normalizer.report.study import Study
from normalizer.tables import (
    agreement_table,
    audit_table,
    calibration_table,
    contrast_table,
    gate_table,
    preferences_table,
    summary_table,
)
from normalizer.tables.formats import Cell, Table, add_flags, note_flags, p_value, write_table

_SUFFIXES = {"csv": "csv", "md": "md", "latex": "tex"}
_DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\setlength{\textwidth}{17cm}
\setlength{\oddsidemargin}{0pt}
\begin{document}
%s
\end{document}
"""


def export(study: Study, folder: Path) -> list[Path]:
    """Write all tables as CSV, Markdown and LaTeX, and `all.tex`, which includes them. Return the paths."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        inputs = []
        for name, (narrow, wide) in _name_tables(study).items():
            for form, suffix in _SUFFIXES.items():
                paths.append(folder / f"{name}.{suffix}")
                _write(paths[-1], write_table(wide if form == "csv" else narrow, form))
            inputs.append(rf"\section*{{{name}}}\tiny\setlength{{\tabcolsep}}{{2pt}}\input{{{name}.tex}}\clearpage")
        paths.append(folder / "all.tex")
        _write(paths[-1], _DOCUMENT % "\n".join(inputs))
        return paths
    except OSError as error:
        raise CannotRun(f"cannot write tables to {folder}: {error.strerror}") from None


def figures(page: bytes, folder: Path) -> list[Path]:
    """Write every plot of a page as SVG, PDF and PNG, in black on white. Return the paths.

    File names are numbered in the order of the page. Of a plot that the page also has for small screens, the wide
    drawing is written.
    """
    import vl_convert

    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        every = re.findall(r"<svg[^>]*>.*?</svg>", page.decode(), re.DOTALL)
        wide = [drawn for drawn in every if 'class="narrow"' not in drawn.partition(">")[0]]
        for number, drawn in enumerate(wide, start=1):
            title = re.search(r'aria-label="([^"]*)"', drawn)
            name = f"{number:02}-{_words(html.unescape(title[1] if title else 'plot'))}"
            svg = drawn.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
            for colour, variable in COLOURS.items():
                svg = svg.replace(f"var(--{variable})", colour)
            written_as = {
                "svg": svg.encode(),
                "pdf": vl_convert.svg_to_pdf(svg),
                "png": vl_convert.svg_to_png(svg, scale=2),
            }
            for suffix, data in written_as.items():
                paths.append(folder / f"{name}.{suffix}")
                paths[-1].unlink(missing_ok=True)  # a link in its place may lead into a ledger
                paths[-1].write_bytes(data)
        return paths
    except OSError as error:
        raise CannotRun(f"cannot write figures to {folder}: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)  # a link in its place may lead into a ledger
    path.write_text(text, encoding="utf-8", newline="\n")


def _name_tables(study: Study) -> dict[str, tuple[Table, Table]]:
    """Each table for people and for programs by the name of its files. No two keys have one name, whatever is left of
    them in it."""
    found: dict[str, tuple[Table, Table]] = {}
    for title, flags, narrow, wide in _tables(study):
        name, number = title, 2
        while name in found:
            name, number = f"{title}-{number}", number + 1
        said = [note for note in note_flags(flags) if note not in narrow.notes]
        found[name] = replace(narrow, notes=[*said, *narrow.notes]), add_flags(wide, flags)
    return found


def _tables(study: Study) -> Iterator[tuple[str, list[str], Table, Table]]:
    """Yield for each table its file name, the notes on all numbers, and the table for people and for programs."""
    flags = study.agreement.get("flags", [])
    diagnostic = [flag for flag in flags if flag == "diagnostic"]
    if study.summary:
        yield from _score_tables(study, flags, diagnostic)
    documents = {
        "preferences": (study.preferences, preferences_table.list_tables),
        "calibration": (study.calibration, calibration_table.list_tables),
    }
    for part, (document, named) in documents.items():
        of_part = [flag for flag in (document or {"flags": []})["flags"] if flag != "self_judged_included"]
        for title, table in named(document) if document else []:
            yield f"{part}-{_words(title)}", of_part, table, table
    if study.gate is not None:
        verdicts = gate_table.table(study.gate)
        yield "gate", diagnostic, verdicts, verdicts
    for number, report in enumerate(study.evidence):
        counts, everything = audit_table.count_evidence(report), audit_table.list_evidence(report)
        yield f"evidence{number + 1 if number else ''}", diagnostic, counts, everything


def _score_tables(
    study: Study, flags: list[str], diagnostic: list[str]
) -> Iterator[tuple[str, list[str], Table, Table]]:
    yield "headline", diagnostic, summary_table.narrow(study.summary), summary_table.wide(study.summary)
    agreed = agreement_table.table(study.agreement)
    yield "agreement", flags, agreed, agreed
    judged = [("severity-of-judges", agreement_table.severity(study.agreement["severity"]))]
    if study.agreement["self_against_cross"]:
        judged.append(("self-against-cross-judging", agreement_table.selves(study.agreement["self_against_cross"])))
    for title, table in [*summary_table.list_sensitivity(study.sensitivity, study.summary["by"]), *judged]:
        yield (title.lower().replace(" ", "-") if len(title) < 40 else "bounds"), flags, table, table
    for report in study.contrasts:
        table = contrast_table.table(report)
        key = report["contrasts"][0]["key"]
        keyed = Table(["key", *table.columns], [[keys.as_text(key), *row] for row in table.rows], table.notes)
        yield f"contrast-{_file_name(key)}", flags, table, keyed
    if study.drift:
        drifted = _drift(study)
        yield "drift", diagnostic, drifted, drifted


def _words(title: str) -> str:
    """Return the words of a title as a part of a file's name."""
    return re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")[:100]


def _file_name(key: str) -> str:
    return "".join(char if char.isalnum() and char.isascii() else "-" for char in key[:100])


def _drift(study: Study) -> Table:
    rows: list[list[Cell]] = []
    for row in study.drift:
        ends: Any = row["ci95"] or [None, None]
        cells: list[Cell] = [
            keys.level(row["judge"]),
            *row["versions"],
            row["n"],
            row["difference"],
            row["sd"],
            *ends,
        ]
        rows.append([*cells, p_value(row["p"]), row["equal"], *row["dimensions"].values()])
    columns = ["judge", "first", "second", "n", "difference", "sd", "ci95_low", "ci95_high", "p", "equal"]
    note = "One judge under two versions, on artifacts that both judged; second minus first."
    return Table([*columns, *map(keys.dimension, study.rubric.dimensions)], rows, [note])
