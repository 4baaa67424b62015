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
from normalizer.regular_files import document_bytes


class Published(NamedTuple):
    """One table: its column names with their line, and the rows as they are written."""

    file: Path
    line: int
    columns: list[str]
    written: list[tuple[int, list[str]]]
    decimal_comma: bool
    """Whether a comma may be a decimal point: cells are not separated by commas."""

    def rows(self) -> list[tuple[int, dict[str, str]]]:
        """Return the rows with their line numbers.

        Raises CannotRun if a column has no name of its own, or if a row has another number of cells.
        """
        if len(set(self.columns)) < len(self.columns):
            raise CannotRun(f"{self.file} needs a first line with the names of its columns, each once")
        for line, cells in self.written:
            if len(cells) != len(self.columns):
                raise CannotRun(f"{self.file}, line {line}: {len(cells)} cells for {len(self.columns)} columns")
        return [(line, dict(zip(self.columns, cells, strict=True))) for line, cells in self.written]


def read(file: Path) -> list[Published]:
    """Read all tables of a file. Raises CannotRun if there is none."""
    try:
        text = document_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CannotRun(f"{file} is not UTF-8 text: save it as CSV in UTF-8") from None
    comma = True
    if latex.has_table(text):
        tables = latex.tables(text)
    elif not (tables := _markdown(text)):
        separator = _separator(text)
        tables, comma = [_csv(file, text, separator)], separator != ","
    found = [
        Published(file, lines[0][0], [name.strip() for name in lines[0][1]], lines[1:], comma)
        for lines in tables
        if lines
    ]
    if not found:
        raise CannotRun(f"{file} needs a first line with the names of its columns, each once")
    return found


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
_DEEPEST = 5
"""Marks inside marks that are removed from a cell: code in a link in bold, with a footnote."""


def _markdown(text: str) -> list[list[tuple[int, list[str]]]]:
    """Read the Markdown tables, with or without pipes at the ends of their lines."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    tables = []
    place = 0
    while place < len(lines) - 1:
        line, below = lines[place : place + 2]
        if not ("|" in line and "|" in below and "-" in below and _DASHES.fullmatch(below)):
            place += 1
            continue
        found = [(place + 1, _cells(line))]
        place += 2
        while place < len(lines) and "|" in lines[place]:
            found.append((place + 1, _cells(lines[place])))
            place += 1
        tables.append(found)
    return tables


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if re.search(r"(?<!\\)\|$", inner):
        inner = inner[:-1]
    return [_without_markdown(cell) for cell in re.split(r"(?<!\\)\|", inner)]


def _without_markdown(cell: str) -> str:
    text = cell.strip()
    for _ in range(_DEEPEST):
        before = text
        text = re.sub(r"(?<!\\)\[\^[^\]]*\]$", "", text).rstrip()  # a footnote
        text = re.sub(r"(\*\*|__)(.*?)\1", r"\2", text)
        text = re.sub(r"^([*_`])([^*_`]+)\1$", r"\2", text)
        text = re.sub(r"(?<![\\!])\[([^\]\\]*)\]\([^()\\]*\)", r"\1", text)  # a link
        if text == before:
            break
    text = re.sub(r"<(sub|sup)>(.*?)</\1>", lambda found: f"{'_' if found[1] == 'sub' else '^'}{{{found[2]}}}", text)
    text = re.sub(r"</?(?:b|strong|i|em|u|small|code)>|<br ?/?>", "", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+!|~$-])", r"\1", text)
    return html.unescape(text).strip()
