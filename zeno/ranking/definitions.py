"""Raise the scores of files that define what the query names."""

from collections.abc import Collection, Iterable, Mapping
from math import isqrt
from zlib import crc32

from zeno.ranking.question import Question
from zeno.ranking.rules import DEFINITION
from zeno.ranking.words import RUN

# With more it takes longer to look for each of them in a text than to parse that.
FEW_RUNS = 32


def share_names(question: Question, names: Iterable[tuple[str, bool]]) -> dict[str, int]:
    """Return how much each definition of a file adds to its score, in hundredths, by name; no others.

    `names` are those of the definitions, each with whether it is inside of another.
    """
    shares: dict[str, int] = {}
    for name, is_inner in names:
        share = _share(question, name, is_inner=is_inner)
        if share > shares.get(name, 0):
            shares[name] = share
    return shares


def find_best_name(question: Question, shares: Mapping[str, int], definers: Mapping[str, int]) -> tuple[int, str]:
    """Return how much definitions add to the score of their file, in hundredths, and which name adds the most.

    `definers` says how many of the leading files define a name: in a report it counts the less, the more do.
    """
    least, name = min(
        (-(share // isqrt(definers[name])) if question.is_report else -share, name) for name, share in shares.items()
    )
    return -least, name


def name_key(name: str) -> int:
    """Return a number that names share which differ in case, underscores, or in what stands before their last run."""
    runs = RUN.findall(name.encode())
    return crc32(_fold(runs[-1])) if runs else 0


def collect_runs(question: Question) -> frozenset[bytes]:
    """Return the last runs, folded, of all names that add to the score of a file that defines them."""
    runs = {*question.names, *question.compounds, *question.joined, *([question.only] if question.only else [])}
    return frozenset(map(_fold, runs))


def collect_keys(runs: Iterable[bytes]) -> frozenset[int]:
    """Return the keys of all names that end with one of these runs."""
    return frozenset(map(crc32, runs))


def may_have(text: bytes, runs: Collection[bytes]) -> bool:
    """Whether a text may have one of these runs. Without them it defines no such name, and need not be parsed."""
    if len(runs) > FEW_RUNS:
        return True
    folded = _fold(text)
    return any(run in folded for run in runs)


def _fold(run: bytes) -> bytes:
    return run.lower().replace(b"_", b"")


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
