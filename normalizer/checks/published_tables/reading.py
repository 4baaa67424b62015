"""Read published tables into rows: CSV with any usual separator, Markdown, LaTeX.

Cells are text without markup: bold, math, links and table rules are removed, and nothing else is changed. LaTeX is read
by `latex`.
"""

import csv
import html
import io
import re
from pathlib import Path
from typing import NamedTuple

from normalizer.checks.published_tables import latex
from normalizer.errors import CannotRun
from normalizer.regular_files import regular_bytes


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
    if latex.has_table(text):
        return _rows(table, latex.rows(text), decimal_comma=True)
    if (found := _markdown(text)) is not None:
        return _rows(table, found, decimal_comma=True)
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


_DASHES = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
"""The line below the names of the columns."""


def _markdown(text: str) -> list[tuple[int, list[str]]] | None:
    """Read the first Markdown table, with or without pipes at the ends of its lines; None if there is none."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    for place, line in enumerate(lines[:-1]):
        below = lines[place + 1]
        if "|" in line and "|" in below and "-" in below and _DASHES.fullmatch(below):
            found = [(place + 1, _cells(line))]
            for number, row in enumerate(lines[place + 2 :], start=place + 3):
                if "|" not in row:
                    break
                found.append((number, _cells(row)))
            return found
    return None


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if re.search(r"(?<!\\)\|$", inner):
        inner = inner[:-1]
    return [_without_markdown(cell) for cell in re.split(r"(?<!\\)\|", inner)]


def _without_markdown(cell: str) -> str:
    text = re.sub(r"(\*\*|__)(.*?)\1", r"\2", cell.strip())
    text = re.sub(r"^([*_`])([^*_`]+)\1$", r"\2", text)
    text = re.sub(r"(?<!\\)\[\^[^\]]*\]$", "", text)  # a footnote
    text = re.sub(r"(?<![\\!])\[([^\]\\]*)\]\([^()\\]*\)", r"\1", text)  # a link
    text = re.sub(r"<(sub|sup)>(.*?)</\1>", lambda found: f"{'_' if found[1] == 'sub' else '^'}{{{found[2]}}}", text)
    text = re.sub(r"</?(?:b|strong|i|em|u|small|code)>|<br ?/?>", "", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+!|~$-])", r"\1", text)
    return html.unescape(text).strip()
