"""Intervals by known methods, written apart from the product's, for the same simulated data.

Student's t on the means of items, Wilson's (1927) and Clopper and Pearson's (1934) for shares, the percentile and the
bias-corrected and accelerated (BCa) bootstrap of items (Efron 1987), Fisher's z of correlations, the F interval of an
intraclass correlation (Shrout and Fleiss 1979), the normal interval of prediction-powered means (Angelopoulos and
others 2023), and the betting interval of Waudby-Smith and Ramdas (2024).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import atanh, sqrt, tanh
from typing import Any

import numpy as np
from scipy import stats

from normalizer.estimation.clusters import Clusters
from normalizer.statistics.cell_table import CellTable
from tools.interval_coverage import Ends

Array = np.ndarray[Any, np.dtype[np.float64]]
_RESAMPLES = 300
_LEVEL = 0.05


def means_of(clusters: Clusters) -> list[float]:
    """Return the mean of each item, sorted."""
    return sorted(float(total / size) for (total, size), count in clusters.counts.items() for _ in range(count))


def student(values: Sequence[float]) -> Ends | None:
    """Return Student's t interval of a mean; None without spread."""
    error = float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    if not error:
        return None
    middle, half = float(np.mean(values)), float(stats.t.ppf(0.975, len(values) - 1)) * error
    return middle - half, middle + half


def wilson(share: float, n: float) -> Ends:
    """Return Wilson's interval of a share of n trials."""
    z = float(stats.norm.ppf(0.975))
    middle, scale = share + z * z / (2 * n), 1 + z * z / n
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / scale, (middle + half) / scale


def clopper_pearson(share: float, n: int) -> Ends:
    """Return Clopper and Pearson's interval of a share of n trials."""
    yes = share * n
    low = float(stats.beta.ppf(0.025, yes, n - yes + 1)) if yes > 0 else 0.0
    high = float(stats.beta.ppf(0.975, yes + 1, n - yes)) if yes < n else 1.0
    return low, high


def bootstrap(n: int, measure: Callable[[Array], Mapping[str, Array]]) -> dict[str, Ends | None]:
    """Return the BCa bootstrap intervals of measures of tables of weights: a row has the weight of each of n items.

    None where a measure is undefined in a resample, or has no spread.
    """
    rng = np.random.default_rng(n)
    resampled = measure(rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES).astype(float))
    whole, parts = measure(np.ones((1, n))), measure(1 - np.eye(n))
    return {name: _correct(np.sort(resampled[name]), float(whole[name][0]), parts[name]) for name in whole}


def _correct(drawn: Array, value: float, without: Array) -> Ends | None:
    if not np.isfinite([*drawn, value, *without]).all() or drawn[0] == drawn[-1]:
        return None
    below = (float((drawn < value).sum()) + float((drawn == value).sum()) / 2 + 0.5) / (len(drawn) + 1)
    lean = float(stats.norm.ppf(below))
    gaps = without.mean() - without
    square = float((gaps**2).sum())
    skew = float((gaps**3).sum()) / (6 * square**1.5) if square else 0.0
    ends = []
    for level in (0.025, 0.975):
        moved = lean + float(stats.norm.ppf(level))
        ends.append(float(np.quantile(drawn, stats.norm.cdf(lean + moved / (1 - skew * moved)))))
    return ends[0], ends[1]


def bootstrap_ratio(sums: Sequence[float], sizes: Sequence[float]) -> Ends | None:
    """Return the BCa bootstrap interval of the mean of all values, given the sum and the number of each item."""
    above, below = np.array(sums), np.array(sizes)
    return bootstrap(len(above), lambda weights: {"mean": np.asarray(weights @ above / (weights @ below))})["mean"]


def of_mean(clusters: Clusters, scale: Ends) -> dict[str, Ends | None]:
    """Return the intervals of a mean on a scale by known methods, the usual one first."""
    pairs = [(float(total), float(size)) for (total, size), count in clusters.counts.items() for _ in range(count)]
    values = means_of(clusters)
    found = {"Student's t": student(values), "BCa": bootstrap_ratio(*map(list, zip(*sorted(pairs), strict=True)))}
    return found | {"betting": bet_on(values, *scale)}


