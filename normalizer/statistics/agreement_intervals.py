"""95 % intervals of agreement and correlation of two columns of values, items being clusters.

Accuracy, mean absolute difference and bias have the interval of a mean on a scale (`estimation.intervals`), which for
accuracy is Clopper and Pearson's. For kappa, AC1, alpha and correlations the pairs are a table of counts, and the
interval is that of its posterior distribution: the ends are the outermost 2.5 % points under several weak priors, as
the exact interval of a rate has one for each end. With few different values there are two, one that favours agreement
and one that favours disagreement, each worth 1.25 items. With more values, or where no value is at an end of the scale,
each of four priors puts an eighth of an item at a corner of the scale: both sides low, both high, one low and the other
high. So there is width where all items agree, and a rare failure that would make or break a correlation may have been
missed. Kappa and AC1 only ask whether values are equal, and have two priors worth an item there, too, one at equal
corners and one at unequal ones. Where most values occur once, their ranks are far apart, and ordinal alpha leans down:
what the jackknife tells of this bias is added at the end to which it points. Only with very many different pairs is it
the jackknife on Fisher's z = atanh(measure): there one item moves little.

Answers about one item go together. The counts are divided by the design effect: the variance by items over that of
independent answers. `tools/interval_coverage` measures how often these intervals hold the truth.
"""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING, Any

from normalizer.aggregate.intervals import quantile
from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import gather
from normalizer.estimation.gamma_draws import draw_gammas, find_ends
from normalizer.estimation.intervals import Interval, mean_interval
from normalizer.statistics.cell_table import MEASURES, CellTable
from normalizer.statistics.spread import ends

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

LEAST_ITEMS = 5
"""Fewer items give no intervals but those of means (`exact`, `mae`, `bias`), which need two."""
_ON_Z = tuple(name for name in MEASURES if name not in ("exact", "mae", "bias"))
MOST_LEVELS = 7
"""With more different values only the cells that occur, and the corners of the scale, are in the table."""
MOST_CELLS = 250
"""With more different pairs of values their posterior distribution costs much, and the jackknife is as good."""
_CORNER = 0.125
"""The items that the prior of a corner is worth. With 0.05, correlations that rest on rare failures covered 91 %."""
_OF_EQUALITY = ("kappa", "ac1")
_Z = 1.959963984540054
Pairs = Sequence[tuple[Fraction, Fraction]]
"""The values of both sides on each answer."""


def find_intervals(
    pairs: Pairs, items: Sequence[str], *, mirrored: bool = False, scale: Interval | None = None
) -> dict[str, list[Decimal] | None]:
    """Return the interval of each measure; `items` names the item of each pair, `scale` has the least and the greatest
    possible value, by default those seen.

    `mirrored`: a pair is counted in both directions, half in each, as for comparisons of two answers, whose direction
    is only one of names. None where there is no interval: fewer than 5 items, or an undefined measure.
    """
    found: dict[str, list[Decimal] | None] = dict.fromkeys(MEASURES)
    if len(set(items)) < 2:
        return found
    values = {value for pair in pairs for value in pair}
    values |= {1 - value for value in values} if mirrored else set()
    scale = (min(values), max(values)) if scale is None else scale
    reach = scale[1] - scale[0]
    means = {
        "exact": ([Fraction(one == other) for one, other in pairs], Fraction(0), Fraction(1)),
        "mae": ([abs(one - other) for one, other in pairs], Fraction(0), reach),
        "bias": ([one - other for one, other in pairs], -reach, reach),
    }
    for name, (each, low, high) in means.items():
        if low < high and not (mirrored and name == "bias"):
            found[name] = ends(mean_interval(gather(each, items), (low, high)))
    if len(set(items)) < LEAST_ITEMS:
        return found
    table = _Sample(pairs, items, sorted(values), scale, mirrored=mirrored)
    return found | (table.draw_intervals() if table.priors else table.jackknife_intervals())


