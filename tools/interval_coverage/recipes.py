"""Intervals of scores by the recipes of other boards."""

import math
import random
from fractions import Fraction

from normalizer.aggregate.recipes import Recipe
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.recipes import score_pairs
from tools.interval_coverage import Held, Study, holds, question
from tools.interval_coverage.known_methods import bootstrap_ratio, stratified

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

    def draw(rng: random.Random) -> Held | None:
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

    def draw(rng: random.Random) -> Held | None:
        verdicts: list[Comparison] = []
        rows: list[dict[str, object]] = []
        for item in range(items):
            at = item % len(_TAGS)
            quarters = sum(rng.random() < _CENTRES[at] for _ in range(4))
            verdicts.append(_verdict(item, Fraction(quarters, 4)))
            rows.append({"id": str(item), "primary_tag": _TAGS[at]})
        groups = {tag: [200 * float(one.share or 0) - 100 for one in verdicts[at::5]] for at, tag in enumerate(_TAGS)}
        known = {"normal": stratified(groups, dict(zip(_TAGS, map(float, _QUARTERS), strict=True)))}
        return holds(_score("wildbench-macro", verdicts, rows), truth, known)

    return question(f"recipe wildbench-macro, {items} items", draw)


def _arena(items: int) -> Study:
    """Graded verdicts on items that differ, two of each: `>>` counts three times."""
    shares = [Fraction(quarter, 4) for quarter in range(5)]
    times = [3, 1, 1, 1, 3]
    scores = [0.0, 0.0, 0.5, 1.0, 1.0]
    chances = [0.06, 0.22, 0.14, 0.34, 0.24]
    weights = [chance * often for chance, often in zip(chances, times, strict=True)]
    truth = 100 * sum(w * score for w, score in zip(weights, scores, strict=True)) / sum(weights)

    def draw(rng: random.Random) -> Held | None:
        verdicts: list[Comparison] = []
        sums, sizes = [], []
        for item in range(items):
            first, again = rng.choices(range(5), chances, k=2)
            both = [first, first if rng.random() < 0.5 else again]
            verdicts += [_verdict(item, shares[grade]) for grade in both]
            sums.append(sum(100 * times[grade] * scores[grade] for grade in both))
            sizes.append(float(sum(times[grade] for grade in both)))
        return holds(_score("arena-hard", verdicts, []), truth, {"BCa": bootstrap_ratio(sums, sizes)})

    return question(f"recipe arena-hard, {items} items", draw)


def _arena_style(items: int, centre: float) -> Study:
    """Verdicts that depend on style, of which the answers of both have as much on average; a third are `>>`."""

    def draw(rng: random.Random) -> Held | None:
        verdicts: list[Comparison] = []
        rows: list[dict[str, object]] = []
        for item in range(items):
            tokens = [rng.randint(100, 900) for _ in range(2)]
            counts = [[rng.randint(0, 9) for _ in range(3)] for _ in range(2)]
            chance = _odds(centre + 1.5 * (tokens[0] - tokens[1]) / (tokens[0] + tokens[1]))
            strong = rng.random() < 1 / 3
            for _ in range(2):
                won = rng.random() < chance
                verdicts.append(_verdict(item, Fraction(won) if strong else Fraction(3 if won else 1, 4)))
            for name, length, each in zip(("x", "y"), tokens, counts, strict=True):
                style = dict(zip(("header_count", "list_count", "bold_count"), each, strict=True))
                rows.append({"uid": str(item), "model": name, "metadata": {"token_len": length, **style}})
        return holds(_score("arena-hard-style", verdicts, rows), 100 * _odds(centre))

    return question(f"recipe arena-hard-style, {items} items, score of {100 * _odds(centre):.0f}", draw)


STUDIES = [
    _arena(20),
    _arena(100),
    _arena_style(30, 1.5),
    _arena_style(200, 0.0),
    _length_controlled(100, 0.0),
    _length_controlled(400, -2.0),
    _weighted_tasks(100),
]
