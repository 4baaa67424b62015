"""Simulated comparisons of two answers: win rates, order effects, ratings and length bias."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from normalizer.aggregate.intervals import Method
from normalizer.estimation.clusters import Clusters, gather
from normalizer.gate.verdict import Terms, decide
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.lengths import length_bias
from normalizer.preferences.rates import order_effects, rates, resample_means, sum_items
from normalizer.preferences.ratings import ratings
from normalizer.preferences.verdicts import tabulate
from tools.interval_coverage import Answers, Ends, Held, Study, holds, intervals, question
from tools.interval_coverage.known_methods import logistic, of_mean, wald, wilson

METHOD = Method(bootstrap=True, resamples=400, seed=0)
_DRAWS = 0.1
_LENGTH_SCALE = 326
"""The standard deviation of the difference of two lengths drawn evenly from 200 to 1000."""
_FAVOUR = 0.5
"""Log-odds by which the answer that is shown first is favoured."""
_PAIRS = {("x", "y"): 0.4, ("x", "z"): 0.9, ("y", "z"): 0.5}


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def _compared(
    rng: random.Random, items: int, odds: float, *, unlike: float = 0.0, length: float = 0.0
) -> list[Comparison]:
    """Comparisons of x and y in both orders, with draws; items differ by `unlike`, so that verdicts on one item go
    together."""
    found = []
    for item in range(items):
        own = odds + rng.gauss(0, unlike)
        lengths = (rng.uniform(200, 1000), rng.uniform(200, 1000))
        for first in ("a", "b"):
            chance = _logistic(own + length * math.tanh((lengths[0] - lengths[1]) / _LENGTH_SCALE))
            winner = "draw" if rng.random() < _DRAWS else "a" if rng.random() < chance else "b"
            found.append(
                Comparison(str(item), "x", "y", winner, None, first, "judge", 0, None, lengths, self_judged=False)
            )
    return found


def _three(rng: random.Random, items: int, unlike: float, runs: int = 1) -> list[Comparison]:
    """Comparisons of x, y and z in both orders by a judge that favours the answer shown first, asked in every run."""
    found = []
    for item in range(items):
        shift = rng.gauss(0, unlike)
        for (a, b), odds in _PAIRS.items():
            for first in ("a", "b") * runs:
                chance = _logistic(odds + shift + (_FAVOUR if first == "a" else -_FAVOUR))
                winner = "draw" if rng.random() < _DRAWS else "a" if rng.random() < chance else "b"
                found.append(
                    Comparison(str(item), a, b, winner, None, first, "judge", 0, None, None, self_judged=False)
                )
    return found


def _normal(unlike: float) -> Iterator[tuple[float, float]]:
    """Deviations of items and their weights, for integrals by the midpoint rule."""
    steps = 4001
    points = [-8 + 16 * (step + 0.5) / steps for step in range(steps)]
    weights = [math.exp(-z * z / 2) for z in points]
    total = sum(weights)
    yield from ((unlike * z, weight / total) for z, weight in zip(points, weights, strict=True))


def _known_rates(items: Clusters) -> dict[str, Ends | None]:
    """The intervals of a rate by other methods, given the score of each item."""
    return {"Wilson": wilson(float(items.mean), items.clusters)} | of_mean(items, (0, 1))


def _graded_share(items: int, centre: float) -> Study:
    """Graded verdicts in both orders: the share of x; items differ in how far it is ahead."""

    def draw(rng: random.Random) -> Held | None:
        found, means = [], []
        for item in range(items):
            own = rng.betavariate(4 * centre, 4 * (1 - centre))
            shares = [Fraction(sum(rng.random() < own for _ in range(4)), 4) for _ in range(2)]
            means.append((shares[0] + shares[1]) / 2)
            for first, share in zip(("a", "b"), shares, strict=True):
                winner = "draw" if share == Fraction(1, 2) else "a" if share > Fraction(1, 2) else "b"
                found.append(
                    Comparison(str(item), "x", "y", winner, share, first, "judge", 0, None, None, self_judged=False)
                )
        [document] = rates([tabulate(found).verdicts], None)
        return holds(document["share_ci95"], centre, of_mean(gather(means), (0, 1)))

    return question(f"graded share of {centre:g}, {items} items", draw)


def _win_rate(items: int, unlike: float) -> Study:
    odds = 0.5
    truth = (1 - _DRAWS) * sum(w * _logistic(odds + shift) for shift, w in _normal(unlike)) + _DRAWS / 2
    named = f"win rate, {items} {'unlike' if unlike else 'alike'} items"

    def draw(rng: random.Random) -> Answers:
        verdicts = tabulate(_compared(rng, items, odds, unlike=unlike)).verdicts
        scores = sum_items(verdicts)
        [drawn] = resample_means([scores], METHOD)
        [document] = rates([verdicts], None)
        others = _known_rates(Clusters(Counter({(mean, 1): count for mean, count in scores.means().items()})))
        return {
            f"{named}, exact": holds(document["exact95"], truth, others),
            f"{named}, bootstrap": holds(drawn, truth, others),
        }

    return intervals([f"{named}, {how}" for how in ("exact", "bootstrap")], draw)


def _rating(items: int) -> Study:
    strengths = {"x": 0.7, "y": 0.0, "z": -0.5}

    names = [f"Bradley-Terry rating, {items} items", f"rank by Bradley-Terry rating, {items} items"]

    def draw(rng: random.Random) -> Answers:
        found = []
        for item in range(items):
            for a, b in _PAIRS:
                winner = "a" if rng.random() < _logistic(strengths[a] - strengths[b]) else "b"
                found.append(Comparison(str(item), a, b, winner, None, "a", "judge", 0, None, None, self_judged=False))
        rows = {row["generator"]: row for row in ratings(tabulate(found), "y")["rows"]}
        if rows["x"]["ci95"] is None:  # separated: no method has an interval
            return dict.fromkeys(names)
        design = np.array([[(one.a == name) - (one.b == name) for name in ("x", "z")] for one in found], dtype=float)
        beta, covariance = logistic(design, np.array([float(one.score) for one in found]))
        known = {"normal": wald(float(beta[0]), float(covariance[0, 0]))}
        answers = [holds(rows["x"]["ci95"], strengths["x"], known), holds(rows["y"]["ranks"], 2)]
        return dict(zip(names, answers, strict=True))

    return intervals(names, draw)


def _length(items: int) -> Study:
    names = {f"length-controlled rate, {items} items": "ci95", f"length slope, {items} items": "slope_ci95"}
    truth = {"ci95": _logistic(0.4), "slope_ci95": 1.0}

    def draw(rng: random.Random) -> Answers:
        found = [one for one in _compared(rng, items, 0.4, length=1.0) if one.winner != "draw"]
        bias = length_bias(tabulate(found).verdicts)
        if bias is None or bias["controlled"]["ci95"] is None:
            return dict.fromkeys(names)
        gaps = np.array([one.lengths[0] - one.lengths[1] for one in found if one.lengths])
        design = np.column_stack([np.ones(len(gaps)), np.tanh(gaps / gaps.std(ddof=1))])
        beta, covariance = logistic(design, np.array([float(one.score) for one in found]))
        at_equal, slope = (wald(float(beta[at]), float(covariance[at, at])) for at in (0, 1))
        known = {"ci95": (_logistic(at_equal[0]), _logistic(at_equal[1])), "slope_ci95": slope}
        return {name: holds(bias["controlled"][at], truth[at], {"normal": known[at]}) for name, at in names.items()}

    return intervals(list(names), draw)


def _agreeing(drawn: list[Comparison]) -> Clusters:
    """Return by item whether verdicts on the same two answers in both orders agree, each compared with each."""
    winners: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in drawn:
        winners[one.item, one.a, one.b][one.first].append(one.winner)
    same = [(Fraction(x == y), key[0]) for key, of in winners.items() for x in of["a"] for y in of["b"]]
    return gather([value for value, _ in same], [item for _, item in same])


def _order(items: int, unlike: float, runs: int = 1) -> Study:
    decided = 1 - _DRAWS
    first = consistent = 0.0
    for odds in _PAIRS.values():
        for shift, weight in _normal(unlike):
            one, other = (decided * _logistic(odds + shift + favour) for favour in (_FAVOUR, -_FAVOUR))
            first += weight * (one + decided - other + _DRAWS) / 2 / len(_PAIRS)
            consistent += weight * (one * other + (decided - one) * (decided - other) + _DRAWS**2) / len(_PAIRS)
    alike = f"{items} {'unlike' if unlike else 'alike'} items{f', {runs} runs' if runs > 1 else ''}"
    shown = {f"rate of the answer shown first, {alike}, {how}": f"{how.lower()}95" for how in ("exact", "bootstrap")}
    across = f"consistency across orders, {alike}"

    def draw(rng: random.Random) -> Answers:
        drawn = _three(rng, items, unlike, runs)
        found = order_effects(tabulate(drawn), METHOD)
        of_first = gather([one.score if one.first == "a" else 1 - one.score for one in drawn], [o.item for o in drawn])
        others = _known_rates(Clusters(Counter({(total / n, 1): m for (total, n), m in of_first.counts.items()})))
        answers = {name: holds(found["first_shown"][member], first, others) for name, member in shown.items()}
        return answers | {across: holds(found["swapped"]["exact95"], consistent, of_mean(_agreeing(drawn), (0, 1)))}

    return intervals([*shown, across], draw)


def _gate(items: int, gain: float, verdict: str, nominal: str) -> Study:
    """Two generators against one baseline on the same items, in both orders; `gain` is in log-odds."""

    def score(rng: random.Random, odds: list[float]) -> list[Fraction]:
        found = []
        for own in odds:
            both = [rng.random() < _logistic(own + favour) for favour in (_FAVOUR, -_FAVOUR)]
            found.append(Fraction(sum(both), 2))
        return found

    def draw(rng: random.Random) -> bool:
        odds = [rng.gauss(0, 1) for _ in range(items)]
        base, candidate = score(rng, odds), score(rng, [own + gain for own in odds])
        gaps = [other - one for one, other in zip(base, candidate, strict=True)]
        return decide(gather(gaps), Terms(Fraction(1), Fraction(0), 0.05)).verdict == verdict

    told = "A/A" if gain == 0 else f"{-gain:g} log-odds worse"
    return question(f"gate on rates, {told}, {items} items: {verdict}", draw, nominal)


STUDIES = [
    _win_rate(50, 0.0),
    _win_rate(20, 2.0),
    _win_rate(50, 2.0),
    _win_rate(200, 2.0),
    _graded_share(20, 0.9),
    _graded_share(50, 0.6),
    _order(50, 0.0),
    _order(50, 2.0),
    _order(50, 2.0, 2),
    _rating(5),
    _rating(30),
    _rating(100),
    _length(10),
    _length(100),
    _gate(50, 0.0, "worse", "2.5 %"),
    _gate(150, -1.0, "worse", "none"),
]
