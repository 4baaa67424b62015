"""How reports on traces are printed: nothing that a trace holds can steer a terminal."""

import json
import os
from typing import Any


def say(text: str) -> None:
    """A line of a report. Whoever reads it may have seen enough; what the command finds is its status all the same."""
    try:
        print(text)
    except BrokenPipeError:
        forget_output()


def forget_output() -> None:
    """Let go of standard output: the interpreter must not complain while it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_json(value: Any) -> None:
    """A report for programs."""
    say(json.dumps(value, indent=2))


def safe(text: str) -> str:
    """Text of a trace as a terminal may show it: what is not printable is escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def call(op: str, args: dict[str, Any]) -> str:
    """A request as one would type it."""
    words = (f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in args.items())
    text = safe(" ".join([op, *words]))
    return text if len(text) <= 160 else f"{text[:157]}..."


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
