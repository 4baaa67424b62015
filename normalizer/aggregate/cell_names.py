"""Write names from bundles into table cells, and read them back, without confusing them with our own words.

A name is written unchanged. A name that has another meaning in a table (`(none)`, `NA`, a dimension called `total`) is
written as a JSON string in quotation marks. So are names that a spreadsheet would take for a formula, and names that
begin with a quotation mark, so that every cell has one meaning.
"""

import json
import re

from normalizer.aggregate.keys import DESIGN_KEYS, FACTOR, RUN_KEYS, Level

NONE = "(none)"
ALL = "(all)"
MOMENTS = ("mean", "sd", "min", "max", "ci95_low", "ci95_high", "ci95")
_NO_LEVELS = frozenset(("", "NA", NONE, ALL))
_COLUMNS = frozenset((
    "row", *DESIGN_KEYS, *RUN_KEYS, "n", "n_items", "items", "n_records", "records", "n_judges", "judges", "total",
    *MOMENTS,
    "95 % interval", "at_min", "at min", "at_max", "at max", "flags", "judge", "versions", "first", "second",
    "difference", "p", "equal", "generator", "against", "criterion",
))  # fmt: skip
"""Names of table columns that are not dimensions."""


_UNSEEN = r"[\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
_BEFORE_A_BREAK = rf"(?<!{_UNSEEN})(?=(?:(?![\t\r\n]){_UNSEEN})*+[\t\r\n])"
_FORMULA = re.compile(
    rf"(?:\A|[;,|]|{_BEFORE_A_BREAK}){_UNSEEN}*+(?:[=@\uff1d\uff0b\uff0d\uff20]|[+-](?![0-9.]*\Z))|\A[\t\r\n]"
)
"""The beginning of a cell that a spreadsheet would take for a formula, also after white space, after characters that
are not seen, some of which are dropped on import, or after one that some spreadsheets take for a separator. Signed
numbers are no formulas. A run of tabs is looked at once, from its beginning, and not from each tab."""
_SEPARATOR = re.compile("[;|]")
"""Characters at which some spreadsheets end a cell, quotation marks or not, unless it is the first one of its row."""


def level(name: Level, between: str | None = None) -> str:
    """Return the cell of a level, judge or artifact; `between` separates it from others in the same cell."""
    if name is None:
        return NONE
    text = str(name)
    return json_quoted(text) if text in _NO_LEVELS or (between is not None and between in text) else as_text(text)


def dimension(name: str) -> str:
    """Return the name of a dimension as a column or a measure."""
    is_statistic = name.rpartition(".")[2] in MOMENTS
    mistaken = name in _NO_LEVELS | _COLUMNS or name != name.strip() or is_statistic or name.startswith(FACTOR)
    return json_quoted(name) if mistaken else as_text(name)


def parse_level(text: str) -> str | None:
    """Return the level that a cell names."""
    if text in ("", NONE):
        return None
    if text.startswith('"'):
        try:
            name = json.loads(text)
        except ValueError:
            return text
        return name if isinstance(name, str) else text
    return text


def json_quoted(text: str) -> str:
    """Return a string as JSON with invisible characters and runs of spaces escaped."""
    shown = "".join(char if char.isprintable() and char not in '"\\' else json.dumps(char)[1:-1] for char in text)
    return '"' + shown.replace("  ", r" \u0020") + '"'


def as_text(given: str) -> str:
    """Return text from a bundle as a cell that no spreadsheet takes for a formula."""
    if _FORMULA.search(given):
        return _SEPARATOR.sub(lambda match: f"\\u{ord(match[0]):04x}", json_quoted(given))
    return json_quoted(given) if given.startswith('"') else given
