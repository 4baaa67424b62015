"""Print reports on traces. Control characters in a trace are escaped before they reach a terminal."""

import json
import os
from typing import Any


def say(text: str) -> None:
    """Print a line of a report. If the reader has closed the pipe, go on silently: the exit status still counts."""
    try:
        print(text)
    except BrokenPipeError:
        forget_output()


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
