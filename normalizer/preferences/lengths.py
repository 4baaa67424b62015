"""Length bias: how the rate of A depends on the difference in length, and the rate at equal lengths.

Model of the length-controlled rate: logit P(A wins) = c + s * tanh(d / sd), d being A's length minus B's and sd its
standard deviation over the comparisons; the rate is that at d = 0, 1 / (1 + exp(-c)). Every item has the same weight,
however often it was judged. Intervals are cluster-robust by item.
"""

from collections import Counter
from fractions import Fraction
from math import exp, log2, sqrt, tanh
from typing import Any

from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.intervals import quantile
from normalizer.documents.exact import rounded
from normalizer.preferences.comparisons import DECIDED, Comparison
from normalizer.preferences.logistic import fit
from normalizer.preferences.rates import rate

MODEL = "logit P(A wins) = c + s * tanh((length A - length B) / sd); the rate is 1 / (1 + exp(-c))"
_BOUNDS = (-0.5, -0.1, 0.1, 0.5)
"""Bounds of the bins, as log2(length A / length B)."""
BINS = ("much shorter", "shorter", "about equal", "longer", "much longer")
LEAST_ITEMS = 10


def length_bias(comparisons: list[Comparison]) -> dict[str, Any] | None:
    """The bias over comparisons turned to A; None where no decided comparison records lengths."""
    known = [one for one in comparisons if one.lengths is not None and one.winner in DECIDED]
    if not known:
        return None
    bins: dict[str, list[Comparison]] = {name: [] for name in BINS}
    for comparison in known:
        bins[BINS[bin_of(*(comparison.lengths or (0, 0)))]].append(comparison)
    rows = []
    for name, members in bins.items():
        told = rate(members, None)
        rows.append(
            {"a_is": name, **{key: told[key] for key in ("items", "wins", "losses", "draws", "rate", "wilson95")}}
        )
    return {"n": len(known), "bins": rows, "controlled": _control(known), "model": MODEL}


def bin_of(a: float, b: float) -> int:
    """Return the place in BINS of two lengths."""
    if a == b:
        return 2
    if a == 0 or b == 0:
        return 0 if a == 0 else 4
    ratio = log2(a / b)
    return sum(ratio >= bound if bound > 0 else ratio > bound for bound in _BOUNDS)


def _control(known: list[Comparison]) -> dict[str, Any]:
    import numpy as np

    gaps = np.array([one.lengths[0] - one.lengths[1] for one in known if one.lengths is not None])
    largest = float(np.abs(gaps).max())
    # Divided first: squares of very large lengths would be infinite.
    spread = largest * float((gaps / largest).std(ddof=1)) if len(gaps) > 1 and largest else 0.0
    items = {item: number for number, item in enumerate(sorted({one.item for one in known}))}
    document: dict[str, Any] = {"items": len(items), "rate": None, "ci95": None, "slope": None, "slope_ci95": None}
    if all(one.self_judged for one in known):
        return {**document, "na": ALONE}
    if spread == 0:
        return {**document, "na": "all differences in length are equal"}
    if len(items) < LEAST_ITEMS:
        return {**document, "na": f"fewer than {LEAST_ITEMS} items"}
    design = np.array([[1.0, tanh(gap / spread)] for gap in gaps.tolist()])
    outcomes = np.array([float(one.score) for one in known])
    often = Counter(one.item for one in known)
    weights = np.array([1 / often[one.item] for one in known])
    fitted = fit(design, outcomes, np.array([items[one.item] for one in known]), weights)
    if fitted is None:
        return {**document, "na": "the length alone separates wins from losses, or all outcomes are equal"}
    t = quantile(fitted.clusters - 1)
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
    return rounded(Fraction(value))
