"""Writing names from bundles into table cells, and reading them back, without confusing them with our own words.

A name stands as it is. One that a table could mean something else by (`(none)`, `NA`, a dimension called `total`)
stands in quotation marks, as a JSON string; so does one that a spreadsheet would take for a formula, and one that
begins with a quotation mark, so that these mean but one thing.
"""

import json
import re

from normalizer.aggregate.keys import DESIGN_KEYS, FACTOR, RUN_KEYS, Level

NONE = "(none)"
ALL = "(all)"
MOMENTS = ("mean", "sd", "min", "max", "ci95_low", "ci95_high", "ci95")
_NO_LEVELS = frozenset(("", "NA", NONE, ALL))
_COLUMNS = frozenset((
    "row", *DESIGN_KEYS, *RUN_KEYS, "n", "n_records", "records", "n_judges", "judges", "total", *MOMENTS,
    "95 % interval", "at_min", "at min", "at_max", "at max", "flags", "judge", "versions", "first", "second",
    "difference", "p", "equal", "generator", "against", "criterion",
))  # fmt: skip
"""Names of table columns that are not dimensions."""


_FORMULA = re.compile(r"(?:\A|[;,|\t])\s*(?:[=@\uff1d\uff0b\uff0d\uff20]|[+-](?![0-9.]*\Z))|\A[\t\r\n]")
"""How a cell begins that spreadsheets compute instead of showing it, behind white space or a character that some of
them take for the end of a cell, too; a number with a sign is one anyway."""


def level(name: Level, between: str | None = None) -> str:
    """A level, judge or artifact; `between` is what stands between it and others in the same cell."""
    if name is None:
        return NONE
    text = str(name)
    return quoted(text) if text in _NO_LEVELS or (between is not None and between in text) else as_text(text)


def dimension(name: str) -> str:
    """A dimension, as a column or a measure."""
    is_statistic = name.rpartition(".")[2] in MOMENTS
    mistaken = name in _NO_LEVELS | _COLUMNS or name != name.strip() or is_statistic or name.startswith(FACTOR)
    return quoted(name) if mistaken else as_text(name)


def level_of(text: str) -> str | None:
    """The level that a cell means."""
    if text in ("", NONE):
        return None
    if text.startswith('"'):
        try:
            name = json.loads(text)
        except ValueError:
            return text
        return name if isinstance(name, str) else text
    return text


def quoted(text: str) -> str:
    """A string as JSON in which everything can be seen, runs of spaces among it."""
    shown = "".join(char if char.isprintable() and char not in '"\\' else json.dumps(char)[1:-1] for char in text)
    return '"' + shown.replace("  ", r" \u0020") + '"'


def as_text(given: str) -> str:
    """Text from a bundle as a cell that no spreadsheet takes for a formula."""
    return quoted(given) if given.startswith('"') or _FORMULA.search(given) else given