def of_agreement(pairs: Sequence[tuple[Fraction, Fraction]]) -> dict[str, dict[str, Ends | None]]:
    """Return for each measure of agreement the intervals by known methods, the usual one first."""
    cells = sorted(set(pairs))
    at = np.eye(len(cells))[[cells.index(pair) for pair in pairs]]
    table = CellTable(cells)
    found = {name: {"BCa": each} for name, each in bootstrap(len(pairs), lambda rows: table.measure(rows @ at)).items()}
    values = {name: float(each[0]) for name, each in table.measure(at.sum(axis=0)[None, :]).items()}
    for name in ("pearson", "spearman", "kendall"):
        found[name] = {"Fisher's z": fisher(values[name], len(pairs)), **found[name]}
    found["exact"] = {"Wilson": wilson(values["exact"], len(pairs)), **found["exact"]}
    for name, gaps in (("mae", [abs(x - y) for x, y in pairs]), ("bias", [x - y for x, y in pairs])):
        found[name] = {"Student's t": student([float(gap) for gap in gaps]), **found[name]}
    return found


def logistic(design: Array, outcomes: Array) -> tuple[Array, Array]:
    """Return coefficients and covariance of a logistic regression by maximum likelihood, independent rows assumed."""
    beta, covariance = np.zeros(design.shape[1]), np.eye(design.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-design @ beta))
        covariance = np.asarray(np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None])), dtype=float)
        beta = beta + covariance @ design.T @ (outcomes - chance)
    return beta, covariance


def wald(value: float, square: float) -> Ends:
    """Return the normal interval of an estimate with this squared error."""
    half = float(stats.norm.ppf(0.975)) * sqrt(square)
    return value - half, value + half


def stratified(groups: Mapping[str, Sequence[float]], weights: Mapping[str, float]) -> Ends | None:
    """Return the normal interval of a weighted mean of the means of groups."""
    whole = sum(weights.values())
    value = sum(weights[name] / whole * float(np.mean(each)) for name, each in groups.items())
    square = sum(
        (weights[name] / whole) ** 2 * float(np.var(each, ddof=1)) / len(each) for name, each in groups.items()
    )
    return wald(value, square) if square else None


def fisher(value: float, n: int) -> Ends | None:
    """Return the interval of a correlation of n pairs by Fisher's z."""
    if n < 4 or not abs(value) < 1:
        return None
    half = float(stats.norm.ppf(0.975)) / sqrt(n - 3)
    return tanh(atanh(value) - half), tanh(atanh(value) + half)


def shrout_fleiss(table: Sequence[Sequence[Fraction]]) -> Ends | None:
    """Return the interval of the noise share, 1 - ICC(1), of items with equally many labels, by the F distribution."""
    values = [[float(label) for label in row] for row in table]
    repeats = len(values[0])
    if repeats < 2 or any(len(row) != repeats for row in values):
        return None
    above, freedom = repeats * float(np.var(np.mean(values, axis=1), ddof=1)), len(values) * (repeats - 1)
    within = float(np.mean(np.var(values, axis=1, ddof=1)))
    if not within or not above:
        return None
    ratio = above / within
    low = ratio / float(stats.f.ppf(0.975, len(values) - 1, freedom))
    high = ratio * float(stats.f.ppf(0.975, freedom, len(values) - 1))
    ends = [1 - (each - 1) / (each + repeats - 1) for each in (high, low)]
    return max(ends[0], 0.0), min(ends[1], 1.0)


def bootstrap_noise(table: Sequence[Sequence[Fraction]]) -> Ends | None:
    """Return the BCa bootstrap interval of the noise share, 1 - ICC(1), of the items with two labels or more."""
    rows = [np.array([float(label) for label in row]) for row in table if len(row) > 1]
    middles, sizes = np.array([row.mean() for row in rows]), np.array([float(len(row)) for row in rows])
    squares = np.array([((row - row.mean()) ** 2).sum() for row in rows])

    def measure(weights: Array) -> dict[str, Array]:
        within = weights @ squares / (weights @ (sizes - 1))
        counts, grand = weights @ sizes, weights @ (sizes * middles) / (weights @ sizes)
        items = weights.sum(axis=1)
        apart = (weights * sizes * (middles - grand[:, None]) ** 2).sum(axis=1) / (items - 1)
        each = (counts - weights @ sizes**2 / counts) / (items - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"noise": np.asarray(within / (within + np.maximum((apart - within) / each, 0)))}

    return bootstrap(len(rows), measure)["noise"]


