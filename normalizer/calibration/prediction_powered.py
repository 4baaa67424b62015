"""Prediction-powered estimates: the gold mean from few gold labels and many judgements.

The estimate is mean(gold) + w * (mean of the judge on unlabelled items - mean of the judge on labelled ones), with the
weight w that makes the variance least (Angelopoulos, Duchi and Zrnic, PPI++, 2023), kept between 0 and 1. The judge may
be biased: its bias is measured on the labelled items and taken out. The interval is Student's t with n - 1 degrees of
freedom. Labelled items must be a random sample of all items; this cannot be checked afterwards.
"""

from collections import Counter
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import t_interval
from normalizer.documents.exact import rounded
from normalizer.statistics.spread import ends, mean_of, variance_of

LEAST_LABELS = 20
"""Fewer labels give an interval that covers too seldom: the weight is estimated from them too."""
LEAST_RARE = 5
"""So many labels must differ from the most frequent one. With 20 labels of a value that 5 % have, the interval held the
truth in 60 % of simulated studies."""


def estimate(labelled: list[tuple[Fraction, Fraction]], unlabelled: list[Fraction]) -> dict[str, Any]:
    """The estimate from (judge, gold) of labelled items and the judge's values of unlabelled ones."""
    n, more = len(labelled), len(unlabelled)
    document: dict[str, Any] = {"n_gold": n, "n_judged": more, "gold_only": None, "gold_only_ci95": None}
    document |= {"judge_only": None, "estimate": None, "ci95": None, "weight": None, "na": None}
    if n < 2:
        return {**document, "na": "fewer than two items have gold"}
    judge, gold = [one for one, _ in labelled], [other for _, other in labelled]
    spread_of_gold = variance_of(gold)
    alone = ends(t_interval(mean_of(gold), spread_of_gold / n, n - 1)) if spread_of_gold else None
    document |= {"gold_only": rounded(mean_of(gold)), "gold_only_ci95": alone}
    document["judge_only"] = rounded(mean_of([*judge, *unlabelled]))
    if n < LEAST_LABELS or more < 2:
        why = f"fewer than {LEAST_LABELS} items have gold" if n < LEAST_LABELS else "no two items are without gold"
        return {**document, "na": why}
    spread = variance_of([*judge, *unlabelled])
    means = mean_of(judge), mean_of(gold)
    covariance = sum(((x - means[0]) * (y - means[1]) for x, y in labelled), Fraction(0)) / (n - 1)
    weight = covariance / ((1 + Fraction(n, more)) * spread) if spread else Fraction(0)
    weight = min(max(weight, Fraction(0)), Fraction(1))
    value = mean_of(gold) + weight * (mean_of(unlabelled) - mean_of(judge))
    residual = variance_of([y - weight * x for x, y in labelled])
    error = residual / n + weight**2 * variance_of(unlabelled) / more
    document |= {"estimate": rounded(value), "weight": rounded(weight)}
    rare = n - max(Counter(gold).values())
    if rare < LEAST_RARE:
        why = f"all gold labels but {rare} are equal: fewer than {LEAST_RARE} others say too little about the spread"
        return {**document, "gold_only_ci95": None, "na": why}
    return {**document, "ci95": ends(t_interval(value, error, n - 1))}
