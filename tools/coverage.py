"""Simulations of every interval and verdict that the normalizer gives, on request: `python -m tools.coverage`.

Each line says how often a nominal 95 % interval covered the truth, or how often a gate spoke, over so many simulated
studies whose truth is known. The library functions themselves are run on the simulated data. Figures in docs are of
`python -m tools.coverage --runs 1000 --seed 1`.
"""

import argparse
import math
import random
from collections.abc import Callable
from fractions import Fraction

from normalizer.aggregate.intervals import Method
from normalizer.calibration import prediction_powered, resampling
from normalizer.gate.verdict import decide
from normalizer.noise.components import components
from normalizer.noise.sample_size import items_needed
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.lengths import length_bias
from normalizer.preferences.rates import item_scores, resampled, wilson
from normalizer.preferences.ratings import ratings

Study = Callable[[random.Random], bool | None]
_METHOD = Method(bootstrap=True, resamples=400, seed=0)


def compared(
    rng: random.Random, items: int, odds: float, *, heterogeneity: float = 0.0, length: float = 0.0
) -> list[Comparison]:
    """Comparisons of x and y in both orders, with draws; items differ, so that verdicts on one item go together."""
    found = []
    for item in range(items):
        own = odds + rng.gauss(0, heterogeneity)
        lengths = (rng.uniform(200, 1000), rng.uniform(200, 1000))
        for first in ("a", "b"):
            chance = 1 / (1 + math.exp(-own - length * math.tanh((lengths[0] - lengths[1]) / 326)))
            winner = "draw" if rng.random() < 0.1 else "a" if rng.random() < chance else "b"
            found.append(
                Comparison(str(item), "x", "y", winner, None, first, "judge", 0, None, lengths, self_judged=False)
            )
    return found


def expected_rate(odds: float, heterogeneity: float) -> float:
    """The true rate: the mean of the logistic function over items, by the midpoint rule; draws count half."""
    steps = 4001
    total = weight = 0.0
    for step in range(steps):
        z = -8 + 16 * (step + 0.5) / steps
        density = math.exp(-z * z / 2)
        total += density / (1 + math.exp(-(odds + heterogeneity * z)))
        weight += density
    return 0.9 * total / weight + 0.05


def win_rate(items: int, odds: float, heterogeneity: float, how: str) -> Study:
    """Whether the interval of a win rate covers it."""
    truth = expected_rate(odds, heterogeneity)

    def study(rng: random.Random) -> bool:
        scores = list(item_scores(compared(rng, items, odds, heterogeneity=heterogeneity)).values())
        rate = sum(scores, Fraction(0)) / len(scores)
        low, high = wilson(rate, len(scores)) if how == "wilson" else resampled(scores, _METHOD)
        return float(low) <= truth <= float(high)

    return study


def rating(items: int) -> Study:
    """Whether the interval of a Bradley-Terry rating against a baseline covers it."""
    strengths = {"x": 0.7, "y": 0.0, "z": -0.5}

    def study(rng: random.Random) -> bool | None:
        found = []
        for item in range(items):
            for a, b in (("x", "y"), ("x", "z"), ("y", "z")):
                chance = 1 / (1 + math.exp(strengths[b] - strengths[a]))
                winner = "a" if rng.random() < chance else "b"
                found.append(Comparison(str(item), a, b, winner, None, "a", "judge", 0, None, None, self_judged=False))
        rows = {row["generator"]: row["ci95"] for row in ratings(found, "y")["rows"]}
        if not rows:
            return None
        return float(rows["x"][0]) <= strengths["x"] <= float(rows["x"][1])

    return study


def controlled(items: int) -> Study:
    """Whether the interval of the length-controlled rate covers the rate at equal lengths."""

    def study(rng: random.Random) -> bool | None:
        found = [one for one in compared(rng, items, 0.4, length=1.0) if one.winner != "draw"]
        bias = length_bias(found, _METHOD)
        interval = bias["controlled"]["ci95"] if bias else None
        truth = 1 / (1 + math.exp(-0.4))
        return None if interval is None else float(interval[0]) <= truth <= float(interval[1])

    return study


def _labels(rng: random.Random, n: int, right: float) -> list[tuple[Fraction, Fraction]]:
    """Judge and gold on a scale from 0 to 2: the judge repeats gold with probability `right`, else draws at random."""
    found = []
    for _ in range(n):
        gold = rng.choices([0, 1, 2], [0.2, 0.3, 0.5])[0]
        judge = gold if rng.random() < right else rng.choices([0, 1, 2], [0.2, 0.3, 0.5])[0]
        found.append((Fraction(judge), Fraction(gold)))
    return found


def agreement(n: int, right: float, measure: str) -> Study:
    """Whether the bootstrap interval of a measure of agreement covers it."""
    chance = 0.2**2 + 0.3**2 + 0.5**2
    truth = {"exact": right + (1 - right) * chance, "bias": 0.0}.get(measure, right)

    def study(rng: random.Random) -> bool | None:
        interval = resampling.intervals(_labels(rng, n, right), _METHOD)[measure]
        return None if interval is None else float(interval[0]) <= truth <= float(interval[1])

    return study


