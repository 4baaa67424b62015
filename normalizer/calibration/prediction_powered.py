"""Prediction-powered estimates: the gold mean from few gold labels and many judgements.

The estimate is mean(gold) + w * (mean of the judge on unlabelled items - mean of the judge on labelled ones), with the
weight w that makes the variance least (Angelopoulos, Duchi and Zrnic, PPI++, 2023), kept between 0 and 1. The judge may
be biased: its bias is measured on the labelled items and taken out. Labelled items must be a random sample of all
items; this cannot be checked afterwards.

With up to seven different values the interval is that of the gold mean at each value of the judge, weighted by how
often the judge gives it, in the posterior distribution of these shares: for each end one more label is put at that end
of the scale, so that what no label shows may still occur. Answers about one artifact go together: the counts are
divided by the design effect. With more values it is that of the mean of gold - w * judge on labelled items under random
weights, with one more item a little beyond the farthest one seen, widened by the error of the judge's mean on the
others, which is robust to answers about one artifact; the two errors add up where both are about the same artifacts.
Where nearly all labels are equal, that item lies at the end of the scale.
The interval of gold alone is that of a mean on a scale.
"""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import quantile
from normalizer.calibration.labels import Item, PairsByItem
from normalizer.documents.exact import root, round_exact
from normalizer.estimation.clusters import gather, robust_variance
from normalizer.estimation.gamma_draws import draw_gammas, find_ends
from normalizer.estimation.intervals import Interval, mean_interval
from normalizer.statistics.agreement_intervals import MOST_LEVELS
from normalizer.statistics.spread import ends, mean_of, variance_of

_NORMAL = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
LEAST_LABELS = 5
"""Fewer labels say too little: the weight is estimated from them too."""
LEAST_RARE = 5
"""With fewer labels that differ from the most frequent one, what no label shows may lie at the end of the scale. Else
the interval of 20 labels of a value that 80 % have held the truth in 79 % of simulated studies."""
_FARTHER = 3
"""How far beyond the farthest label the one more lies: so many times the way to the end, divided by the labels. With 1
the interval of 20 to 30 labels near the end of the scale held the truth in 93 %."""


def estimate(labels: PairsByItem, judged: dict[Item, Fraction], scale: Interval) -> dict[str, Any]:
    """Return the estimate from (judge, gold) of labelled items and the judge's values of unlabelled ones."""
    labelled, unlabelled = list(labels.values()), list(judged.values())
    n, more = len(labelled), len(unlabelled)
    document: dict[str, Any] = {"n_gold": n, "n_judged": more, "gold_only": None, "gold_only_ci95": None}
    document |= {"judge_only": None, "estimate": None, "ci95": None, "weight": None, "na": None}
    if n < 2:
        return {**document, "na": "fewer than two items have gold"}
    judge, gold = [one for one, _ in labelled], [other for _, other in labelled]
    by_artifact = gather(gold, [artifact for artifact, _ in labels])
    alone = mean_interval(by_artifact, scale) if by_artifact.clusters > 1 and scale[0] < scale[1] else None
    document |= {"gold_only": round_exact(mean_of(gold)), "gold_only_ci95": None if alone is None else ends(alone)}
    document["judge_only"] = round_exact(mean_of([*judge, *unlabelled]))
    if n < LEAST_LABELS or more < 2:
        why = f"fewer than {LEAST_LABELS} items have gold" if n < LEAST_LABELS else "no two items are without gold"
        return {**document, "na": why}
    spread = variance_of([*judge, *unlabelled])
    means = mean_of(judge), mean_of(gold)
    covariance = sum(((x - means[0]) * (y - means[1]) for x, y in labelled), Fraction(0)) / (n - 1)
    weight = covariance / ((1 + Fraction(n, more)) * spread) if spread else Fraction(0)
    weight = min(max(weight, Fraction(0)), Fraction(1))
    value = mean_of(gold) + weight * (mean_of(unlabelled) - mean_of(judge))
    document |= {"estimate": round_exact(value), "weight": round_exact(weight)}
    if scale[0] == scale[1]:
        return {**document, "na": "the scale has only one value"}
    if max(len(set(gold)), len({*judge, *unlabelled})) <= MOST_LEVELS:
        return {**document, "ci95": _by_level(labels, judged, (value, weight), scale)}
    for which, given in (("with", labels), ("without", judged)):
        if len({artifact for artifact, _ in given}) < 2:
            return {**document, "na": f"all items {which} gold are about one artifact, which says nothing about others"}
    return {**document, "ci95": ends(_by_item(labels, judged, value, weight, scale))}


