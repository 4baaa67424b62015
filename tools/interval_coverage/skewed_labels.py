"""Simulated labels that are far from normal: totals near the top of the scale, rare errors, outliers among repeats."""

import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from normalizer.calibration import prediction_powered
from normalizer.calibration.labels import PairsByItem
from normalizer.estimation.clusters import gather
from normalizer.statistics.agreement_intervals import find_intervals
from normalizer.statistics.cell_table import CellTable
from tools.interval_coverage import Answers, Held, Study, holds, intervals, question
from tools.interval_coverage.known_methods import of_agreement, of_mean
from tools.interval_coverage.labels import hold_powered, name_each
from tools.interval_coverage.scores import TOTALS, exactly, hold_noise

_SCALE = Fraction(0), Fraction(10)
_MEAN = sum(total * share for total, share in TOTALS.items()) / 100
_DRAWS = 200_000
_MEASURES = {
    "Pearson's r": "pearson",
    "Spearman's rho": "spearman",
    "Kendall's tau": "kendall",
    "kappa": "kappa",
    "weighted kappa": "kappa_quadratic",
    "ordinal alpha": "alpha_ordinal",
    "mean absolute difference": "mae",
}


def _label(rng: random.Random) -> tuple[Fraction, Fraction]:
    """A judge's total and the gold one, most of them near the top; one judgement in forty is 5 too low."""
    gold = rng.choices(list(TOTALS), list(TOTALS.values()))[0]
    error = rng.gauss(0, 1.2) - (5 if rng.random() < 0.025 else 0)
    return Fraction(min(10, max(0, round(gold + error)))), Fraction(gold)


def _powered(n: int) -> Study:
    def draw(rng: random.Random) -> Held | None:
        labelled: PairsByItem = {(str(at), None): _label(rng) for at in range(n)}
        return hold_powered(labelled, name_each([_label(rng)[0] for _ in range(500)]), _SCALE, _MEAN)

    return question(f"gold mean, prediction-powered, totals near the top, {n} labels + 500", draw)


def _powered_by_artifact(n: int, artifacts: int, answers: int, alike: float) -> Study:
    """Few labels, and many answers without gold about a few artifacts."""

    def draw(rng: random.Random) -> Held | None:
        def label(shared: float) -> tuple[Fraction, Fraction]:
            gold = 6 + 1.5 * (shared + rng.gauss(0, math.sqrt(1 - alike)))
            judge, known = (exactly(min(10, max(0, each))) for each in (gold + rng.gauss(0, 0.5), gold))
            return judge, known

        labelled: PairsByItem = {(str(at), None): label(rng.gauss(0, math.sqrt(alike))) for at in range(n)}
        levels = [rng.gauss(0, math.sqrt(alike)) for _ in range(artifacts)]
        judged = name_each([label(level)[0] for level in levels for _ in range(answers)], answers)
        return hold_powered(labelled, judged, _SCALE, 6.0)

    told = f"{n} labels + {artifacts} artifacts with {answers} answers, ICC {alike:g}"
    return question(f"gold mean, prediction-powered, {told}", draw)


def _gold_only(artifacts: int, answers: int, alike: float) -> Study:
    """The mean of gold labels, several of them about one artifact."""

    def draw(rng: random.Random) -> Held | None:
        labelled: PairsByItem = {}
        for artifact in range(artifacts):
            shared = rng.gauss(0, math.sqrt(alike))
            for answer in range(answers):
                level = 6 + 1.5 * (shared + rng.gauss(0, math.sqrt(1 - alike)))
                value = exactly(min(10, max(0, level)))
                labelled[str(artifact), str(answer)] = value, value
        values = gather([gold for _, gold in labelled.values()], [artifact for artifact, _ in labelled])
        found = prediction_powered.estimate(labelled, {}, _SCALE)["gold_only_ci95"]
        return holds(found, 6.0, of_mean(values, (0, 10)))

    return question(f"gold mean, gold only, {artifacts} artifacts with {answers} answers, ICC {alike:g}", draw)


