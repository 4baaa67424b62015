"""Simulations of every interval and verdict: how often a nominal 95 % interval holds the truth, how often a gate errs.

`comparisons` simulates preferences, `recipes` scores of other boards, `labels` judges against gold, `skewed_labels` the
same far from normal, `scores` means, `differences` contrasts and gates, `plans` studies of a planned size,
`judge_effects` what judges have of their own. A study draws data whose truth is known, lets the product's own functions
make the interval, and says whether it holds the truth. `python -m tools.interval_coverage` prints one table; the pages
preferences, calibration, gate and aggregation of docs/ show its rows. Beside each width stands that of the best method
that is known for such data, of `known_methods`. `printed_numbers.json` lists every interval and p-value that a command
prints, with the rows here that attack it. `widths` compares the intervals of differences with several others.
"""

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

Ends = tuple[float, float]
"""The ends of an interval."""


class Held(NamedTuple):
    """An interval of one data set, compared with the truth."""

    holds: bool
    width: float
    others: dict[str, tuple[bool, float]]
    """By other methods on the same data: whether the interval holds the truth, and its width."""


Answers = Mapping[str, bool | Held | None]
"""An answer for each question to one data set; None where the product gives no number."""


class Study(NamedTuple):
    """Questions to simulated data."""

    questions: dict[str, str]
    """Each question, and the share of yes that is promised."""
    draw: Callable[[random.Random], Answers]
    """Draws one data set and answers all questions."""


def holds(ends: object, truth: float, others: Mapping[str, Ends | None] | None = None) -> Held | None:
    """Return whether an interval of a document, None or two numbers, holds the truth, beside those of other methods."""
    if not isinstance(ends, (list, tuple)):
        return None
    low, high = map(float, ends)
    known = {name: each for name, each in (others or {}).items() if each is not None}
    compared = {name: (one <= truth <= other, other - one) for name, (one, other) in known.items()}
    return Held(low <= truth <= high, high - low, compared)


def intervals(questions: list[str], draw: Callable[[random.Random], Answers]) -> Study:
    """Return a study of 95 % intervals."""
    return Study(dict.fromkeys(questions, "95 %"), draw)


def question(name: str, draw: Callable[[random.Random], bool | Held | None], nominal: str = "95 %") -> Study:
    """Return a study with one question, by default about a 95 % interval."""
    return Study({name: nominal}, lambda rng: {name: draw(rng)})
