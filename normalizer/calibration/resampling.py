"""95 % bootstrap intervals of agreement and correlation: items are resampled, percentiles are taken.

Resampling works on counts of distinct value pairs, so that one resample costs no more than the table is large.
"""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from normalizer.aggregate.intervals import Method, draws
from normalizer.calibration.measures import Pairs
from normalizer.documents.exact import rounded

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLED = ("exact", "mae", "bias", "kappa", "kappa_quadratic", "pearson", "spearman", "kendall")
_MOST_CELLS = 400
"""Beyond this many distinct pairs of values Kendall's tau is not resampled: it compares every pair with every other."""
_LEAST_DEFINED = 0.9
"""A measure that fewer resamples define has no interval."""


def intervals(pairs: Pairs, method: Method) -> dict[str, list[Decimal] | None]:
    """The interval of each measure; None where too few resamples define it."""
    import numpy as np

    if len(pairs) < 2:
        return dict.fromkeys(RESAMPLED)
    cells = sorted(Counter(pairs))
    place = {cell: number for number, cell in enumerate(cells)}
    at = np.array([place[pair] for pair in pairs])
    table = _Table(cells)
    drawn = [
        table.measured(np.bincount(at[chosen.astype(np.int64)], minlength=len(cells)).astype(float))
        for chosen in draws(method, len(pairs))()
    ]
    return {name: _middle([each[name] for each in drawn]) for name in RESAMPLED}


def _middle(values: list[float]) -> list[Decimal] | None:
    defined = sorted(value for value in values if value == value)
    if len(defined) < _LEAST_DEFINED * len(values):
        return None
    cut = len(defined) * 25 // 1000
    return [rounded(Fraction(end)) for end in (defined[cut], defined[-1 - cut])]


class _Table:
    """Measures of a table of counts over fixed cells, in floating point."""

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
        small = len(cells) <= _MOST_CELLS
        self.signs = (
            np.sign(np.subtract.outer(self.i, self.i)) * np.sign(np.subtract.outer(self.j, self.j)) if small else None
        )

    def measured(self, weights: "Array") -> dict[str, float]:
        import numpy as np

        n = weights.sum()
        gaps = self.x - self.y
        first = np.bincount(self.i, weights, self.levels).astype(float)
        second = np.bincount(self.j, weights, self.levels).astype(float)
        exact = float(weights[self.same].sum() / n)
        chance = float((first * second).sum() / n**2)
        mean_x, mean_y = (weights * self.x).sum() / n, (weights * self.y).sum() / n
        squares = float((weights * gaps**2).sum() / n)
        expected = float((weights * (self.x - mean_x) ** 2).sum() / n + (weights * (self.y - mean_y) ** 2).sum() / n)
        expected += float((mean_x - mean_y) ** 2)
        return {
            "exact": exact,
            "mae": float((weights * np.abs(gaps)).sum() / n),
            "bias": float((weights * gaps).sum() / n),
            "kappa": (exact - chance) / (1 - chance) if chance < 1 else float("nan"),
            "kappa_quadratic": 1 - squares / expected if expected > 0 else float("nan"),
            "pearson": _pearson(self.x, self.y, weights),
            "spearman": _pearson(_mid(first)[self.i], _mid(second)[self.j], weights),
            "kendall": self._kendall(weights, first, second, float(n)),
        }

    def _kendall(self, weights: "Array", first: "Array", second: "Array", n: float) -> float:
        if self.signs is None:
            return float("nan")
        every = n * (n - 1) / 2
        free = [every - float((margin * (margin - 1) / 2).sum()) for margin in (first, second)]
        balance = float(weights @ self.signs @ weights) / 2
        return balance / (free[0] * free[1]) ** 0.5 if free[0] * free[1] > 0 else float("nan")


def _mid(counts: "Array") -> "Array":
    import numpy as np

    return np.asarray(np.cumsum(counts) - counts + (counts + 1) / 2)


def _pearson(x: "Array", y: "Array", weights: "Array") -> float:
    n = weights.sum()
    dx, dy = x - (weights * x).sum() / n, y - (weights * y).sum() / n
    square = float((weights * dx**2).sum() * (weights * dy**2).sum())
    return float((weights * dx * dy).sum()) / square**0.5 if square > 1e-18 else float("nan")
