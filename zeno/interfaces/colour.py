"""Colours of an answer on a terminal: paths, line numbers and the last line, which says how complete it is."""

import os
import re
import sys

PATH, NUMBER, DIM, END = "\x1b[35m", "\x1b[32m", "\x1b[2m", "\x1b[0m"
_NUMBERED = re.compile(r"^((?:> |  )? *\d+)(?=\t)")


def is_coloured() -> bool:
    """Return whether standard output shows colours: a terminal, and NO_COLOR is not set."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text: str) -> str:
    """Return a text for models with colours. Only what the text says of a file is painted, never what a file says."""
    return "\n".join(map(_paint_line, text.split("\n")))


def _paint_line(line: str) -> str:
    number = _NUMBERED.match(line)
    if number:
        return f"{NUMBER}{number[0]}{END}{line[number.end() :]}"
    if not line or line == "--":
        return line
    colour = DIM if line.startswith(("[", "hint: ")) else PATH
    return f"{colour}{line}{END}"
