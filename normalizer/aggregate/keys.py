"""The keys by which records are grouped and selected."""

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from normalizer.errors import CannotRun

INSTRUMENT = ("judge_prompt_version", "judge_version", "judge_prompt_sha256", "judge_settings")
"""Keys by which one judge is told apart into instruments."""
RUN_KEYS = ("protocol_version", *INSTRUMENT, "phase", "run_id", "leg", "judge_kind")
"""Keys of a run: only combinations that occur are expected."""
DESIGN_KEYS = ("judge_model", "generator_model")
"""Keys of a study's design, like factors: every combination of their levels is expected."""
DIMENSION = "dimension"
"""The key that selects one dimension of the rubric: numbers are about it alone, and about the records that have it."""
RUN_NAMES = ("eval_id", "rubric")
ALSO_SELECTED = (*RUN_NAMES, DIMENSION)
PAIRING = ("artifact",)
"""Keys that pairs may agree in besides those of groups."""
FACTOR = "factors."
_SHOWN = 20
"""Factors that a refusal names."""

Level = str | int | None


def keys_of(text: str, also: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Parse the keys of `--by`, separated by commas; an empty text means one group of everything."""
    names = tuple(name.strip() for name in text.split(",")) if text.strip() else ()
    for name in names:
        check_key(name, also)
    if len(set(names)) < len(names):
        raise CannotRun("a key is named twice in --by: name it once")
    return names


def check_key(name: str, also: tuple[str, ...] = ()) -> str:
    """Return the name if it is a key or in `also`. Raises CannotRun with a suggestion otherwise."""
    _is_text(name)
    if name in (*RUN_KEYS, *DESIGN_KEYS, *also) or (name.startswith(FACTOR) and name != FACTOR):
        return name
    known = (*DESIGN_KEYS, *RUN_KEYS, *also)
    near = [key for key in known if key.startswith(name)] + get_close_matches(name, known, n=1)
    meant = near[0] if near and name else f"{FACTOR}{name}" if name else ""
    hint = f"; did you mean {meant}?" if meant else ""
    raise CannotRun(f"{name or 'an empty name'} is not a key: the keys are {', '.join(known)} and factors.NAME{hint}")


def _is_text(given: str) -> None:
    """Raise CannotRun if a command-line word is not UTF-8."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise CannotRun(f"{given} is not UTF-8 text, which every name in a ledger is") from None


def is_of_design(name: str) -> bool:
    """Whether the levels of this key are crossed with those of others."""
    return name in DESIGN_KEYS or name.startswith(FACTOR)


def where_of(texts: tuple[str, ...], also: tuple[str, ...] = ALSO_SELECTED) -> dict[str, Level]:
    """Parse a selection of `KEY=LEVEL`; an empty level selects records without one."""
    chosen: dict[str, Level] = {}
    for text in texts:
        name, sign, level = text.partition("=")
        if not sign:
            raise CannotRun(f"{text} selects nothing: write KEY=LEVEL")
        _is_text(level)
        if check_key(name, also) in chosen:
            raise CannotRun(f"--where names {name} twice, but takes one level of a key: choose one, or group --by it")
        if name in ("rubric", DIMENSION) and not level:
            raise CannotRun(f"--where {name}= selects nothing: name one")
        chosen[name] = as_level(name, level or None)
    return chosen


def as_level(name: str, text: str | None) -> Level:
    """Convert a level to its type in a key: phases are numbers, all others strings."""
    if name != "phase" or text is None:
        return text
    if text not in ("0", "1", "2"):
        raise CannotRun(f"phase {text} is not a phase: there are 0, 1 and 2")
    return int(text)


def level_in(record: dict[str, Any], name: str) -> Level:
    """Return the level of a record that may be INVALID; a value of the wrong type counts as none."""
    if name.startswith(FACTOR):
        factors = record.get("factors")
        value = factors.get(name.removeprefix(FACTOR)) if isinstance(factors, dict) else None
    else:
        value = record.get(name)
    if name == "phase":
        is_phase = isinstance(value, (int, float)) and not isinstance(value, bool) and value in (0, 1, 2)
        return int(value) if is_phase and value is not None else None
    if name == "judge_kind" and value is None:
        return "model"
    return value if isinstance(value, str) else None


def sort_key(levels: tuple[Level, ...]) -> tuple[tuple[bool, str], ...]:
    """Return the sort key of a row: by code points of its levels, missing levels last."""
    return tuple((level is None, str(level)) for level in levels)


def refuse_unknown(named: Iterable[str], records: Iterable[dict[str, Any]]) -> None:
    """Raise CannotRun for the first of the keys `factors.NAME` whose factor none of the records has.

    The records are read once, and only if there is a key to check. They may be INVALID. Without any record nothing is
    refused: there is nothing to compare with.
    """
    wanted = [name.removeprefix(FACTOR) for name in named if name.startswith(FACTOR)]
    if not wanted:
        return
    known: set[str] = set()
    some = False
    for record in records:
        some = True
        factors = record.get("factors")
        if isinstance(factors, dict):
            known.update(factors)
    for name in wanted:
        if some and name not in known:
            raise CannotRun(_sentence(name, sorted(known)))


def _sentence(name: str, known: list[str]) -> str:
    if not known:
        return f"no record has the factor {name}: the records have no factors"
    shown = ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")
    near = [one for one in known if one.startswith(name)] + get_close_matches(name, known, n=1)
    hint = f"; did you mean {FACTOR}{near[0]}?" if near else ""
    return f"no record has the factor {name}: the factors are {shown}{hint}"


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
_BEFORE_A_BREAK = rf"(?<!{_UNSEEN})(?=(?:(?![\t\r\n]){_UNSEEN})*[\t\r\n])"
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


def list_levels(key: Mapping[str, Level]) -> "list[str | int | Decimal | None]":
    """Return the cells of a group's levels."""
    return [level(each) for each in key.values()]


def measure(name: str) -> str:
    """Return the name of a measure in tables: the total, or a dimension."""
    return name if name == "total" else dimension(name)


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
