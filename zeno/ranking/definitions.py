"""Raise the scores of files that define what the query names."""

from collections.abc import Iterable
from zlib import crc32

from zeno.ranking.question import Question
from zeno.ranking.rules import DEFINITION
from zeno.ranking.words import RUN


def find_defined_share(question: Question, names: Iterable[tuple[str, bool]]) -> tuple[int, str]:
    """Return how much definitions add to the score of their file, in hundredths, and which name adds the most.

    `names` are those of the definitions, each with whether it is inside of another.
    """
    most, best = 0, ""
    for name, is_inner in names:
        share = _share(question, name, is_inner=is_inner)
        if share > most or (share == most and share and name < best):
            most, best = share, name
    return most, best


def name_key(name: str) -> int:
    """Return a number that names share which differ in case, underscores, or in what stands before their last run."""
    runs = RUN.findall(name.encode())
    return _key(runs[-1]) if runs else 0


def collect_keys(question: Question) -> frozenset[int]:
    """Return the keys of all names that add to the score of a file that defines them."""
    runs = {*question.names, *question.compounds, *question.joined, *([question.only] if question.only else [])}
    return frozenset(map(_key, runs))


def _key(run: bytes) -> int:
    return crc32(run.lower().replace(b"_", b""))


def _share(question: Question, name: str, *, is_inner: bool) -> int:
    runs = RUN.findall(name.encode())
    if not runs:
        return 0
    last = runs[-1]
    lower = last.lower()
    if last == question.only:
        return DEFINITION["only_inner" if is_inner else "only"]
    if last in question.compounds:
        return DEFINITION["compound"]
    if lower.replace(b"_", b"") in question.joined:
        return DEFINITION["joined"]
    if lower in question.names:
        return DEFINITION["word_inner" if is_inner else "word"]
    return 0
