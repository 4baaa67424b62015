"""Write a table as text, CSV, Markdown or LaTeX. For JSON, commands print the document itself."""

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from normalizer.aggregate.keys import json_quoted
from normalizer.errors import CannotRun

Cell = str | int | Decimal | None
NA = "NA"
_LEAST_P = Decimal("0.000001")
# GitHub Actions obey a line of a log that begins with one of these.
_CI_COMMANDS = ("::", "##[")


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, rows and notes. Numbers are aligned right, and None is written as NA."""

    columns: list[str]
    rows: list[list[Cell]]
    notes: list[str]
    bold: frozenset[tuple[int, int]] = frozenset()
    """Row and column of each cell that is bold in Markdown and LaTeX."""


class PValue(Decimal):
    """A rounded p-value. One that is 0 is shown to people as less than the least that is written."""

    def to_text(self, least: Decimal = _LEAST_P) -> str:
        """Return the text for people, where p-values below half of `least` are written as 0."""
        return f"< {least:f}" if self < least / 2 else f"{self:f}"


def p_value(p: Decimal | None) -> PValue | None:
    """Return the cell of a p-value."""
    return None if p is None else PValue(p)


def choose_columns(table: Table, columns: tuple[str, ...] = (), names: dict[str, str] | None = None) -> Table:
    """Return the table with only these columns, in this order, renamed as `names` says. Raises CannotRun for a column
    that the table does not have."""
    names = names or {}
    for name in (*columns, *names):
        if name not in table.columns:
            raise CannotRun(f"the table has no column {name}: its columns are {', '.join(table.columns)}")
    places = [table.columns.index(name) for name in columns or table.columns]
    bold = frozenset((row, places.index(column)) for row, column in table.bold if column in places)
    rows = [[row[place] for place in places] for row in table.rows]
    return Table([names.get(table.columns[place], table.columns[place]) for place in places], rows, table.notes, bold)


def add_flags(table: Table, flags: list[str]) -> Table:
    """Return the table with flags for all its numbers added to every row, because CSV has no notes."""
    if not flags or "flags" in table.columns:
        return table
    rows = [[*row, " ".join(flags)] for row in table.rows]
    return Table([*table.columns, "flags"], rows, table.notes, table.bold)


def write_table(table: Table, form: str) -> str:
    """Return the table as text, csv, md or latex."""
    return {"text": text, "csv": csv_text, "md": markdown, "latex": latex}[form](table)


def spell_cells(table: Table) -> list[list[str]]:
    """Return the texts of all cells for people, those of the columns first."""
    rows: list[list[Cell]] = [[*table.columns], *table.rows]
    return [[escape_invisible(cell) for cell in row] for row in rows]


def text(table: Table) -> str:
    """Return the table as aligned text."""
    shown = spell_cells(table)
    widths = [max(map(display_width, column)) for column in zip(*shown, strict=True)]
    right = numeric(table)
    lines = []
    for row in shown:
        padded = [
            " " * (width - display_width(cell)) + cell if is_right else cell + " " * (width - display_width(cell))
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join([*lines, "", *map(printable, table.notes)]) + "\n"


def csv_text(table: Table) -> str:
    """Return comma-separated values, RFC 4180 with line feeds."""
    rows: list[list[Cell]] = [[*table.columns], *table.rows]
    return "".join(",".join(map(_csv, row)) + "\n" for row in rows)


def markdown(table: Table) -> str:
    """Return a Markdown table, with the notes as a list."""
    rule = ["---:" if is_right else "---" for is_right in numeric(table)]
    rows = [[markdown_text(escape_invisible(cell)) for cell in table.columns], rule]
    for place, row in enumerate(table.rows):
        cells = [markdown_text(escape_invisible(cell)) for cell in row]
        rows.append([f"**{cell}**" if (place, at) in table.bold else cell for at, cell in enumerate(cells)])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", *(f"- {markdown_text(printable(note))}" for note in table.notes)]) + "\n"


def latex(table: Table) -> str:
    """Return a `tabular` for one column of a page that needs no package, with the notes as a paragraph.

    It is in small type with narrow gaps and headings broken at dots and underscores; a table that is still too wide is
    scaled down to the column if the document uses graphicx.
    """
    columns = "".join("r" if is_right else "l" for is_right in numeric(table))
    head = [_break_heading(name) for name in table.columns]
    lines = [_SMALL, rf"\begin{{tabular}}{{{columns}}}", r"\hline", " & ".join(head) + r" \\", r"\hline"]
    for place, row in enumerate(table.rows):
        cells = [_latex(cell) for cell in row]
        bold = [rf"\textbf{{{cell}}}" if (place, at) in table.bold else cell for at, cell in enumerate(cells)]
        lines.append(" & ".join(bold) + r" \\")
    lines += [r"\hline", r"\end{tabular}", _FITTED]
    if table.notes:
        notes = " ".join(_latex_text(printable(note)) for note in table.notes)
        lines += ["", rf"\smallskip\noindent\footnotesize {notes}"]
    return "\n".join(lines) + "\n"


def cell_text(cell: Cell) -> str:
    """Return a cell unchanged, with decimals written out."""
    if cell is None:
        return NA
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)


def _csv(cell: Cell) -> str:
    # The csv module does not quote a lone carriage return, which readers take for the end of a row.
    text = cell_text(cell)
    needs_quotes = any(char in text for char in ',"\r\n') or text.startswith(_CI_COMMANDS)
    return '"' + text.replace('"', '""') + '"' if needs_quotes else text


def numeric(table: Table) -> list[bool]:
    """Return for each column whether it has numbers and no text."""
    columns = zip(*table.rows, strict=True) if table.rows else ([] for _ in table.columns)
    return [bool(column) and not any(isinstance(cell, str) for cell in column) for column in map(list, columns)]


def escape_invisible(cell: Cell) -> str:
    """Return a cell with invisible characters escaped, so that different values look different."""
    shown = cell.to_text() if isinstance(cell, PValue) else cell_text(cell)
    is_seen = shown.isprintable() and shown == shown.strip() and "  " not in shown
    is_seen = is_seen and not shown.startswith(_CI_COMMANDS)
    return shown if is_seen else json_quoted(shown)


def printable(note: str) -> str:
    """Return a note in which nothing is obeyed by a terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in note)