def corrected(labelled: Sequence[tuple[Fraction, Fraction]], unlabelled: Sequence[Fraction]) -> Ends | None:
    """Return Rogan and Gladen's interval of a corrected pass rate by the delta method; None where it has none."""
    sides = [[float(judge) for judge, gold in labelled if gold == value] for value in (1, 0)]
    if not all(sides):
        return None
    rate = float(np.mean([float(value) for value in unlabelled]))
    sensitivity, wrong = (float(np.mean(each)) for each in sides)
    gain = sensitivity - wrong
    if gain <= 0:
        return None
    value = (rate - wrong) / gain
    parts = ((1, rate, len(unlabelled)), (value, sensitivity, len(sides[0])), (1 - value, wrong, len(sides[1])))
    half = float(stats.norm.ppf(0.975)) * sqrt(sum(w * w * p * (1 - p) / n for w, p, n in parts)) / gain
    return max(value - half, 0.0), min(value + half, 1.0)


def powered(labelled: Sequence[tuple[Fraction, Fraction]], unlabelled: Sequence[Fraction]) -> Ends | None:
    """Return the normal interval of the prediction-powered mean of (judge, gold) and judgements without gold."""
    judge, gold = (np.array([float(pair[side]) for pair in labelled]) for side in (0, 1))
    more = np.array([float(value) for value in unlabelled])
    spread = float(np.var([*judge, *more], ddof=1))
    weight = float(np.cov(judge, gold)[0, 1]) / ((1 + len(gold) / len(more)) * spread) if spread else 0.0
    weight = min(max(weight, 0.0), 1.0)
    middle = float(np.mean(gold)) + weight * float(np.mean(more) - np.mean(judge))
    square = float(np.var(gold - weight * judge, ddof=1)) / len(gold) + weight**2 * float(np.var(more)) / len(more)
    return wald(middle, square) if square else None


def bet_on(values: Sequence[float], low: float, high: float) -> Ends:
    """Return the betting interval of the mean of values on a scale, in an order that says nothing."""
    shuffled = np.random.default_rng(0).permutation([(value - low) / (high - low) for value in values]).tolist()
    ends = bet(shuffled)
    return low + (high - low) * ends[0], low + (high - low) * ends[1]


def hoeffding(values: Sequence[float]) -> Ends:
    """Return Hoeffding's interval of the mean of values from 0 to 1."""
    mean, half = sum(values) / len(values), math.sqrt(math.log(2 / _LEVEL) / (2 * len(values)))
    return mean - half, mean + half


def bernstein(values: Sequence[float]) -> Ends:
    """Return the empirical Bernstein interval, each side at half of the level."""
    n, mean = len(values), sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    far = math.log(4 / _LEVEL)
    half = math.sqrt(2 * variance * far / n) + 7 * far / (3 * (n - 1))
    return mean - half, mean + half


def bet(values: Sequence[float]) -> Ends:
    """Return the interval of the hedged capital: each side holds half of it."""
    total, squares = 0.5, 0.25
    stakes = []
    for place, value in enumerate(values, 1):
        stakes.append(math.sqrt(2 * math.log(2 / _LEVEL) * place / (squares * len(values))))
        total += value
        squares += (value - total / (place + 1)) ** 2

    def is_excluded(mean: float, sign: int) -> bool:
        limit = 0.75 / max(mean if sign > 0 else 1 - mean, 1e-12)
        grown = (
            math.log1p(sign * min(stake, limit) * (value - mean)) for stake, value in zip(stakes, values, strict=True)
        )
        capital = best = math.log(0.5)
        for step in grown:
            capital += step
            best = max(best, capital)
        return best >= math.log(1 / _LEVEL)

    ends = []
    for sign in (1, -1):
        inside, outside = sum(values) / len(values), 0.0 if sign > 0 else 1.0
        for _ in range(30):
            middle = (inside + outside) / 2
            if is_excluded(middle, sign):
                outside = middle
            else:
                inside = middle
        ends.append(outside)
    return ends[0], ends[1]
