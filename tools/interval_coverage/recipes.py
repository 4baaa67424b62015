"""Intervals of scores by the recipes of other boards."""

import math
import random
from fractions import Fraction

from normalizer.aggregate.recipes import Recipe
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.recipes import score_pairs
from tools.interval_coverage import Study, holds, question

_TAGS = ("Math", "Reasoning", "Editing", "Advice seeking", "Coding & Debugging")
_CENTRES = (0.3, 0.45, 0.6, 0.5, 0.4)
"""A's mean share in each group of tasks."""
_QUARTERS = (4, 5, 2, 3, 5)
_DRAWS = 200_000


def _odds(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _verdict(item: int, share: Fraction, lengths: tuple[float, float] = (1.0, 1.0)) -> Comparison:
    half = Fraction(1, 2)
    winner = "draw" if share == half else "a" if share > half else "b"
    return Comparison(str(item), "x", "y", winner, share, "a", "judge", 0, None, lengths, False, item)


def _score(name: str, verdicts: list[Comparison], rows: list[dict[str, object]]) -> object:
    return score_pairs(Recipe(name, tuple(rows)), {("x", "y"): verdicts})["x", "y"]["ci95"]


def _length_controlled(items: int, centre: float) -> Study:
    """Verdicts that depend on length and on how hard the item is."""
    known = random.Random(0)
    truth = 100 * sum(_odds(centre + 0.8 * known.gauss(0, 1)) for _ in range(_DRAWS)) / _DRAWS

    def draw(rng: random.Random) -> bool | None:
        verdicts: list[Comparison] = []
        rows: list[dict[str, object]] = []
        for item in range(items):
            hard, gap = rng.gauss(0, 1), rng.gauss(100, 300)
            chance = _odds(centre + 0.8 * hard + 0.9 * math.tanh(gap / 300))
            verdicts.append(_verdict(item, Fraction(rng.random() < chance), (1000 + gap, 1000.0)))
            rows.append({"index": item, "instruction_difficulty": hard})
        return holds(_score("alpaca-eval-lc", verdicts, rows), truth)

    return question(f"recipe alpaca-eval-lc, {items} items, score of {truth:.0f}", draw)


def _weighted_tasks(items: int) -> Study:
    """Graded verdicts on tasks of five groups."""
    pairs = zip(_CENTRES, _QUARTERS, strict=True)
    truth = sum(weight * (200 * centre - 100) for centre, weight in pairs) / sum(_QUARTERS)

    def draw(rng: random.Random) -> bool | None:
        verdicts: list[Comparison] = []
        rows: list[dict[str, object]] = []
        for item in range(items):
            at = item % len(_TAGS)
            quarters = sum(rng.random() < _CENTRES[at] for _ in range(4))
            verdicts.append(_verdict(item, Fraction(quarters, 4)))
            rows.append({"id": str(item), "primary_tag": _TAGS[at]})
        return holds(_score("wildbench-macro", verdicts, rows), truth)

    return question(f"recipe wildbench-macro, {items} items", draw)


STUDIES = [
    _length_controlled(100, 0.0),
    _length_controlled(400, -2.0),
    _weighted_tasks(100),
]
