"""Read published tables into rows: CSV with any usual separator, Markdown, LaTeX.

Cells are text without markup: bold, math and table rules are removed, and nothing else is changed.
"""

import csv
import io
import re
from pathlib import Path
from typing import NamedTuple

from normalizer.documents.artifacts import regular_bytes
from normalizer.errors import CannotRun

# No part of these can match what the part before it can: a long table of nothing but their marks is read at once.
_MARKDOWN_HEAD = re.compile(r"^[^\S\n]*\|.*\|[^\S\n]*\n[^\S\n]*\|[ \t:|-]+\|[^\S\n]*$", re.MULTILINE)
_LATEX_ROW_END = re.compile(r"\\\\(?:\[[^\]\\]*\])?")


class Published(NamedTuple):
    """The columns, and the rows with their line numbers."""

    columns: list[str]
    rows: list[tuple[int, dict[str, str]]]
    decimal_comma: bool
    """Whether a comma may be a decimal point: cells are not separated by commas."""


def read(table: Path) -> Published:
    """Read a table. Raises CannotRun if there is none, or if a row has another number of cells."""
    try:
        text = regular_bytes(table).decode("utf-8-sig")
    except OSError as error:
        raise CannotRun(f"cannot read {table}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CannotRun(f"{table} is not UTF-8 text: save it as CSV in UTF-8") from None
    if r"\begin{tabular" in text:
        return _rows(table, _latex(text), decimal_comma=True)
    if _MARKDOWN_HEAD.search(text):
        return _rows(table, _markdown(text), decimal_comma=True)
    separator = _separator(text)
    return _rows(table, _csv(table, text, separator), decimal_comma=separator != ",")


def _rows(table: Path, lines: list[tuple[int, list[str]]], *, decimal_comma: bool) -> Published:
    columns = [name.strip() for name in lines[0][1]] if lines else []
    if not columns or len(set(columns)) < len(columns):
        raise CannotRun(f"{table} needs a first line with the names of its columns, each once")
    rows = []
    for line, cells in lines[1:]:
        if len(cells) != len(columns):
            raise CannotRun(f"{table}, line {line}: {len(cells)} cells for {len(columns)} columns")
        rows.append((line, dict(zip(columns, cells, strict=True))))
    return Published(columns, rows, decimal_comma)


def _separator(text: str) -> str:
    """Return the most frequent separator of the first line outside quotes; a comma if it has none."""
    first = re.sub(r'"(?:[^"]|"")*"', "", text.partition("\n")[0])
    return max(",;\t", key=lambda mark: (first.count(mark), mark == ","))


def _csv(table: Path, text: str, separator: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    found = []
    try:
        for cells in reader:
            if cells:
                found.append((reader.line_num, cells))
    except csv.Error as error:
        raise CannotRun(f"{table}, line {reader.line_num}: {error}") from None
    return found


def _markdown(text: str) -> list[tuple[int, list[str]]]:
    """Read the first Markdown table."""
    found: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if not (stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 1):
            if found:
                break
            continue
        if re.fullmatch(r"\|[\s:|-]+\|", stripped) and "-" in stripped and len(found) == 1:
            continue
        cells = re.split(r"(?<!\\)\|", stripped[1:-1])
        found.append((number, [_without_markdown(cell) for cell in cells]))
    return found


def _without_markdown(cell: str) -> str:
    text = re.sub(r"(\*\*|__)(.*?)\1", r"\2", cell.strip())
    text = re.sub(r"\\([\\`*_{}\[\]()#+!|~$-])", r"\1", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


_LATEX_MARKUP = (
    (re.compile(r"\\(?:textbf|textit|emph|underline|mathbf|textrm|mathrm|text)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:bfseries|itshape|small|footnotesize|centering)\b"), ""),
    (re.compile(r"\\pm\b"), "\xb1"),
    (re.compile(r"\\(?:,|;|!| )|~"), " "),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\([%&_#${}])"), r"\1"),
    (re.compile(r"(?<!\\)\$"), ""),
    (re.compile(r"\{-\}"), "-"),
    (re.compile(r"\\text(?:minus|endash)\b(?:\{\})?"), "-"),
)
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|c(?:mid)?(?:line|rule)(?:\([^)\\]*\))?\{[^}\\]*\})")


def _latex(text: str) -> list[tuple[int, list[str]]]:
    """Read the first `tabular`. A row ends at a double backslash."""
    start = re.search(r"\\begin\{tabular[x*]?\}(?:\{[^{}]*\})?\{(?:[^{}]|\{[^{}]*\})*\}", text)
    if start is None:
        return []
    body = text[start.end() :].partition(r"\end{tabular")[0]
    line = text.count("\n", 0, start.end()) + 1
    found = []
    for row in _LATEX_ROW_END.split(body):
        cells = re.sub(r"(?<!\\)%.*", "", _RULES.sub("", row))
        first = line + row[: len(row) - len(row.lstrip())].count("\n")
        line += row.count("\n")
        if cells.strip():
            found.append((first, [_without_latex(cell) for cell in re.split(r"(?<!\\)&", cells)]))
    return found


def _without_latex(cell: str) -> str:
    text = cell.strip()
    for pattern, instead in _LATEX_MARKUP:
        text = pattern.sub(instead, text)
    return text.strip("{} \n\t")