def display_width(shown: str) -> int:
    """Return the columns that a text takes on a terminal."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in shown)
    return len(shown) + wide - sum(unicodedata.combining(char) > 0 for char in shown)


def markdown_text(shown: str) -> str:
    """Escape text so that nothing in it is Markdown or HTML markup."""
    escaped = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{char}" if char in r"\`*_{}[]()#+!|~$" else char for char in escaped)


_SMALL = r"{\footnotesize\setlength{\tabcolsep}{2.5pt}\setbox0=\hbox{%"
"""The beginning of a table that is put into box 0."""

_FITTED = (
    r"}\noindent\ifdim\wd0>\columnwidth\ifx\resizebox\undefined\box0\else\resizebox{\columnwidth}{!}{\box0}\fi"
    r"\else\box0\fi}"
)
"""The end of a table that was put into box 0: as it is, or as wide as the column."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\texttt{\char34}",
    "`": r"\textasciigrave{}",
    "-": r"{-}",
    "\xb1": r"$\pm$",
    # At the start of a row these two would be arguments of the `\\` before it.
    "[": "{[}",
    "*": "{*}",
}


def _break_heading(name: str) -> str:
    """Break a heading into lines after dots, underscores and spaces."""
    parts = [part for part in re.split(r"(?<=[._ ])", name) if part]
    if len(parts) < 2:
        return _latex(name)
    stacked = r" \\ ".join(_latex_text(part.strip()) for part in parts)
    return rf"\shortstack{{{stacked}}}"


def _latex(cell: Cell) -> str:
    if isinstance(cell, (int, Decimal)) and not isinstance(cell, (bool, PValue)):
        return f"${cell_text(cell)}$" if cell < 0 else cell_text(cell)
    return _latex_text(escape_invisible(cell))


def _latex_text(text: str) -> str:
    # Not every TeX has characters beyond Latin-1: write their code in another font, so that the table compiles and no
    # plain name looks the same.
    return "".join(_LATEX.get(char, char if char <= "\xff" else rf"\texttt{{U+{ord(char):04X}}}") for char in text)


def tell_na(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return a note for each reason why a number of these rows is NA, of rows that have one."""
    return [f"NA: {reason}." for reason in sorted({row["na"] for row in rows if row["na"]})]


def ends(interval: list[Any] | None) -> list[Cell]:
    """Return the two cells of an interval."""
    return [None, None] if interval is None else [*interval]


def tell_reasons(*documents: dict[str, Any]) -> list[str]:
    """Return a note for each reason why a number of these documents is NA."""
    return [f"NA: {reason}." for reason in sorted({reason for each in documents for reason in each["na"].values()})]


class Range(str):
    """The text of an interval, which knows its ends."""

    ends: tuple[Decimal, Decimal]


def tell_range(interval: list[Any] | None) -> Range | None:
    """Return an interval as one cell."""
    if interval is None:
        return None
    found = Range(f"{interval[0]:f} to {interval[1]:f}")
    found.ends = interval[0], interval[1]
    return found


def dumps(value: Any, indent: str = "") -> str:
    """Return a value as indented ASCII JSON; lists of plain values are on one line."""
    inner = indent + "  "
    if isinstance(value, dict):
        if not value:
            return "{}"
        members = [f"{inner}{json.dumps(str(key))}: {dumps(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    if isinstance(value, (list, tuple)):
        if not any(isinstance(item, (dict, list, tuple)) for item in value):
            return "[" + ", ".join(dumps(item) for item in value) + "]"
        return "[\n" + ",\n".join(inner + dumps(item, inner) for item in value) + f"\n{indent}]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value)


def note_flags(flags: list[str]) -> list[str]:
    """Return notes for flags that apply to all numbers of a table."""
    return [_OF_ALL[flag] for flag in flags]


def note_left_out(document: dict[str, Any]) -> str:
    """Return a note with the number of records and how many were left out, by reason."""
    out = ", ".join(f"{reason} {count}" for reason, count in document["left_out"].items())
    return f"{document['records']} records. Left out: {out}."


_OF_ALL = {
    "diagnostic": "DIAGNOSTIC: phase 0 is admitted; no final claim may rest on these numbers.",
    "mixed_instruments": "MIXED: one judge has records by different prompts, versions or settings, which are different "
    "instruments; group --by, or select --where, judge_prompt_version, judge_version, judge_prompt_sha256 or "
    "judge_settings.",
    "mixed_phases": "MIXED: records of several phases are put together, because that was asked for.",
    "mixed_legs": "MIXED: records of several legs of a run (different judges) are put together, as was asked for.",
    "mixed_judge_kinds": "MIXED: labels of several kinds of judges are put together, as was asked for.",
    "mixed_protocol_versions": "MIXED: records of several protocol versions are put together, as was asked for.",
    "partial": "PARTIAL: manifests list files without an entry, so these numbers are of a part of the run.",
}