def powered(n: int, more: int, right: float) -> Study:
    """Whether the prediction-powered interval covers the gold mean."""

    def study(rng: random.Random) -> bool | None:
        judge = [one for one, _ in _labels(rng, more, right)]
        interval = prediction_powered.estimate(_labels(rng, n, right), judge)["ci95"]
        return None if interval is None else float(interval[0]) <= 1.3 <= float(interval[1])

    return study


def spoken(pairs: int, gain: float, verdicts: tuple[str, ...], margin: str = "0") -> Study:
    """Whether a gate gives one of the verdicts. Totals: item deviation 2, noise 1 on each side."""

    def study(rng: random.Random) -> bool:
        gaps = []
        for _ in range(pairs):
            base = rng.gauss(6, 2)
            one, other = (round(min(10, max(0, base + more + rng.gauss(0, 1)))) for more in (0.0, gain))
            gaps.append(Fraction(other - one))
        return decide(gaps, Fraction(margin), 0.05)["verdict"] in verdicts

    return study


def noise_share(items: int, repeats: int, share: float) -> Study:
    """Whether the interval of the share of variance that is the judge's own noise covers it."""

    def study(rng: random.Random) -> bool | None:
        table = []
        for _ in range(items):
            level = rng.gauss(0, math.sqrt(1 - share))
            table.append(
                [Fraction(round(1000 * (level + rng.gauss(0, math.sqrt(share)))), 1000) for _ in range(repeats)]
            )
        interval = components(table)["noise_share_ci95"]
        return None if interval is None else float(interval[0]) <= share <= float(interval[1])

    return study


def planned(deviation: float, gap: float) -> Study:
    """Whether a study of the planned size finds the difference it was planned for; 80 % were asked for."""
    pairs = items_needed(gap, deviation, power=0.8, alpha=0.05)

    def study(rng: random.Random) -> bool:
        gaps = [Fraction(round(1000 * rng.gauss(gap, deviation)), 1000) for _ in range(pairs)]
        return bool(decide(gaps, Fraction(0), 0.05)["verdict"] == "better")

    return study


STUDIES: dict[str, Study] = {
    "win rate, 50 items, Wilson, alike items": win_rate(50, 0.5, 0.0, "wilson"),
    "win rate, 50 items, Wilson, unlike items": win_rate(50, 0.5, 2.0, "wilson"),
    "win rate, 50 items, bootstrap, unlike items": win_rate(50, 0.5, 2.0, "bootstrap"),
    "win rate, 200 items, bootstrap, unlike items": win_rate(200, 0.5, 2.0, "bootstrap"),
    "Bradley-Terry rating, 30 items": rating(30),
    "Bradley-Terry rating, 100 items": rating(100),
    "length-controlled rate, 100 items": controlled(100),
    "accuracy, 50 items": agreement(50, 0.6, "exact"),
    "bias, 50 items": agreement(50, 0.6, "bias"),
    "kappa, 50 items": agreement(50, 0.6, "kappa"),
    "kappa, 200 items": agreement(200, 0.6, "kappa"),
    "Pearson's r, 50 items": agreement(50, 0.6, "pearson"),
    "Pearson's r, 200 items": agreement(200, 0.6, "pearson"),
    "gold mean, prediction-powered, 20 labels + 500": powered(20, 500, 0.7),
    "gold mean, prediction-powered, 50 labels + 500": powered(50, 500, 0.7),
    "gold mean, prediction-powered, 50 labels + 500, poor judge": powered(50, 500, 0.1),
    "gate, A/A, 50 pairs: worse (nominal 2.5 %)": spoken(50, 0.0, ("worse",)),
    "gate, A/A, 50 pairs: better (nominal 2.5 %)": spoken(50, 0.0, ("better",)),
    "gate, A/A, 50 pairs, margin 0.5: passes": spoken(50, 0.0, ("better", "no_worse"), "1/2"),
    "gate, 0.5 worse, 50 pairs: worse": spoken(50, -0.5, ("worse",)),
    "gate, 0.55 worse, 50 pairs, margin 0.5: passes (nominal below 2.5 %)": spoken(
        50, -0.55, ("better", "no_worse"), "1/2"
    ),
    "gate, 0.5 worse, 150 pairs: worse": spoken(150, -0.5, ("worse",)),
    "noise share 0.3, 50 items, 3 repeats": noise_share(50, 3, 0.3),
    "plan: difference of 0.3, deviation 1: found (asked 80 %)": planned(1.0, 0.3),
    "plan: difference of 0.5, deviation 2: found (asked 80 %)": planned(2.0, 0.5),
}


def simulate(name: str, runs: int, seed: int) -> tuple[int, int]:
    """How often the study said yes, and how often it said anything."""
    study = STUDIES[name]
    told = [answer for run in range(runs) if (answer := study(random.Random(f"{seed}/{run}"))) is not None]
    return sum(told), len(told)


def main() -> None:
    """Print a line a study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="studies whose name has this in it")
    given = parser.parse_args()
    for name in STUDIES:
        if given.only in name:
            yes, of = simulate(name, given.runs, given.seed)
            print(f"{name}: {100 * yes / max(of, 1):.1f} % of {of}", flush=True)


if __name__ == "__main__":
    main()
