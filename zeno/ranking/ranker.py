"""Give each file a score for a query, from the words in its text and in its path.

All sums are of whole numbers. A score is in hundred-thousandths until it is rounded for an answer.
"""

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from heapq import nlargest
from typing import NamedTuple

from zeno.ranking.places import PlaceTable
from zeno.ranking.question import Question
from zeno.ranking.rules import FILE_MENTIONED, IN_DIRECTORIES, IN_NAME, NAME_EQUALS, WORDS_IN_PATH

# Logarithms are rounded correctly to so many digits, on every machine.
_DIGITS = Context(prec=12)


class Occurrences(NamedTuple):
    """The files whose texts have a word, and how much it counts there (see `words.strength`)."""

    files: list[int]
    """Their indexes. Files with the same text have the index of the first; the number of files stands for one that does
    not count."""
    strengths: list[int]


class TextWords(NamedTuple):
    """The words in the texts of files. A file is its index."""

    has_text: bytearray
    """1 for each file with a text that is not empty. Others do not count."""
    occurrences: dict[bytes, Occurrences]
    twins: dict[int, int]
    """Further files with the text of another, and that one."""


class Ranking(NamedTuple):
    """The scores of files for a query."""

    scores: list[int]
    """By index of the file, in hundred-thousandths; 0 for files without any word of the query."""
    frequencies: dict[bytes, int]
    """In how many files each term occurs, text or path."""
    weights: dict[bytes, int]
    """How much each term counts, in thousandths: the rarer the more. A term that occurs nowhere has none."""


def rarity(files: int, having: int) -> int:
    """Return how much a word counts that some of the files have, in thousandths: ln((n + 1) / (k + 1/2))."""
    return int((Decimal(2 * files + 2) / Decimal(2 * having + 1)).ln(_DIGITS).scaleb(3).to_integral_value())


def score_files(question: Question, table: PlaceTable, texts: TextWords) -> Ranking:
    """Return the scores of files that have a word of the query in their texts or paths."""
    has_text, twins = texts.has_text, texts.twins
    count_files = has_text.count(1)
    scores, copies = [0] * (len(has_text) + 1), [1] * len(has_text) + [0]
    for first in twins.values():
        copies[first] += 1
    added: dict[int, int] = {}
    words_in_path: dict[int, int] = {}
    frequencies: dict[bytes, int] = {}
    weights: dict[bytes, int] = {}
    for word, term in question.terms.items():
        files, strengths = texts.occurrences[word]
        names = [file for file in table.names.get(word, ()) if has_text[file]]
        directories = [file for file in table.directories.get(word, ()) if has_text[file]]
        in_path = {*names, *directories}
        frequency = sum(map(copies.__getitem__, files))
        if in_path:
            having = set(files)
            frequency += sum(twins.get(file, file) not in having for file in in_path)
        frequencies[word] = frequency
        if not frequency:
            continue
        weights[word] = weight = rarity(count_files, frequency) * term.weight // 100
        for file, strength in zip(files, strengths, strict=True):
            scores[file] += weight * strength
        for file in names:
            added[file] = added.get(file, 0) + weight * IN_NAME
        for file in directories:
            added[file] = added.get(file, 0) + weight * IN_DIRECTORIES
        for file in in_path:
            words_in_path[file] = words_in_path.get(file, 0) + 1
    scores.pop()
    for file, first in twins.items():
        scores[file] = scores[first]
    found = [score * factor // 100 for score, factor in zip(scores, table.factors, strict=True)]
    for file, times in words_in_path.items():
        score, count = scores[file] + added[file], len(weights)
        found[file] = score * table.factors[file] * (100 * count + WORDS_IN_PATH * times) // (100 * 100 * count)
    _prefer_named(question, table, found, words_in_path)
    return Ranking(found, frequencies, weights)


def _prefer_named(question: Question, table: PlaceTable, found: list[int], in_path: Mapping[int, int]) -> None:
    """Raise the scores of files that the query names: by their names without extension, or as files."""
    for name in question.joined_stems:
        own = [file for file in table.joined.get(name, ()) if file in in_path]
        for file in own:
            # The more files have this name, the less it says about one of them.
            found[file] = found[file] * (100 + NAME_EQUALS // len(own)) // 100
    named = {file for end in question.files for file in table.find_end(end)}
    for file in named:
        found[file] = found[file] * (100 + FILE_MENTIONED) // 100


def best(scores: Sequence[int], paths: Sequence[str], count: int) -> list[int]:
    """Return the files with the best scores, rounded as in answers; of equal ones the first by path. None has 0."""
    least = max(min(nlargest(count, scores), default=0), 1)
    # Whatever is rounded to the same as the last of them may come before it.
    near = [file for file, score in enumerate(scores) if score > least - 10]
    near = [file for file in near if scores[file]]
    return sorted(near, key=lambda file: (-round_score(scores[file]), paths[file]))[:count]


def round_score(score: int) -> int:
    """Return a score in ten-thousandths."""
    return (score + 5) // 10
