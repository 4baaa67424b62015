"""Pass rates of a judge, corrected for its measured errors (Rogan and Gladen 1978; for model judges arXiv 2511.21140).

The judge passes a share q of items without gold. On items with gold it passes a share of those that pass (sensitivity)
and fails a share of those that fail (specificity). The true rate is (q + specificity - 1) / (sensitivity + specificity
- 1). Each end of the interval is that of the posterior distribution of the three shares under a weak prior that leans
to that end, cut to 0 and 1. Answers about one artifact go together: the counts of each share are divided by its design
effect. It assumes that the judge errs as often on the items without gold as on those with it, but
not that as many of them pass.
"""

from collections import Counter
from fractions import Fraction
from typing import Any

from normalizer.calibration.labels import Item, PairsByItem
from normalizer.calibration.prediction_powered import find_worth
from normalizer.documents.exact import round_exact
from normalizer.estimation.gamma_draws import draw_gammas, find_ends

_LEAST_GAIN = 0.02
"""Draws in which sensitivity and specificity add up to less than 1 and this are of a judge that says nothing."""
_LEAN = 0.25
"""The prior counts one observation for each share, with this weight on the side that it leans away from."""


def correct_pass_rate(labelled: PairsByItem, unlabelled: dict[Item, Fraction]) -> dict[str, Any] | None:
    """Return the corrected share of the greater of two values; None where labels have another number of values."""
    values = sorted({value for pair in labelled.values() for value in pair} | set(unlabelled.values()))
    if len(values) != 2:
        return None
    low, high = values
    counts = Counter(labelled.values())
    passed = [counts[high, high], counts[low, high], counts[low, low], counts[high, low]]
    judged = [sum(value == each for value in unlabelled.values()) for each in (high, low)]
    document: dict[str, Any] = {"value": round_exact(high), "n_gold": len(labelled), "n_judged": len(unlabelled)}
    document |= dict.fromkeys(("judge_rate", "sensitivity", "specificity", "corrected", "ci95"))
    if not sum(judged) or not passed[0] + passed[1] or not passed[2] + passed[3]:
        return {**document, "na": "gold has only one of the two values, or no item is without gold"}
    sensitivity, specificity = Fraction(passed[0], passed[0] + passed[1]), Fraction(passed[2], passed[2] + passed[3])
    rate = Fraction(judged[0], sum(judged))
    document |= {
        "judge_rate": round_exact(rate),
        "sensitivity": round_exact(sensitivity),
        "specificity": round_exact(specificity),
    }
    shares = [{item: judge for item, (judge, gold) in labelled.items() if gold == value} for value in (high, low)]
    worths = [
        find_worth([Fraction(value == high) for value in each.values()], [artifact for artifact, _ in each])
        for each in (*shares, unlabelled)
    ]
    ends = _interval([count * worths[at // 2] for at, count in enumerate([*passed, *judged])])
    if ends is None:
        return {**document, "na": "the gold labels do not show that the judge tells the two values apart"}
    estimate = (rate + specificity - 1) / (sensitivity + specificity - 1)
    estimate = min(max(estimate, Fraction(0)), Fraction(1))
    low_end, high_end = min(Fraction(ends[0]), estimate), max(Fraction(ends[1]), estimate)
    return {
        **document,
        "corrected": round_exact(estimate),
        "ci95": [round_exact(low_end), round_exact(high_end)],
        "na": None,
    }


def _interval(counts: list[float]) -> tuple[float, float] | None:
    """Return both ends, given right and wrong of both gold values, and the items that the judge passed and failed."""
    import numpy as np

    ends = []
    for side in (0, 1):
        # Low: few passes, few of them missed, many of them wrong.
        leaning = [_LEAN if at in ((1, 2, 4), (0, 3, 5))[side] else 1 - _LEAN for at in range(len(counts))]
        drawn = draw_gammas([count + more for count, more in zip(counts, leaning, strict=True)])
        sensitivity, specificity, rate = (drawn[:, at] / (drawn[:, at] + drawn[:, at + 1]) for at in (0, 2, 4))
        gain = sensitivity + specificity - 1
        if float((gain < _LEAST_GAIN).mean()) > 0.025:
            return None
        known = gain >= _LEAST_GAIN
        corrected = np.clip((rate[known] + specificity[known] - 1) / gain[known], 0, 1)
        ends.append(find_ends(corrected)[side])
    return ends[0], ends[1]
