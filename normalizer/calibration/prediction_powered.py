"""Prediction-powered estimates: the gold mean from few gold labels and many judgements.

The estimate is mean(gold) + w * (mean of the judge on unlabelled items - mean of the judge on labelled ones), with the
weight w that makes the variance least (Angelopoulos, Duchi and Zrnic, PPI++, 2023), kept between 0 and 1. The judge may
be biased: its bias is measured on the labelled items and taken out. Labelled items must be a random sample of all
items; this cannot be checked afterwards.

With up to seven different values the interval is that of the gold mean at each value of the judge, weighted by how
often the judge gives it, in the posterior distribution of these shares: for each end one more label is put at that end
of the scale, so that what no label shows may still occur. With more values it is Student's t with n - 1 degrees of
freedom. Answers about one artifact go together: the counts are divided by the design effect.
"""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import quantile, t_interval
from normalizer.calibration.labels import PairsByItem
from normalizer.documents.exact import rounded
from normalizer.estimation.clusters import gather, robust_variance
from normalizer.estimation.gamma_draws import draw_gammas, find_ends
from normalizer.statistics.agreement_intervals import MOST_LEVELS
from normalizer.statistics.spread import ends, mean_of, variance_of

LEAST_LABELS = 20
"""Fewer labels give an interval that covers too seldom: the weight is estimated from them too."""
LEAST_RARE = 5
"""So many labels must differ from the most frequent one. With 20 labels of a value that 5 % have, the interval held the
truth in 60 % of simulated studies."""


def estimate(labels: PairsByItem, unlabelled: list[Fraction]) -> dict[str, Any]:
    """Return the estimate from (judge, gold) of labelled items and the judge's values of unlabelled ones."""
    labelled = list(labels.values())
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
    if max(len(set(gold)), len({*judge, *unlabelled})) <= MOST_LEVELS:
        return {**document, "ci95": _by_level(labels, unlabelled, value, weight)}
    rare = n - max(Counter(gold).values())
    if rare < LEAST_RARE:
        why = f"all gold labels but {rare} are equal: fewer than {LEAST_RARE} others say too little about the spread"
        return {**document, "gold_only_ci95": None, "na": why}
    return {**document, "ci95": ends(t_interval(value, error, n - 1))}


def _by_level(labels: PairsByItem, unlabelled: list[Fraction], value: Fraction, weight: Fraction) -> list[Decimal]:
    """Return the interval from the shares of gold values at each value of the judge."""
    import numpy as np

    worth = _worth(labels, weight)
    counts = Counter(labels.values())
    golds = sorted({gold for _, gold in counts} | set(unlabelled) | {judge for judge, _ in counts})
    judges = sorted({judge for judge, _ in counts} | set(unlabelled))
    given = Counter([*unlabelled, *(judge for judge, _ in labels.values())])
    often = np.array([float(given[judge]) for judge in judges])
    shares = draw_gammas((often * worth + 0.5).tolist())
    shares /= shares.sum(axis=1, keepdims=True)
    table = np.array([[float(counts[judge, gold]) * worth for gold in golds] for judge in judges])
    found = []
    for end in (0, -1):
        prior = np.full(table.shape, 0.5 / table.size)
        prior[:, end] += often / often.sum()
        drawn = draw_gammas((table + prior).ravel().tolist()).reshape(-1, *table.shape)
        means = drawn @ np.array([float(gold) for gold in golds]) / drawn.sum(axis=2)
        found.append(find_ends((shares * means).sum(axis=1))[end])
    return [rounded(min(Fraction(found[0]), value)), rounded(max(Fraction(found[1]), value))]


def _worth(labels: PairsByItem, weight: Fraction) -> float:
    """Return how many independent labels a label is worth, given how those about one artifact go together."""
    rest = [gold - weight * judge for judge, gold in labels.values()]
    clusters = gather(rest, [artifact for artifact, _ in labels])
    if clusters.clusters == clusters.values or clusters.clusters < 2:
        return 1.0
    square, freedom = robust_variance(clusters)
    alone = variance_of(rest) / len(rest)
    ratio = float(alone / square) if square else clusters.clusters / clusters.values
    return min(ratio, 1.0) * (1.959963984540054 / quantile(freedom)) ** 2
