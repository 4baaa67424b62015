"""Find the lines of a text that show best why its file was found."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from zeno.ranking.rules import PASSAGE_LINES, SHOWN_LINES
from zeno.ranking.words import blank_lines, stems_of

# With more terms it takes longer to look for each of them than to look at every line.
FEW = 32


class Passage(NamedTuple):
    """Some lines of a file, by index."""

    first: int
    last: int
    shown: list[int]
    """The lines among them that show the most, in order."""
    terms: set[bytes]
    """The terms in the whole text."""


def find_terms(text: bytes, weights: Mapping[bytes, int]) -> list[tuple[int, set[bytes]]]:
    """Return the lines of a text that have terms, by index, with these."""
    blank = blank_lines(text)
    lines = _narrow(blank, weights) if len(weights) <= FEW else list(enumerate(blank.split(b"\n")))
    runs = {run for _, line in lines for run in line.split()} if len(weights) <= FEW else set(blank.split())
    words_of = ((run, [word for word in stems_of(run) if word in weights]) for run in runs)
    terms = {run: words for run, words in words_of if words}
    has_none = terms.keys().isdisjoint
    found = []
    for index, line in lines:
        own = line.split()
        if not has_none(own):
            found.append((index, {word for run in own if run in terms for word in terms[run]}))
    return found


def _narrow(text: bytes, stems: Iterable[bytes]) -> list[tuple[int, bytes]]:
    """Return the lines that may have one of some stems, by index: a stem begins its word."""
    lower = text.lower()
    ends: set[int] = set()
    for stem in stems:
        at = lower.find(stem)
        while at >= 0:
            end = lower.index(b"\n", at)
            ends.add(end)
            at = lower.find(stem, end)
    lines, index, before = [], 0, 0
    for end in sorted(ends):
        index += text.count(b"\n", before, end)
        before = end
        lines.append((index, text[text.rfind(b"\n", 0, end) + 1 : end]))
    return lines


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


def find_passage(text: bytes, weights: Mapping[bytes, int], defined: Sequence[int] = ()) -> Passage:
    """Return the best passage of a text; `defined` are lines that define what the query names, by index.

    A text without terms shows its first lines.
    """
    found = find_terms(text, weights)
    terms = {word for _, words in found for word in words}
    if defined:
        # The passage begins with the definition, and goes on as far as a window does.
        start = defined[0]
        near = [(index, words) for index, words in found if start <= index < start + PASSAGE_LINES]
        near = near if near and near[0][0] == start else [(start, set()), *near]
    elif found:
        at = best_window(found, weights, PASSAGE_LINES)
        near = [(index, words) for index, words in found[at:] if index < found[at][0] + PASSAGE_LINES]
    else:
        lines = text.split(b"\n", PASSAGE_LINES)
        last = min(PASSAGE_LINES, len(lines) - 1) - 1
        return Passage(0, last, [index for index in range(last + 1) if lines[index].strip()][:SHOWN_LINES], terms)
    worth = {index: sum(weights[word] for word in words) for index, words in near}
    ranked = sorted(worth, key=lambda index: (index not in defined[:1], -worth[index], index))
    return Passage(near[0][0], near[-1][0], sorted(ranked[:SHOWN_LINES]), terms)