def _by_item(
    labels: PairsByItem, judged: dict[Item, Fraction], value: Fraction, weight: Fraction, scale: Interval
) -> Interval:
    """Return the interval from the differences of gold and the weighted judge on labelled items."""
    rest = gather([gold - weight * judge for judge, gold in labels.values()], [artifact for artifact, _ in labels])
    means = [total / size for total, size in rest.counts]
    reach = weight * scale[1] - scale[0], scale[1] - weight * scale[0]
    least, most = min(means), max(means)
    golds = Counter(gold for _, gold in labels.values())
    says_little = golds.total() - max(golds.values()) < LEAST_RARE
    step = Fraction(1) if says_little else min(Fraction(_FARTHER, rest.clusters + 1), Fraction(1))
    edges = least - step * (least + reach[0]), most + step * (reach[1] - most)
    low, high = mean_interval(rest, edges)
    square, freedom = robust_variance(gather(judged.values(), [artifact for artifact, _ in judged]))
    more = weight * Fraction(quantile(freedom)) * root(square)
    together = bool({artifact for artifact, _ in labels} & {artifact for artifact, _ in judged})
    below, above = (
        side + more if together else root(side**2 + more**2) for side in (rest.mean - low, high - rest.mean)
    )
    return max(value - below, scale[0]), min(value + above, scale[1])


def _by_level(
    labels: PairsByItem, judged: dict[Item, Fraction], estimated: tuple[Fraction, Fraction], scale: Interval
) -> list[Decimal]:
    """Return the interval from the shares of gold values at each value of the judge, given the estimate and weight."""
    import numpy as np

    value, weight = estimated
    unlabelled = list(judged.values())
    rest = [gold - weight * judge for judge, gold in labels.values()]
    worth = find_worth(rest, [artifact for artifact, _ in labels])
    counts = Counter(labels.values())
    golds = sorted({gold for _, gold in counts} | set(unlabelled) | {judge for judge, _ in counts} | {*scale})
    judges = sorted({judge for judge, _ in counts} | set(unlabelled))
    every = [*unlabelled, *(judge for judge, _ in labels.values())]
    given = Counter(every)
    often = np.array([float(given[judge]) for judge in judges])
    shares = draw_gammas((often * find_worth(every, [artifact for artifact, _ in (*judged, *labels)]) + 0.5).tolist())
    shares /= shares.sum(axis=1, keepdims=True)
    table = np.array([[float(counts[judge, gold]) * worth for gold in golds] for judge in judges])
    found = []
    for end in (0, -1):
        prior = np.full(table.shape, 0.5 / table.size)
        prior[:, end] += often / often.sum()
        drawn = draw_gammas((table + prior).ravel().tolist()).reshape(-1, *table.shape)
        means = drawn @ np.array([float(gold) for gold in golds]) / drawn.sum(axis=2)
        found.append(find_ends((shares * means).sum(axis=1))[end])
    return [round_exact(min(Fraction(found[0]), value)), round_exact(max(Fraction(found[1]), value))]


def find_worth(values: list[Fraction], artifacts: list[str]) -> float:
    """Return how many independent values a value is worth, given how those about one artifact go together."""
    clusters = gather(values, artifacts)
    if clusters.clusters == clusters.values:
        return 1.0
    if clusters.clusters < 2:  # nothing tells of the spread between artifacts: the only one counts once
        return 1 / clusters.values
    square, freedom = robust_variance(clusters)
    alone = variance_of(values) / len(values)
    ratio = float(alone / square) if square else clusters.clusters / clusters.values
    return min(ratio, 1.0) * (_NORMAL / quantile(freedom)) ** 2
