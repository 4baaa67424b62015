"""Fit a table into the width of a terminal. No cell is wrapped: texts are cut with an ellipsis, numbers never are.

Columns that do not fit even then are left out, from the right, and a last line says so. Those that answer the question
stay longest: the number itself, its interval or verdict, and `flags`, which says what must be said beside it.
"""

import re
import textwrap
from collections.abc import Sequence

from normalizer.tables.formats import Table, display_width, numeric, printable, spell_cells

CUT = "…"
GAP = 2
_NARROW = 20
"""Texts are cut to this width, not further, before a column is left out: names must stay apart."""

_ANSWERS = ("p (Holm)", "95 % interval", "exact", "rate", "difference", "total", "verdict", "flags")
"""Columns that are left out after all others, the first of these first."""

_INTERVAL = re.compile(r"-?[\d.]+ to -?[\d.]+")

_BOLD, _DIM, _RED, _GREEN, _YELLOW = 1, 2, 31, 32, 33
_COLOURS = {
    **dict.fromkeys(("absent", "fail", "invalid", "mismatch", "other_artifact", "unreadable", "worse"), _RED),
    **dict.fromkeys(("not_checked", "not_derivable", "rounding_tie", "undecided"), _YELLOW),
    **dict.fromkeys(("better", "equivalent", "exact", "match", "no_worse", "pass"), _GREEN),
    "NA": _DIM,
}
"""Cells that say an outcome, and their colour."""


def fit_table(table: Table, width: int | None, *, colour: bool) -> str:
    """Return the table as aligned text of at most `width` columns; None stands for as many as it needs."""
    shown = spell_cells(table)
    needed = [max(map(display_width, column)) for column in zip(*shown, strict=True)]
    right = numeric(table)
    whole = [
        is_right or _intervals(column[1:]) for column, is_right in zip(zip(*shown, strict=True), right, strict=True)
    ]
    kept = list(range(len(needed)))
    widths = needed
    if width is not None:
        kept = _choose(table.columns, shown, needed, whole, width)
        widths = _share_width([needed[place] for place in kept], [whole[place] for place in kept], width)
    shown, right = [[row[place] for place in kept] for row in shown], [right[place] for place in kept]
    lines = []
    for place, row in enumerate(shown):
        cells = []
        for cell, room, is_right in zip(row, widths, right, strict=False):
            text = cut(cell, room)
            padding = " " * (room - display_width(text))
            painted = _paint_cell(text, place == 0, colour=colour)
            cells.append(padding + painted if is_right else painted + padding)
        lines.append((" " * GAP).join(cells).rstrip())
    notes = [printable(note) for note in table.notes]
    if width is not None:
        notes = [line for note in notes for line in wrap_note(note, width)]
        notes += _tell_left_out(widths, [needed[place] for place in kept], len(needed) - len(kept), width)
    return "\n".join([*lines, "", *(_paint(note, _DIM, colour=colour) for note in notes)]) + "\n"


def cut(text: str, width: int) -> str:
    """Return text of at most `width` columns, with an ellipsis at its end if something was cut off."""
    if display_width(text) <= width:
        return text
    room = width - 1
    for place, char in enumerate(text):
        room -= display_width(char)
        if room < 0:
            return text[:place] + CUT
    return text + CUT


def wrap_note(text: str, width: int) -> list[str]:
    """Return the lines of a text, each of at most `width` columns."""
    # A character of two columns counts as two. At its end a line may get one column more than asked for.
    padded = "".join(char + "\0" * (display_width(char) - 1) for char in text)
    lines = textwrap.wrap(padded, width if padded == text else max(width - 1, 1))
    return [line.replace("\0", "") for line in lines] or [""]


def _paint_cell(text: str, is_head: bool, *, colour: bool) -> str:
    """Return a cell in bold if it is a heading, in the colour of the outcome it states otherwise."""
    return _paint(text, _BOLD if is_head else _COLOURS.get(text), colour=colour)


def _paint(text: str, code: int | None, *, colour: bool) -> str:
    return f"\033[{code}m{text}\033[0m" if colour and code is not None and text else text


def _intervals(cells: Sequence[str]) -> bool:
    """Whether a column has intervals, such as `1.5 to 2.25`, and nothing else but NA and empty cells."""
    found = [cell for cell in cells if cell not in ("", "NA")]
    return bool(found) and all(_INTERVAL.fullmatch(cell) for cell in found)


def _choose(
    columns: Sequence[str], shown: list[list[str]], needed: list[int], whole: list[bool], width: int
) -> list[int]:
    """Return the places of the columns that fit: the first ones, and those that answer the question."""
    least = [room if is_whole else min(room, _NARROW) for room, is_whole in zip(needed, whole, strict=True)]
    empty = [not any(row[place] for row in shown[1:]) for place in range(len(needed))]
    answers = [columns.index(name) for name in _ANSWERS if name in columns and not empty[columns.index(name)]]
    last = [place for place in range(1, len(needed)) if place not in answers]
    gone = [*reversed(last), *(place for place in answers if place)]
    kept = list(range(len(needed)))
    while gone and sum(least[place] for place in kept) + GAP * (len(kept) - 1) > width:
        kept.remove(gone.pop(0))
    return kept


def _share_width(needed: list[int], whole: list[bool], width: int) -> list[int]:
    """Return widths of columns at which all of them fit."""
    least = [room if is_whole else min(room, _NARROW) for room, is_whole in zip(needed, whole, strict=True)]
    count = len(needed)
    widths = list(needed)
    least = [min(room, max(width, 1)) for room in least]
    while (over := sum(widths) + GAP * (count - 1) - width) > 0:
        widest = max(range(count), key=lambda place: widths[place] - least[place])
        if widths[widest] <= least[widest]:
            break
        # Down to the next widest, so that the longest texts give most.
        others = [room for place, room in enumerate(widths) if place != widest and room < widths[widest]]
        step = widths[widest] - max([least[widest], *(room for room in others if room >= least[widest])])
        widths[widest] -= max(1, min(over, step))
    return [min(room, width) for room in widths]


def _tell_left_out(widths: list[int], needed: list[int], gone: int, width: int) -> list[str]:
    is_cut = any(room < wanted for room, wanted in zip(widths, needed, strict=True))
    if not gone and not is_cut:
        return []
    columns = f"without {gone} more column{'' if gone == 1 else 's'}" if gone else ""
    cells = "with texts cut" if is_cut else ""
    told = f"Shown {' and '.join(filter(None, (cells, columns)))}, for {width} columns; --wide shows all."
    return textwrap.wrap(told, max(width, 20))
