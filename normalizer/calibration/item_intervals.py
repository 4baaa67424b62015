"""95 % intervals of agreement and correlation between a judge and gold; items are independent.

Accuracy has Wilson's interval and the bias Student's t. The mean absolute difference, which few items may decide, has
Student's t on the scale of its logarithm. Kappas, alpha and correlations have a standard error by the jackknife (each
item left out once), taken to the scale of Fisher's z = atanh(measure), where the interval is Student's t, and back.
`tools/coverage` measures how often these intervals hold the truth.
"""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import atanh, exp, sqrt, tanh
from typing import TYPE_CHECKING, Any

from normalizer.aggregate.intervals import quantile, wilson_interval
from normalizer.calibration.measures import Pairs
from normalizer.documents.exact import rounded
from normalizer.statistics.spread import ends, mean_of, spread, variance_of

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

JACKKNIFED = ("kappa", "kappa_quadratic", "alpha_ordinal", "pearson", "spearman", "kendall")
WITH_INTERVAL = ("exact", "mae", "bias", *JACKKNIFED)
LEAST_ITEMS = 10
"""Fewer items give no jackknife interval."""
_MOST_CELLS = 1000
"""With more distinct pairs of values Kendall's tau has no interval: it compares every cell with every other."""


def intervals(pairs: Pairs) -> dict[str, list[Decimal] | None]:
    """Return the interval of each measure.

    None where there is none: too few items, a difference that is always 0, a measure that is 1, -1 or undefined, or
    undefined without some item.
    """
    found: dict[str, list[Decimal] | None] = dict.fromkeys(WITH_INTERVAL)
    if len(pairs) < 2:
        return found
    gaps = [judge - gold for judge, gold in pairs]
    found["exact"] = ends(wilson_interval(Fraction(sum(gap == 0 for gap in gaps), len(gaps)), len(gaps)))
    found["bias"] = spread(gaps, "bias", "item")[0]["ci95"]
    found["mae"] = _logarithmic([abs(gap) for gap in gaps])
    return {**found, **_jackknifed(pairs)} if len(pairs) >= LEAST_ITEMS else found


def _logarithmic(values: list[Fraction]) -> list[Decimal] | None:
    """Return the interval of the mean of values that are 0 or above; None where all are 0."""
    mean, n = float(mean_of(values)), len(values)
    if mean == 0:
        return None
    factor = exp(min(quantile(n - 1) * sqrt(variance_of(values) / n) / mean, 50.0))
    return [rounded(Fraction(mean / factor)), rounded(Fraction(mean * factor))]


def _jackknifed(pairs: Pairs) -> dict[str, list[Decimal] | None]:
    import numpy as np

    counts = sorted(Counter(pairs).items())
    table = CellTable([cell for cell, _ in counts])
    weights = np.array([float(count) for _, count in counts])
    whole = table.measured(weights)
    # Items of one cell are alike: leaving out any of them gives one and the same value.
    without = [table.measured(weights - (np.arange(len(counts)) == at)) for at in range(len(counts))]
    return {
        name: _interval(whole[name], [each[name] for each in without], [count for _, count in counts])
        for name in JACKKNIFED
    }


def _interval(value: float, without: list[float], counts: list[int]) -> list[Decimal] | None:
    """Return the interval around a measure, given its value without one item of each cell."""
    defined = all(each == each for each in (value, *without))
    if not defined or abs(value) > 1 - 1e-12:
        return None
    n = sum(counts)
    mean = sum(each * count for each, count in zip(without, counts, strict=True)) / n
    square = sum((each - mean) ** 2 * count for each, count in zip(without, counts, strict=True)) * (n - 1) / n
    half = quantile(n - 1) * sqrt(square) / (1 - value**2)
    middle = atanh(value)
    return [rounded(Fraction(tanh(end))) for end in (middle - half, middle + half)]


class CellTable:
    """Measures of a table of counts over fixed cells (judge value, gold value), in floating point; NaN if undefined."""

    def __init__(self, cells: list[tuple[Fraction, Fraction]]) -> None:
        import numpy as np

        values = sorted({value for cell in cells for value in cell})
        rank = {value: number for number, value in enumerate(values)}
        self.levels = len(values)
        self.x = np.array([float(one) for one, _ in cells])
        self.y = np.array([float(other) for _, other in cells])
        self.i = np.array([rank[one] for one, _ in cells])
        self.j = np.array([rank[other] for _, other in cells])
        self.same = self.i == self.j
        signs = (
            [np.sign(np.subtract.outer(side, side)) for side in (self.i, self.j)] if len(cells) <= _MOST_CELLS else []
        )
        self.signs = (signs[0] * signs[1]).astype(float) if signs else None

    def measured(self, weights: "Array") -> dict[str, float]:
        """Return the measures, given how many items each cell has."""
        import numpy as np

        n = float(weights.sum())
        first = np.bincount(self.i, weights, self.levels).astype(float)
        second = np.bincount(self.j, weights, self.levels).astype(float)
        exact = float(weights[self.same].sum() / n)
        chance = float((first * second).sum() / n**2)
        means = float((weights * self.x).sum() / n), float((weights * self.y).sum() / n)
        squares = float((weights * (self.x - self.y) ** 2).sum() / n)
        expected = float((weights * ((self.x - means[0]) ** 2 + (self.y - means[1]) ** 2)).sum() / n)
        expected += (means[0] - means[1]) ** 2
        return {
            "kappa": (exact - chance) / (1 - chance) if chance < 1 - 1e-12 else float("nan"),
            "kappa_quadratic": 1 - squares / expected if expected > 1e-12 else float("nan"),
            "alpha_ordinal": self._alpha(weights, first + second),
            "pearson": _pearson(self.x, self.y, weights),
            "spearman": _pearson(_middles(first)[self.i], _middles(second)[self.j], weights),
            "kendall": self._kendall(weights, first, second, n),
        }

    def _alpha(self, weights: "Array", margins: "Array") -> float:
        """Return Krippendorff's ordinal alpha: one less observed over expected squared distance of mid-ranks."""
        at, n = _middles(margins), float(margins.sum())
        observed = 2 * float((weights * (at[self.i] - at[self.j]) ** 2).sum())
        expected = 2 * (n * float((margins * at**2).sum()) - float((margins * at).sum()) ** 2)
        return 1 - (n - 1) * observed / expected if expected > 1e-9 * n else float("nan")

    def _kendall(self, weights: "Array", first: "Array", second: "Array", n: float) -> float:
        if self.signs is None:
            return float("nan")
        every = n * (n - 1) / 2
        free = [every - float((margin * (margin - 1) / 2).sum()) for margin in (first, second)]
        balance = float(weights @ self.signs @ weights) / 2
        return balance / sqrt(free[0] * free[1]) if min(free) > 1e-9 else float("nan")


def _middles(counts: "Array") -> "Array":
    """Return the mid-rank of each level, given how often it occurs."""
    import numpy as np

    return np.asarray(np.cumsum(counts) - counts / 2)


def _pearson(x: "Array", y: "Array", weights: "Array") -> float:
    n = weights.sum()
    dx, dy = x - (weights * x).sum() / n, y - (weights * y).sum() / n
    square = float((weights * dx**2).sum() * (weights * dy**2).sum())
    return float((weights * dx * dy).sum()) / sqrt(square) if square > 1e-18 else float("nan")
