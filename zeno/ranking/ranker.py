"""Give each file a score for a query, from the words in its text and in its path.

All sums are of whole numbers. A score is in hundred-thousandths until it is rounded for an answer.
"""

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import NamedTuple

from zeno.ranking.places import PlaceTable, end_of
from zeno.ranking.question import Question
from zeno.ranking.rules import FILE_MENTIONED, IN_DIRECTORIES, IN_NAME, NAME_EQUALS, WORDS_IN_PATH

# Logarithms are rounded correctly to so many digits, on every machine.
_DIGITS = Context(prec=12)


class Occurrences(NamedTuple):
    """The files whose texts have a word, and how much it counts there (see `words.strength`)."""

    files: list[int]
    strengths: list[int]


NOWHERE = Occurrences([], [])


class Ranking(NamedTuple):
    """The scores of files for a query."""

    scores: dict[int, int]
    """By index of the file, in hundred-thousandths; files without any word of the query have none."""
    frequencies: dict[bytes, int]
    """In how many files each term occurs, text or path."""
    weights: dict[bytes, int]
    """How much each term counts, in thousandths: the rarer the more. A term that occurs nowhere has none."""


def rarity(files: int, having: int) -> int:
    """Return how much a word counts that some of the files have, in thousandths: ln((n + 1) / (k + 1/2))."""
    return int((Decimal(2 * files + 2) / Decimal(2 * having + 1)).ln(_DIGITS).scaleb(3).to_integral_value())


def score_files(question: Question, table: PlaceTable, occurrences: Mapping[bytes, Occurrences]) -> Ranking:
    """Return the scores of files that have a word of the query in their texts or paths."""
    scores = [0] * len(table.paths)
    words_in_path: dict[int, int] = {}
    frequencies: dict[bytes, int] = {}
    weights: dict[bytes, int] = {}
    for word, term in question.terms.items():
        files, strengths = occurrences.get(word, NOWHERE)
        names, directories = table.names.get(word, ()), table.directories.get(word, ())
        in_path = {*names, *directories}
        frequencies[word] = len(in_path.union(files)) if in_path else len(files)
        if not frequencies[word]:
            continue
        weights[word] = weight = rarity(len(table.paths), frequencies[word]) * term.weight // 100
        for file, strength in zip(files, strengths, strict=True):
            scores[file] += weight * strength
        for file in names:
            scores[file] += weight * IN_NAME
        for file in directories:
            scores[file] += weight * IN_DIRECTORIES
        for file in in_path:
            words_in_path[file] = words_in_path.get(file, 0) + 1
    count = len(weights)
    found = {
        file: score
        * table.places[file].factor
        * (100 * count + WORDS_IN_PATH * words_in_path.get(file, 0))
        // (100 * 100 * count)
        for file, score in enumerate(scores)
        if score
    }
    _prefer_named(question, table, found, words_in_path)
    return Ranking({file: score for file, score in found.items() if score}, frequencies, weights)


def _prefer_named(question: Question, table: PlaceTable, found: dict[int, int], in_path: Mapping[int, int]) -> None:
    """Raise the scores of files that the query names: by their names without extension, or as files."""
    for file in in_path:
        if file in found and table.places[file].joined in question.joined_stems:
            found[file] = found[file] * (100 + NAME_EQUALS) // 100
    if question.files:
        for file, score in found.items():
            if not question.files.isdisjoint(end_of(table.paths[file])):
                found[file] = score * (100 + FILE_MENTIONED) // 100


def best(scores: Mapping[int, int], paths: Sequence[str], count: int) -> list[int]:
    """Return the files with the best scores, rounded as in answers; of equal ones the first by path."""
    return sorted(scores, key=lambda file: (-round_score(scores[file]), paths[file]))[:count]


def round_score(score: int) -> int:
    """Return a score in ten-thousandths."""
    return (score + 5) // 10
