"""Length bias: how the rate of A depends on the difference in length, and the rate at equal lengths.

Model of the length-controlled rate: logit P(A wins) = c + s * tanh(d / sd), d being A's length minus B's and sd its
standard deviation over the comparisons; the rate is that at d = 0, 1 / (1 + exp(-c)). Every item has the same weight,
however often it was judged. Intervals are cluster-robust by item.
"""

from fractions import Fraction
from math import exp, log2, sqrt, tanh
from typing import Any

from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.intervals import quantile
from normalizer.documents.exact import round_exact
from normalizer.preferences.logistic import fit
from normalizer.preferences.rates import rates
from normalizer.preferences.verdicts import NONE, Verdicts

MODEL = "logit P(A wins) = c + s * tanh((length A - length B) / sd); the rate is 1 / (1 + exp(-c))"
_BOUNDS = (-0.5, -0.1, 0.1, 0.5)
"""Bounds of the bins, as log2(length A / length B)."""
BINS = ("much shorter", "shorter", "about equal", "longer", "much longer")
LEAST_ITEMS = 5
_SCORES = (1.0, 0.0, 0.5)
"""The scores of A by the place of the winner."""


def length_bias(comparisons: Verdicts) -> dict[str, Any] | None:
    """The bias over comparisons turned to A; None where no decided comparison records lengths."""
    import numpy as np

    decided = comparisons.take_decided()
    known = decided.take((decided.length_a != NONE) & (decided.length_b != NONE))
    if not len(known.item):
        return None
    pairs = zip(known.length_a.tolist(), known.length_b.tolist(), strict=True)
    bins = np.array([bin_of(a, b) for a, b in pairs])
    rows = [
        {"a_is": name, **{key: each[key] for key in ("items", "wins", "losses", "draws", "rate", "exact95")}}
        for name, each in zip(BINS, rates([known.take(bins == place) for place in range(len(BINS))], None), strict=True)
    ]
    return {"n": int(known.times.sum()), "bins": rows, "controlled": _control(known), "model": MODEL}


def bin_of(a: float, b: float) -> int:
    """Return the place in BINS of two lengths."""
    if a == b:
        return 2
    if a == 0 or b == 0:
        return 0 if a == 0 else 4
    ratio = log2(a / b)
    return sum(ratio >= bound if bound > 0 else ratio > bound for bound in _BOUNDS)


def _control(known: Verdicts) -> dict[str, Any]:
    import numpy as np

    each = known.take(np.repeat(np.arange(len(known.item)), known.times))
    gaps = each.length_a - each.length_b
    largest = float(np.abs(gaps).max())
    # Divided first: squares of very large lengths would be infinite.
    spread = largest * float((gaps / largest).std(ddof=1)) if len(gaps) > 1 and largest else 0.0
    items, clusters, often = np.unique(each.item, return_inverse=True, return_counts=True)
    document: dict[str, Any] = {"items": len(items), "rate": None, "ci95": None, "slope": None, "slope_ci95": None}
    if each.own.all():
        return {**document, "na": ALONE}
    if spread == 0:
        return {**document, "na": "all differences in length are equal"}
    if len(items) < LEAST_ITEMS:
        return {**document, "na": f"fewer than {LEAST_ITEMS} items"}
    design = np.array([[1.0, tanh(gap / spread)] for gap in gaps.tolist()])
    fitted = fit(design, np.array(_SCORES)[each.winner], clusters, 1 / often[clusters])
    if fitted is None:
        return {**document, "na": "the length alone separates wins from losses, or all outcomes are equal"}
    # Few items leave residuals that are too small: each coefficient costs one of them.
    freedom = fitted.clusters - len(fitted.coefficients)
    t = quantile(freedom) * sqrt((fitted.clusters - 1) / freedom)
    constant, slope = map(float, fitted.coefficients)
    halves = [t * sqrt(max(float(fitted.covariance[at, at]), 0.0)) for at in (0, 1)]
    return {
        "items": len(items),
        "rate": _number(sigmoid(constant)),
        "ci95": [_number(sigmoid(constant - halves[0])), _number(sigmoid(constant + halves[0]))],
        "slope": _number(slope),
        "slope_ci95": [_number(slope - halves[1]), _number(slope + halves[1])],
        "na": None,
    }


def sigmoid(value: float) -> float:
    """Return the probability of log-odds."""
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))


def _number(value: float) -> Any:
    return round_exact(Fraction(value))