class _Sample:
    """A table of counts, and how much each item moves each measure."""

    def __init__(
        self, pairs: Pairs, items: Sequence[str], levels: list[Fraction], scale: Interval, *, mirrored: bool
    ) -> None:
        import numpy as np

        if mirrored:  # each turned to one of its two directions, so that names do not decide about draws
            pairs = [max((one, other), (1 - one, 1 - other)) for one, other in pairs]
        else:  # what is drawn for is symmetric, so that it is not the names that decide which judge comes first
            pairs = max(pairs, [(other, one) for one, other in pairs], key=sorted)
        seen = Counter(pairs)
        few = len(levels) <= MOST_LEVELS
        # Few values that reach both ends have the corners among their cells: the priors below give them weight.
        missed = not few or not {*scale} <= {*levels}
        corners = sorted(set(product(scale, repeat=2))) if missed and len(seen) <= MOST_CELLS else []
        cells = sorted({*(product(levels, repeat=2) if few else seen), *corners})
        self.place = {cell: number for number, cell in enumerate(cells)}
        self.cells = CellTable(cells, len(levels))
        self.mirrored = mirrored
        turned = [self.place[1 - one, 1 - other] if mirrored else at for at, (one, other) in enumerate(cells)]
        self.turned = np.array(turned)
        self.counts = np.array([float(seen[cell]) for cell in cells])
        at_corners = [np.eye(len(cells))[self.place[corner]] for corner in corners]
        self.priors = [_CORNER * corner for corner in at_corners]
        self.of_equality: list[Array] = []
        if few:
            same = np.array([float(one == other) for one, other in cells])
            sides = [side for side in (same, 1 - same) if side.any()]
            self.priors += [0.5 / len(cells) + 0.75 * side / side.sum() for side in sides]
        elif at_corners:  # both low, one low and the other high twice, both high
            self.of_equality = [(at_corners[one] + at_corners[other]) / 2 for one, other in ((0, 3), (1, 2))]
        self.n = len(pairs)
        self.items = len(set(items))
        self.measured = {name: float(value) for name, value in self.cells.measure(self._fold(self.counts)).items()}
        present = np.flatnonzero(self.counts)
        without = self.cells.measure(self._fold(self.counts - np.eye(len(cells))[present]))
        self.moves = {name: (self.n - 1) * (self.measured[name] - values) for name, values in without.items()}
        """How much one pair of each cell moves the measure, times n; for cells that occur."""
        rank = {int(cell): number for number, cell in enumerate(present)}
        self.rows = np.array([rank[self.place[pair]] for pair in pairs])
        number = {item: place for place, item in enumerate(sorted(set(items)))}
        self.clusters = np.array([number[item] for item in items])

    def _fold(self, weights: "Array") -> "Array":
        return (weights + weights[..., self.turned]) / 2 if self.mirrored else weights

    def variances(self, name: str) -> tuple[float, float]:
        """Return the variance of a measure by items, and that of independent pairs."""
        import numpy as np

        each = self.moves[name][self.rows]
        each = each - each.mean()
        sums = np.bincount(self.clusters, each, self.items)
        by_item = float((sums**2).sum()) * self.items / max(self.items - 1, 1) / self.n**2
        return by_item, float((each**2).sum()) / (self.n - 1) / self.n

    def effective_size(self, name: str) -> float:
        """Return how many independent pairs the pairs are worth. Where this cannot be told, an item counts once."""
        if self.items == self.n:
            return float(self.n)
        by_item, alone = self.variances(name)
        small = (_Z / quantile(self.items - 1)) ** 2
        if not by_item > 0 or not alone > 0:
            return self.items * small
        return min(self.n, self.n * alone / by_item) * small

    def draw_intervals(self) -> dict[str, list[Decimal] | None]:
        """Return intervals from the posterior distribution of the table."""
        found: dict[str, list[Decimal] | None] = {}
        sizes = {name: round(self.effective_size(name), 6) for name in _ON_Z}
        for worth in sorted(set(sizes.values())):
            named = [name for name, other in sizes.items() if other == worth]
            drawn = [self._draw(prior, worth) for prior in self.priors]
            more = [self._draw(prior, worth) for prior in self.of_equality] if {*_OF_EQUALITY} & {*named} else []
            for name in named:
                tables = [*drawn, *more] if name in _OF_EQUALITY else drawn
                found[name] = self._between(name, [each[name] for each in tables])
        return found

    def _draw(self, prior: "Array", worth: float) -> dict[str, "Array"]:
        """Return the measures of tables drawn from a posterior distribution."""
        weights = draw_gammas((self.counts * (worth / self.n) + prior).tolist())
        scaled = weights / weights.sum(axis=1, keepdims=True) * self.n
        return self.cells.measure(self._fold(scaled))

    def _between(self, name: str, drawn: list["Array"]) -> list[Decimal] | None:
        value = self.measured[name]
        if value != value or any(bool((tables != tables).any()) for tables in drawn):
            return None
        both = [find_ends(tables) for tables in drawn]
        low, high = min(value, *(end for end, _ in both)), max(value, *(end for _, end in both))
        if name == "alpha_ordinal":
            moves = [move for move in self.moves[name][self.rows].tolist() if move == move]
            lean = sum(moves) / max(len(moves), 1)
            low, high = low + min(lean, 0.0), min(high + max(lean, 0.0), 1.0)
        return [round_exact(Fraction(low)), round_exact(Fraction(high))]

    def jackknife_intervals(self) -> dict[str, list[Decimal] | None]:
        """Return intervals from standard errors by items."""
        found: dict[str, list[Decimal] | None] = {}
        for name in _ON_Z:
            value, (square, alone) = self.measured[name], self.variances(name)
            if value != value or not max(square, alone) > 0 or abs(value) > 1 - 1e-12:
                continue
            half = quantile(max((self.items - 1) / 2, 1)) * sqrt(max(square, alone)) / (1 - value**2)
            both = tanh(atanh(value) - half), tanh(atanh(value) + half)
            found[name] = [round_exact(Fraction(end)) for end in both]
        return found
