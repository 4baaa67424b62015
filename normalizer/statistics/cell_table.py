"""Measures of agreement and correlation of a table of weights over fixed cells, many tables at once, in floating point.

A cell is a pair of values. `agreement_measures` and `calibration.measures` have the exact measures of one table; these
are for intervals, which need them of thousands of tables. A measure that is undefined is NaN.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

MEASURES = (
    "exact",
    "mae",
    "bias",
    "kappa",
    "ac1",
    "kappa_quadratic",
    "alpha_ordinal",
    "pearson",
    "spearman",
    "kendall",
)
_MOST_CELLS = 1000
"""With more cells Kendall's tau is not computed: it compares every cell with every other."""


class CellTable:
    """Measures of tables of weights over `cells`, each a value of one side and a value of the other."""

    def __init__(self, cells: Sequence[tuple[Fraction, Fraction]], categories: int | None = None) -> None:
        """Take cells and, for AC1, the number of values that were seen, by default those of the cells."""
        import numpy as np

        values = sorted({value for cell in cells for value in cell})
        rank = {value: number for number, value in enumerate(values)}
        self.levels = len(values)
        self.categories = self.levels if categories is None else categories
        self.x = np.array([float(one) for one, _ in cells])
        self.y = np.array([float(other) for _, other in cells])
        self.i = np.array([rank[one] for one, _ in cells])
        self.j = np.array([rank[other] for _, other in cells])
        self.first, self.second = (np.eye(self.levels)[side] for side in (self.i, self.j))
        self.signs = None
        if len(cells) <= _MOST_CELLS:
            one, other = (np.sign(np.subtract.outer(side, side)) for side in (self.i, self.j))
            self.signs = (one * other).astype(float)

    def measure(self, weights: "Array") -> dict[str, "Array"]:
        """Return the measures of each table; a row of `weights` has the weight of each cell."""
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            return self._measure(weights, weights.sum(axis=-1))

    def _measure(self, weights: "Array", n: "Array") -> dict[str, "Array"]:
        import numpy as np

        first, second = weights @ self.first, weights @ self.second
        gaps = self.x - self.y
        exact = weights @ (self.i == self.j) / n
        chance = (first * second).sum(axis=-1) / n**2
        shares = (first + second) / (2 * n)[..., None]
        # Cells may have values that were not seen: chance is at most what those seen allow, so that AC1 stays above -1.
        hard = np.minimum((shares * (1 - shares)).sum(axis=-1) / max(self.categories - 1, 1), 1 / self.categories)
        means = weights @ self.x / n, weights @ self.y / n
        spread = weights @ self.x**2 / n + weights @ self.y**2 / n - 2 * means[0] * means[1]
        ranks = _middles(first) @ self.first.T, _middles(second) @ self.second.T
        return {
            "exact": exact,
            "mae": weights @ abs(gaps) / n,
            "bias": weights @ gaps / n,
            "kappa": _ratio(exact - chance, 1 - chance),
            "ac1": _ratio(exact - hard, 1 - hard) if self.categories > 1 else exact * float("nan"),
            "kappa_quadratic": 1 - _ratio(weights @ gaps**2 / n, spread),
            "alpha_ordinal": self._alpha(weights, first + second),
            "pearson": _correlate(self.x, self.y, weights, n),
            "spearman": _correlate(*ranks, weights, n),
            "kendall": self._kendall(weights, first, second, n),
        }

    def _alpha(self, weights: "Array", margins: "Array") -> "Array":
        """Return Krippendorff's ordinal alpha: one less observed over expected squared distance of mid-ranks."""
        import numpy as np

        at, n = _middles(margins), margins.sum(axis=-1)
        observed = (weights * (at @ self.first.T - at @ self.second.T) ** 2).sum(axis=-1)
        expected = n * (margins * at**2).sum(axis=-1) - (margins * at).sum(axis=-1) ** 2
        return np.asarray(1 - (n - 1) * _ratio(observed, expected))

    def _kendall(self, weights: "Array", first: "Array", second: "Array", n: "Array") -> "Array":
        """Return tau-b. Ties leave (n ** 2 - the margins' squares) / 2 pairs of items on each side."""
        import numpy as np

        if self.signs is None:
            return n * float("nan")
        free = [n**2 - (margin**2).sum(axis=-1) for margin in (first, second)]
        balance = ((weights @ self.signs) * weights).sum(axis=-1)
        return _ratio(balance, np.sqrt(free[0] * free[1]))


def _ratio(above: "Array", below: "Array") -> "Array":
    """Return a ratio, NaN where what is below is 0 but for rounding."""
    import numpy as np

    return np.asarray(np.where(below > 1e-12, above / below, np.nan))


def _middles(counts: "Array") -> "Array":
    """Return the mid-rank of each level, given how often it occurs."""
    import numpy as np

    return np.asarray(np.cumsum(counts, axis=-1) - counts / 2)


def _correlate(x: "Array", y: "Array", weights: "Array", n: "Array") -> "Array":
    dx = x - ((weights * x).sum(axis=-1) / n)[..., None]
    dy = y - ((weights * y).sum(axis=-1) / n)[..., None]
    square = (weights * dx**2).sum(axis=-1) * (weights * dy**2).sum(axis=-1)
    return _ratio((weights * dx * dy).sum(axis=-1), square**0.5)
