"""Find the lines of a text that show best why its file was found."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zeno.ranking.rules import PASSAGE_LINES, SHOWN_LINES
from zeno.ranking.words import RUN, stems_of


class Passage(NamedTuple):
    """Some lines of a file, by index."""

    first: int
    last: int
    shown: list[int]
    """The lines among them that show the most, in order."""


def line_words(line: bytes, weights: Mapping[bytes, int]) -> set[bytes]:
    """Return the terms on a line."""
    return {word for run in RUN.findall(line) for word in stems_of(run) if word in weights}


def best_window(found: Sequence[tuple[int, set[bytes]]], weights: Mapping[bytes, int], length: int) -> int:
    """Return where in `found` the window of so many lines begins whose terms weigh the most.

    `found` has lines with terms, by index, in order. A term counts once for a window. Of equal windows the one counts
    that has more lines with terms, then the first.
    """
    most, at, first, worth = (0, 0), 0, 0, 0
    inside: dict[bytes, int] = {}
    for last, (index, words) in enumerate(found):
        for word in words:
            inside[word] = inside.get(word, 0) + 1
            worth += weights[word] if inside[word] == 1 else 0
        while found[first][0] <= index - length:
            for word in found[first][1]:
                inside[word] -= 1
                worth -= 0 if inside[word] else weights[word]
            first += 1
        if (worth, last - first) > most or not last:
            most, at = (worth, last - first), first
    return at


def find_passage(lines: Sequence[bytes], weights: Mapping[bytes, int], defined: Sequence[int] = ()) -> Passage:
    """Return the best passage of a text; `defined` are lines that define what the query names, by index.

    A text without terms shows its first lines.
    """
    found = [(index, words) for index, line in enumerate(lines) if (words := line_words(line, weights))]
    if defined:
        # The passage begins with the definition, and goes on as far as a window does.
        start = defined[0]
        near = [(index, words) for index, words in found if start <= index < start + PASSAGE_LINES]
        near = near if near and near[0][0] == start else [(start, set()), *near]
    elif found:
        at = best_window(found, weights, PASSAGE_LINES)
        near = [(index, words) for index, words in found[at:] if index < found[at][0] + PASSAGE_LINES]
    else:
        last = min(PASSAGE_LINES, len(lines)) - 1
        return Passage(0, last, [index for index in range(last + 1) if lines[index].strip()][:SHOWN_LINES])
    worth = {index: sum(weights[word] for word in words) for index, words in near}
    ranked = sorted(worth, key=lambda index: (index not in defined[:1], -worth[index], index))
    return Passage(near[0][0], near[-1][0], sorted(ranked[:SHOWN_LINES]))
