"""Simulations of every interval and verdict: how often a nominal 95 % interval holds the truth, how often a gate errs.

`comparisons` simulates preferences, `recipes` scores of other boards, `labels` judges against gold, `skewed_labels` the
same far from normal, `scores` means, `differences` contrasts and gates, `plans` studies of a planned size,
`judge_effects` what judges have of their own. A study draws data whose truth is known, lets the product's own functions
make the interval, and says whether it holds the truth. `python -m tools.interval_coverage` prints one table; the pages
preferences, calibration, gate and aggregation of docs/ show its rows. `widths` compares the intervals of differences
with other known ones.
"""

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

Answers = Mapping[str, bool | None]
"""An answer for each question to one data set; None where the product gives no number."""


class Study(NamedTuple):
    """Questions to simulated data."""

    questions: dict[str, str]
    """Each question, and the share of yes that is promised."""
    draw: Callable[[random.Random], Answers]
    """Draws one data set and answers all questions."""


def holds(ends: object, truth: float) -> bool | None:
    """Whether an interval of a document, None or two numbers, holds the truth."""
    if not isinstance(ends, (list, tuple)):
        return None
    low, high = ends
    return float(low) <= truth <= float(high)


def intervals(questions: list[str], draw: Callable[[random.Random], Answers]) -> Study:
    """Return a study of 95 % intervals."""
    return Study(dict.fromkeys(questions, "95 %"), draw)


def question(name: str, draw: Callable[[random.Random], bool | None], nominal: str = "95 %") -> Study:
    """Return a study with one question, by default about a 95 % interval."""
    return Study({name: nominal}, lambda rng: {name: draw(rng)})
