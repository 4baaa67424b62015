"""Words by which people call scores, judges, generators and items, and how the name of a field is cut into words."""

import re
from functools import lru_cache
from typing import Any

import contract_spec as spec

from normalizer.documents.pointers import steps_of

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")
_RULES: dict[str, list[Any]] = spec.resource("rules/guess_words.json")

(
    SCORES,
    CRITERIA,
    LABELS,
    NO_SCORES,
    JUDGES,
    GENERATORS,
    ITEMS,
    VERDICTS,
    SUMMARIES,
    SWAPS,
    FAILURES,
    NOT_APPLICABLE,
    QUESTIONS,
    RATERS,
    REPEATS,
    ASPECTS,
    FILLERS,
    DRAWS,
    METRICS,
    RATED_BY,
    JUDGEMENTS,
    REASONS,
    WEAK_GENERATORS,
    WORSE,
    TOTALS,
    ANSWERS,
    _NO_QUALITIES,
) = (
    frozenset(_RULES[name])
    for name in (
        "scores",
        "criteria",
        "labels",
        "no_scores",
        "judges",
        "generators",
        "items",
        "verdicts",
        "summaries",
        "swaps",
        "failures",
        "not_applicable",
        "questions",
        "raters",
        "repeats",
        "aspects",
        "fillers",
        "draws",
        "metrics",
        "rated_by",
        "judgements",
        "reasons",
        "weak_generators",
        "worse",
        "totals",
        "answers",
        "no_qualities",
    )
)
WORTH = dict.fromkeys(_RULES["worth_0"], 0) | dict.fromkeys(_RULES["worth_1"], 1)
"""Words that stand for 0 and 1."""
LIKERT: list[list[str]] = _RULES["likert"]
"""Scales in words, the least first."""
_QUALITY = re.compile(r"[a-z]{3,}(?:ness|ity|acy|ency|ancy|ance|ence)")
SIDES = (("1", "2"), ("a", "b"), ("left", "right"), ("first", "second"))
_STATED = re.compile(r"out[ _]of[ _]*\d+|\(\s*\d+\s*(?:-|to|\u2013)\s*\d+\s*\)|/\s*(?:5|7|10|100)\b", re.IGNORECASE)
_ENDS = re.compile(r"[_ ]([01])[_-](\d{1,3})$")
_MODEL = re.compile(
    r"gpt|llama|mistral|mixtral|gemma|claude|gemini|qwen|vicuna|alpaca|palm|bard|judge|human|deepseek|phi|\d+b\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a name, in lower case: `responseModel_1` has response, model and 1."""
    return tuple(word.lower() for word in _WORD.findall(text))


@lru_cache(maxsize=4096)
def own_words(pointer: str) -> frozenset[str]:
    """The words of the last step of a pointer."""
    steps = steps_of(pointer)
    return frozenset(words(steps[-1])) if steps else frozenset()


@lru_cache(maxsize=4096)
def all_words(pointer: str) -> frozenset[str]:
    """The words of all steps of a pointer."""
    return frozenset(word for step in steps_of(pointer) for word in words(step))


def is_quality(word: str) -> bool:
    """Whether a word is a criterion: a known one, or a noun made of an adjective, such as convincingness."""
    return word in CRITERIA or (_QUALITY.fullmatch(word) is not None and word not in _NO_QUALITIES)


@lru_cache(maxsize=4096)
def are_qualities(pointer: str) -> bool:
    """Whether the last step names criteria and nothing else but who rated, what was rated and the ends of a scale."""
    rest = {word for word in own_words(pointer) if len(word) > 1 and not word.isdigit()} - FILLERS
    return bool(rest) and all(map(is_quality, rest))


def names_a_model(name: str) -> bool:
    """Whether a name looks like that of a model or a kind of judge."""
    return _MODEL.search(name) is not None


def is_side(pointer: str, which: int) -> bool:
    """Whether the last step is called like the first of two (0), or the second (1): `model_a`, `score 2`."""
    return bool(own_words(pointer) & {side[which] for side in SIDES}) and not any(
        word.isdigit() and word not in "12" for word in own_words(pointer)
    )


def without_side(pointer: str) -> frozenset[str]:
    """Return the words of the last step without those that say which of two it is."""
    return own_words(pointer) - {word for side in SIDES for word in side}


def states_scale(pointer: str) -> bool:
    """Whether the last step says on which scale its numbers stand: `Difficulty (out of 10)`, `tone (1-5)`."""
    steps = steps_of(pointer)
    return bool(steps) and _STATED.search(steps[-1]) is not None


def ends_of_scale(pointer: str) -> tuple[int, int] | None:
    """Return the ends of a scale after the name of a field: 1 and 5 of `quality_1_5`; None if there are none."""
    found = _ENDS.search((steps_of(pointer) or [""])[-1])
    return None if found is None or int(found[1]) >= int(found[2]) else (int(found[1]), int(found[2]))
