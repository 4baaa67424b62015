r"""Read the tables of a LaTeX file into rows of plain text.

Commands that only dress a cell (bold, colour, size, `\num`, `\makecell`) are removed and their text is kept. A cell of
`\multirow` also stands in the empty cells below it, as it does on the page. Rows of `\multicolumn` above the names of
the columns, and rows that are nothing but one, name parts of a table and are no rows of it.
"""

import re
from typing import NamedTuple

# No argument in brackets or parentheses holds a backslash: a long text of nothing but openings is read at once.
_DEEPEST = 20
"""Commands inside commands that are removed from a cell."""
_START = re.compile(r"\\begin\{(tabular[xy*]?|longtable)\}")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|addlinespace(?:\[[^\]\\]*\])?"
    r"|c(?:mid|dash)?(?:line|rule)(?:\([^)\\]*\))?\{[^}\\]*\}|rowcolor(?:\[[^\]\\]*\])?\{[^}\\]*\})"
)
_WITHOUT_TEXT = re.compile(
    r"\\(?:cellcolor|color|label|footnotemark|vspace|hspace)(?![A-Za-z])(?:\[[^\]\\]*\])?(?:\{[^{}]*\})?"
)
_BEFORE_TEXT = re.compile(r"\\(?:textcolor(?:\[[^\]\\]*\])?\{[^{}]*\}|multicolumn\{[^{}]*\}\{[^{}]*\})(?=\s*\{)")
_AROUND_TEXT = re.compile(
    r"\\(?:textbf|textit|textrm|textsf|texttt|textsc|textnormal|text|emph|underline|uline|mathbf|mathrm|mathit|boldsymbol"
    r"|bm|mbox|ensuremath|num|tablenum|makecell(?:\[[^\]\\]*\])?|thead|shortstack(?:\[[^\]\\]*\])?|tiny|scriptsize|small"
    r"|footnotesize)\s*\{([^{}]*)\}"
)
_SWITCHES = re.compile(
    r"\\(?:bfseries|bf|itshape|it|tiny|scriptsize|footnotesize|small|normalsize|centering|boldmath|mathbf)(?![A-Za-z])\s*"
)
_SUPER = re.compile(r"\\text(super|sub)script\{([^{}]*)\}")
_CHARACTERS = (
    (re.compile(r"\\pm(?![A-Za-z])"), "\xb1"),
    (re.compile(r"\\(?:,|;|!| )|~"), " "),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\uparrow(?![A-Za-z])"), "\N{UPWARDS ARROW}"),
    (re.compile(r"\\downarrow(?![A-Za-z])"), "\N{DOWNWARDS ARROW}"),
    (re.compile(r"\^?\\dagger(?![A-Za-z])|\^\{\\dagger\}"), "\N{DAGGER}"),
    (re.compile(r"\^?\\ddagger(?![A-Za-z])|\^\{\\ddagger\}"), "\N{DOUBLE DAGGER}"),
    (re.compile(r"\^?\\(?:ast|star)(?![A-Za-z])|\^\{\\(?:ast|star)\}"), "*"),
    (re.compile(r"\\text(?:minus|endash)(?![A-Za-z])(?:\{\})?"), "-"),
    (re.compile(r"\{-\}"), "-"),
)
_GROUP = re.compile(r"(?<![\^_}\\A-Za-z])\{([^{}]*)\}")
"""Braces that are neither a command's argument nor a sub- or superscript."""
_MULTIROW = re.compile(
    r"\s*\\multirow(?:\[[^\]\\]*\])?\{([0-9]+)\}(?:\[[^\]\\]*\])?\{[^{}]*\}\s*(\{.*\})\s*", re.DOTALL
)
_MULTICOLUMN = re.compile(r"\\multicolumn\{([0-9]+)\}")


class _Row(NamedTuple):
    """A row as it is written."""

    line: int
    cells: list[str]

    def names_parts(self) -> bool:
        """Whether a cell goes over several columns, or over one beside cells that are empty."""
        spans = [int(found[1]) for cell in self.cells for found in _MULTICOLUMN.finditer(cell)]
        return any(span > 1 for span in spans) or (bool(spans) and not all(cell.strip() for cell in self.cells))


