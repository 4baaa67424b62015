"""The verdict on paired differences, candidate minus base.

The differences' mean gets a two-sided interval at 1 - alpha, by Student's t. `better`: the interval lies above 0.
`no_worse`: it lies above minus the margin, or every pair is equal. `worse`: it lies below 0, and not within the margin.
`undecided`: anything else, and whenever there are too few pairs.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from normalizer.documents.exact import root, rounded
from normalizer.statistics.signflip import sign_flip
from normalizer.statistics.spread import ends, mean_of, variance_of

LEAST_PAIRS = 10
"""With fewer pairs the interval of scores on a short scale cannot be trusted."""


def decide(differences: Sequence[Fraction], margin: Fraction, alpha: float, seed: int = 0) -> dict[str, Any]:
    """The verdict, the mean difference with its interval, and the sign-flip test."""
    n = len(differences)
    found: dict[str, Any] = {"n": n, "difference": None, "interval": None, "p": None, "verdict": "undecided", "why": ""}
    if n < LEAST_PAIRS:
        found["difference"] = rounded(mean_of(differences)) if n else None
        return {**found, "why": f"{n} pairs: at least {LEAST_PAIRS} are needed"}
    mean, variance = mean_of(differences), variance_of(differences)
    half = Fraction(quantile(n - 1, alpha)) * root(variance / n)
    low, high = mean - half, mean + half
    found |= {
        "difference": rounded(mean),
        "interval": ends((low, high)),
        "p": rounded(sign_flip(list(differences), seed).p),
    }
    if low > 0:
        return {**found, "verdict": "better", "why": "the interval lies above 0"}
    if variance == 0 and mean == 0:
        return {**found, "verdict": "no_worse", "why": "every pair is equal"}
    if margin > 0 and low >= -margin:
        return {
            **found,
            "verdict": "no_worse",
            "why": f"the interval lies above minus the margin of {rounded(margin):f}",
        }
    if high < 0:
        return {**found, "verdict": "worse", "why": "the interval lies below 0"}
    return {**found, "why": "the interval includes both 0 and differences that matter: more pairs are needed"}


def quantile(freedom: int, alpha: float) -> float:
    """The point of Student's t that leaves alpha / 2 above it."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - alpha / 2))