def _failing(rng: random.Random) -> tuple[Fraction, Fraction]:
    """Totals around 8 that hardly tell of each other, and failures in 5 %: both see them, and make the correlation."""
    gold = rng.gauss(8, 0.7) - (6 if rng.random() < 0.05 else 0)
    judge, known = (Fraction(round(2 * min(10, max(0, each))), 2) for each in (gold + rng.gauss(0, 1), gold))
    return judge, known


def _close(rng: random.Random) -> tuple[Fraction, Fraction]:
    """Totals of twenty values from a judge that is off by one or so: most values occur once among 20 items."""
    gold = rng.gauss(6, 2)
    judge, known = (Fraction(round(2 * min(10, max(0, each))), 2) for each in (gold + rng.gauss(0, 0.5), gold))
    return judge, known


def _agreement(n: int, name: str, label: Callable[[random.Random], tuple[Fraction, Fraction]]) -> Study:
    """Correlations, agreement and mean absolute difference; the truth is that of very many labels."""
    known = random.Random(0)
    cells = Counter(label(known) for _ in range(_DRAWS))
    truth = CellTable(list(cells)).measure(np.array(list(cells.values()), dtype=float))
    names = {f"{told}, {name}, {n} items": measure for told, measure in _MEASURES.items()}

    def draw(rng: random.Random) -> Answers:
        pairs = [label(rng) for _ in range(n)]
        found, others = find_intervals(pairs, [str(at) for at in range(n)], scale=_SCALE), of_agreement(pairs)
        return {name: holds(found[measure], float(truth[measure]), others[measure]) for name, measure in names.items()}

    return intervals(list(names), draw)


def _rare_error(n: int, share: float) -> Study:
    """The mean absolute difference of a judge that is right but for a rare error of 10."""

    def draw(rng: random.Random) -> Held | None:
        gold = [Fraction(rng.randint(0, 10)) for _ in range(n)]
        pairs = [(value if rng.random() >= share else (10 if value <= 5 else Fraction(0)), value) for value in gold]
        labels = [(Fraction(one), other) for one, other in pairs]
        found = find_intervals(labels, [str(at) for at in range(n)], scale=_SCALE)["mae"]
        truth = share * sum(max(value, 10 - value) if value != 5 else 5 for value in range(11)) / 11
        return holds(found, truth, of_mean(gather([abs(one - other) for one, other in labels]), (0, 10)))

    return question(f"mean absolute difference, {n} items, an error in {100 * share:g} %", draw)


def _outliers(items: int, share: float, size: float) -> Study:
    """The noise share of labels with noise of 0.5, and rare outliers; items differ by 1.5."""
    noise = 0.25 + share * size**2

    def draw(rng: random.Random) -> Held | None:
        table = []
        for _ in range(items):
            level = rng.gauss(0, 1.5)
            labels = [
                rng.gauss(level, 0.5) + (rng.choice((-size, size)) if rng.random() < share else 0) for _ in range(3)
            ]
            table.append([exactly(label) for label in labels])
        return hold_noise(table, noise / (noise + 2.25))

    return question(f"noise share, {items} items, 3 repeats, outliers of {size:g} in {100 * share:g} %", draw)


STUDIES = [
    _powered(5),
    _powered(20),
    _powered(50),
    _powered_by_artifact(30, 20, 25, 0.5),
    _gold_only(12, 4, 0.5),
    *(_agreement(n, "totals near the top", _label) for n in (20, 50)),
    _agreement(20, "a failure in 5 %", _failing),
    _agreement(8, "a close judge, 20 values", _close),
    _agreement(20, "a close judge, 20 values", _close),
    _rare_error(20, 0.05),
    _outliers(20, 0.02, 6),
    _outliers(50, 0.05, 4),
]
