"""Print reports. Control characters are escaped before they reach a terminal; tables fit its width and have colour."""

import json
import os
import sys
from typing import Any

_COLOURS = {"error": 31, "problem": 31, "FAILS": 31, "warning": 33, "note": 33, "checks out": 32, "ok": 32, "head": 1}


def say(text: str) -> None:
    """Print a line of a report. If the reader has closed the pipe, go on silently: the exit status still counts."""
    try:
        print(text)
    except BrokenPipeError:
        forget_output()


def say_row(text: str, *, wide: bool = False) -> None:
    """Print a row of a table. On a terminal it is cut to the width, with an ellipsis, unless `wide`."""
    if not wide and sys.stdout is not None and sys.stdout.isatty():
        import shutil  # takes longer to load than the rest of the command line

        text = cut(text, shutil.get_terminal_size().columns)
    say(text)


def cut(text: str, width: int) -> str:
    """Return text of at most `width` columns of a terminal, with an ellipsis at its end if something was cut off."""
    if _columns(text) <= width:
        return text
    while text and _columns(text) > width - 1:
        text = text[:-1]
    return text + "…"


def _columns(text: str) -> int:
    import unicodedata

    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def paint(word: str, text: str | None = None) -> str:
    """Return a word that states an outcome, or `text` in its place, in the colour of the word; plain off a terminal."""
    shown = word if text is None else text
    if sys.stdout is None or not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return shown
    return f"\033[{_COLOURS[word]}m{shown}\033[0m"


def forget_output() -> None:
    """Redirect standard output to /dev/null, so that the interpreter reports no error when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_json(value: Any) -> None:
    """Print a report as JSON."""
    say(json.dumps(value, indent=2))


def safe(text: str) -> str:
    """Return text with every character that is not printable escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def call(op: str, args: dict[str, Any]) -> str:
    """Return a request as it would be typed, cut to 160 characters."""
    words = (f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in args.items())
    text = safe(" ".join([op, *words]))
    return text if len(text) <= 160 else f"{text[:157]}..."


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
