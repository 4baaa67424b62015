"""The verdict on paired differences, candidate minus base.

One test gives p and the interval of the mean difference (`estimation.paired_test`), and the verdict is read off the
interval. `better` and `worse`: it lies on one side of 0, which is so exactly where p is at most alpha. `no_worse`: it
lies above minus the margin. `equivalent`: it lies below the margin, too. `undecided`: anything else.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from typing import Any, NamedTuple

from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import Clusters, robust_variance
from normalizer.estimation.intervals import Interval
from normalizer.estimation.paired_test import ASSUMPTIONS, SCALE, SPREAD, examine_differences
from normalizer.estimation.pairs_needed import Aim, clusters_to_show, detectable_gain, like
from normalizer.noise.sample_size import items_needed
from normalizer.statistics.spread import ends

PASSES = ("better", "no_worse", "equivalent")
POWER = 0.8


class Terms(NamedTuple):
    """The terms of a verdict besides the differences."""

    reach: Fraction
    """The greatest possible difference."""
    margin: Fraction
    alpha: float
    assume: str = SCALE
    """The assumption that the test may make, of `ASSUMPTIONS`."""
    always_valid: bool = False
    """Whether the verdict holds however often one looks while pairs are added."""


class Decision(NamedTuple):
    """A verdict, the reason in words, and the numbers that it rests on."""

    verdict: str
    why: str
    interval: Interval
    p: Fraction
    assumes: str

    @property
    def passes(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict in PASSES


def decide(differences: Clusters, terms: Terms) -> Decision:
    """Return the verdict on clusters of differences, positive where the candidate is better."""
    if not differences.counts:
        return Decision("undecided", "there is no pair", (-terms.reach, terms.reach), Fraction(1), SCALE)
    interval, p, assumes = examine_differences(
        differences, terms.reach, terms.assume, terms.alpha, always_valid=terms.always_valid
    )
    verdict, why = _judge(interval, p, terms)
    often = ", and one may look as often as one likes while pairs are added" if terms.always_valid else ""
    return Decision(verdict, f"{why}; {ASSUMPTIONS[assumes]}{often}", interval, p, assumes)


def _judge(interval: Interval, p: Fraction, terms: Terms) -> tuple[str, str]:
    low, high = interval
    margin = terms.margin
    if p <= terms.alpha and low >= 0:
        return "better", f"p is at most {terms.alpha:g}, and the candidate is better"
    if margin > 0 and low >= -margin:
        told = f"the margin of {round_exact(margin):f}"
        if high <= margin:
            return "equivalent", f"the interval lies within {told} on both sides"
        return "no_worse", f"the interval lies above minus {told}"
    if p <= terms.alpha:
        return "worse", f"p is at most {terms.alpha:g}, and the candidate is worse"
    if margin:
        return "undecided", f"a loss of {round_exact(-low, 4):f} is not excluded, which is beyond the margin"
    shown = f"neither a gain nor a loss is shown, and a loss of {round_exact(-low, 4):f} is not excluded"
    return "undecided", f"{shown}: give a --margin"


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


def detectable(differences: Clusters, terms: Terms, assumes: str) -> Fraction | None:
    """Return the smallest true difference that a run like this shows with a power of 80 %; None without spread."""
    from scipy.special import stdtrit

    if differences.clusters < 2:
        return None
    if assumes == SCALE:
        gain = detectable_gain(
            like(differences, always_valid=terms.always_valid), float(terms.reach), terms.alpha, POWER
        )
        return Fraction(gain) if gain <= terms.reach else None
    variance, freedom = robust_variance(differences)
    return Fraction(float(stdtrit(freedom, 1 - terms.alpha / 2) + stdtrit(freedom, POWER)) * sqrt(variance))


def pairs_needed(differences: Clusters, terms: Terms, assumes: str) -> int | None:
    """Return how many pairs would let an unchanged system pass with a probability of 80 %; None without a margin."""
    if not differences.counts or not terms.margin:
        return None
    known = like(differences, always_valid=terms.always_valid)
    if assumes == SPREAD:
        deviation = known.error * sqrt(known.clusters)
        items: int | None = items_needed(float(terms.margin), deviation, POWER, terms.alpha)
    else:
        items = clusters_to_show(known, Aim(0.0, -float(terms.margin)), float(terms.reach), terms.alpha, POWER)
    return None if items is None else round(items * known.size)


def numbers(differences: Clusters, decision: Decision) -> dict[str, Any]:
    """Return the members of a result that say what was found."""
    return {
        "n": differences.values,
        "items": differences.clusters,
        "difference": round_exact(differences.mean) if differences.counts else None,
        "interval": ends(decision.interval) if differences.counts else None,
        "p": round_exact(decision.p) if differences.counts else None,
        "assumes": decision.assumes,
        "verdict": decision.verdict,
        "why": decision.why,
    }
