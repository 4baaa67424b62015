"""The verdict on paired differences, candidate minus base.

One test decides whether there is a difference: signs of the differences are flipped, item by item, and p is its
two-sided p-value. `better` and `worse`: p is at most alpha. The interval of the mean difference, which holds 0 exactly
where p is above alpha, decides about the margin. `no_worse`: it lies above minus the margin. `equivalent`: it lies
below the margin, too. `undecided`: anything else.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import ceil, log2, sqrt
from typing import Any, NamedTuple

from normalizer.documents.exact import rounded
from normalizer.estimation.clusters import Clusters, robust_variance
from normalizer.estimation.intervals import Interval, difference_interval
from normalizer.statistics.signflip import sign_flip
from normalizer.statistics.spread import ends

PASSES = ("better", "no_worse", "equivalent")
POWER = 0.8
RESAMPLES = 20_000
"""Sign patterns that are drawn where not all can be counted."""


class Terms(NamedTuple):
    """The terms of a verdict besides the differences."""

    reach: Fraction
    """The greatest possible difference."""
    margin: Fraction
    alpha: float


class Decision(NamedTuple):
    """A verdict, the reason in words, and the numbers that it rests on."""

    verdict: str
    why: str
    interval: Interval
    p: Fraction

    @property
    def passes(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict in PASSES


def decide(differences: Clusters, terms: Terms) -> Decision:
    """Return the verdict on clusters of differences, positive where the candidate is better."""
    if not differences.counts:
        return Decision("undecided", "there is no pair", (-terms.reach, terms.reach), Fraction(1))
    p = sign_flip(differences.sums(), 0, RESAMPLES).p
    interval = difference_interval(differences, terms.reach, p, terms.alpha)
    low, high = interval
    margin = terms.margin
    if p <= terms.alpha and differences.mean > 0:
        return Decision("better", f"p is at most {terms.alpha:g}, and the candidate is better", interval, p)
    if margin > 0 and low >= -margin:
        told = f"the margin of {rounded(margin):f}"
        if high <= margin:
            return Decision("equivalent", f"the interval lies within {told} on both sides", interval, p)
        return Decision("no_worse", f"the interval lies above minus {told}", interval, p)
    if p <= terms.alpha:
        return Decision("worse", f"p is at most {terms.alpha:g}, and the candidate is worse", interval, p)
    return Decision("undecided", _reason(differences, terms, low), interval, p)


def _reason(differences: Clusters, terms: Terms, low: Fraction) -> str:
    least = 1 + ceil(-log2(terms.alpha))
    if differences.clusters < least and not terms.margin:
        return f"{differences.clusters} items can give no p of {terms.alpha:g} or less: {least} are needed"
    if terms.margin:
        return f"a loss of {rounded(-low, 4):f} is not excluded, which is beyond the margin: more pairs are needed"
    return f"neither a gain nor a loss is shown, and a loss of {rounded(-low, 4):f} is not excluded: give a --margin"


def tipping_point(differences: Clusters, terms: Terms) -> int:
    """Return how many more pairs, each at the worst end, would undo a pass; 0 if the verdict is none.

    A pass stays one with fewer. The worst pair is one in which the candidate loses as much as the scale allows.
    """
    if not decide(differences, terms).passes:
        return 0
    low, high = 0, 1
    while decide(with_worst(differences, {-terms.reach: high}), terms).passes:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if decide(with_worst(differences, {-terms.reach: middle}), terms).passes:
            low = middle
        else:
            high = middle
    return high


def with_worst(differences: Clusters, added: Mapping[Fraction, int]) -> Clusters:
    """Return the differences with more pairs, each an item of its own, given how many there are of each difference."""
    return Clusters(differences.counts + Counter({(gap, 1): count for gap, count in added.items()}))


def detectable(differences: Clusters, alpha: float) -> Fraction | None:
    """Return the smallest true difference that a run like this shows with a power of 80 %; None without spread."""
    from scipy.special import stdtrit

    if differences.clusters < 2:
        return None
    variance, freedom = robust_variance(differences)
    if not variance:
        return None
    return Fraction(float(stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, POWER)) * sqrt(variance))


def numbers(differences: Clusters, decision: Decision) -> dict[str, Any]:
    """Return the members of a result that say what was found."""
    return {
        "n": differences.values,
        "items": differences.clusters,
        "difference": rounded(differences.mean) if differences.counts else None,
        "interval": ends(decision.interval) if differences.counts else None,
        "p": rounded(decision.p) if differences.counts else None,
        "verdict": decision.verdict,
        "why": decision.why,
    }
