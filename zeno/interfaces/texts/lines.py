"""Numbered lines of files in texts for models."""

from collections.abc import Iterator

from zeno.interfaces.status import Asked, Result
from zeno.interfaces.visible import visible

CLIPPED = "…"
"""Stands where a part of a line was left out."""


def number_lines(lines: Result, first: int, last: int) -> list[str]:
    """Return rows of lines with their numbers, from `first` on; the numbers are as wide as `last`."""
    width = len(str(last))
    return [
        f"{number:>{width}}\t{visible(text)}{CLIPPED if clipped else ''}"
        for number, (text, clipped) in enumerate(split_clipped(lines), first)
    ]


def split_clipped(lines: Result) -> Iterator[tuple[str, bool]]:
    """Return each line of a text and whether it was clipped: those are the longest, with all that a line may have."""
    texts = lines["text"].split("\n")
    longest = max(map(len, texts)) if lines.get("clipped") else -1
    return ((text, len(text) == longest) for text in texts)


def tell_clipped(texts: list[Result], args: Asked) -> str:
    """Say that lines were clipped, and which limit did it."""
    longest = max((len(text) for one in texts if one.get("clipped") for text in one["text"].split("\n")), default=0)
    if not longest:
        return ""
    # A line that had all of max_line_chars was clipped by it; a shorter one had no more room in the answer.
    by = "max_line_chars" if longest >= args.get("max_line_chars", 0) else "max_chars"
    return f"; long lines clipped, raise {by} to see more"