def has_table(text: str) -> bool:
    """Whether a text has a LaTeX table."""
    return _START.search(text) is not None


def tables(text: str) -> list[list[tuple[int, list[str]]]]:
    """Return the rows of each table with their line numbers. A row ends at a double backslash."""
    found, at, line, counted = [], 0, 1, 0
    while start := _START.search(text, at):
        begin = start.end()
        for _ in range(2 if start[1] in ("tabular*", "tabularx", "tabulary") else 1):
            begin = _behind_argument(text, begin)
        ending = rf"\end{{{start[1]}}}"
        end = text.find(ending, begin)
        end = len(text) if end < 0 else end
        line += text.count("\n", counted, begin)
        found.append(_rows(_read_body(text[begin:end], line)))
        at, counted = end, begin
    return found


def _rows(written: list[_Row]) -> list[tuple[int, list[str]]]:
    while written and written[0].names_parts():
        written = written[1:]
    held: dict[int, tuple[int, str]] = {}
    return [
        (row.line, _fill_row([_plain_or_rows(cell) for cell in row.cells], held))
        for row in written
        if not (len(row.cells) == 1 and row.names_parts())
    ]


def _behind_argument(text: str, at: int) -> int:
    """Return the place behind an argument in braces, which may hold others, and behind options in brackets."""
    while options := re.compile(r"\s*\[[^\]\\]*\]").match(text, at):
        at = options.end()
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0 and text[place] == "}":
            return place + 1
        if depth == 0 and not text[place].isspace():
            break
    return at


def _read_body(body: str, line: int) -> list[_Row]:
    found = []
    for row in _split_rows(body):
        cells = re.sub(r"(?<!\\)%.*", "", _RULES.sub("", row))
        first = line + cells[: len(cells) - len(cells.lstrip())].count("\n")
        line += row.count("\n")
        if cells.strip():
            found.append(_Row(first, re.split(r"(?<!\\)&", cells)))
    return found


def _split_rows(body: str) -> list[str]:
    """Split at double backslashes that stand in no braces: a cell of `\\makecell` has lines of its own."""
    found, start, depth = [], 0, 0
    for mark in re.finditer(r"\\\\(?:\[[^\]\\]*\])?|(?<!\\)[{}]", body):
        if mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
        elif depth <= 0:
            found.append(body[start : mark.start()])
            start = mark.end()
    return [*found, body[start:]]


def _plain_or_rows(cell: str) -> tuple[str, int]:
    """Return the text of a cell and over how many rows it goes."""
    several = _MULTIROW.fullmatch(cell)
    return (plain(several[2]), int(several[1])) if several else (plain(cell), 1)


def _fill_row(cells: list[tuple[str, int]], held: dict[int, tuple[int, str]]) -> list[str]:
    """Return the texts of a row; `held` has the cells that go over rows to come, and is brought forward."""
    texts = []
    for place, (text, count) in enumerate(cells):
        left, above = held.get(place, (0, ""))
        if not text and left:
            held[place] = (left - 1, above)
            texts.append(above)
        else:
            held[place] = (count - 1, text)
            texts.append(text)
    return texts


def plain(cell: str) -> str:
    """Return the text of a cell without the commands that only dress it."""
    text = re.sub(r"(?<!\\)\$", "", cell.strip())
    text = re.sub(r"(?<=\\_)\s*\\\\\s*", "", text)  # a long name is broken after its underscores
    text = re.sub(r"\\\\", " ", text)
    text = _SUPER.sub(lambda found: f"{'^' if found[1] == 'super' else '_'}{{{found[2]}}}", text)
    for _ in range(_DEEPEST):
        before = text
        text = _WITHOUT_TEXT.sub("", text)
        text = _BEFORE_TEXT.sub("", text)
        text = _AROUND_TEXT.sub(r"\1", text)
        text = _SWITCHES.sub("", text)
        for pattern, instead in _CHARACTERS:
            text = pattern.sub(instead, text)
        text = _GROUP.sub(r"\1", text)
        if text == before:
            break
    return re.sub(r"\\([%&_#${}])", r"\1", text).strip()
