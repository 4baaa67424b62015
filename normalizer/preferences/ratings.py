"""Bradley-Terry ratings: log-odds of winning, summing to zero, with cluster-robust 95 % intervals by item.

P(A beats B) = 1 / (1 + exp(rating B - rating A)). A draw is half a win for each. An item counts once for each pair of
generators, however often it was judged: its verdicts are averaged, as in the rates. The maximum likelihood exists
where no set of generators won everything against the rest (Ford 1957); otherwise ratings are those with Firth's
penalty, which are finite, and have no interval. The ranks of a generator are those that differences at 95 % in all
leave it, Bonferroni's correction being for its comparisons with the others.
"""

from dataclasses import replace
from fractions import Fraction
from math import exp, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.intervals import quantile
from normalizer.documents.exact import round_exact
from normalizer.preferences.logistic import fit_penalized, maximize, predict, robust_covariance
from normalizer.preferences.rates import sum_items
from normalizer.preferences.verdicts import WINNERS, ComparisonGroup, Verdicts

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]

LEAST_ITEMS = 5
"""Fewer clusters give standard errors that are too small."""
_SEPARATED = (
    "some generators won or lost everything against the rest: the ratings are finite only by Firth's penalty, and have "
    "no interval"
)
_NO_SPREAD = 1e-18
"""A variance below this is 0 but for rounding."""
_AT_ONCE = 1 << 20
"""Residuals of items by generators that are in memory at once."""


class _Meetings(NamedTuple):
    """Two generators on one item, sorted by item; its verdicts are averaged."""

    item: "Numbers"
    """Places among the items that occur."""
    pair: "Numbers"
    """Places in `pairs`."""
    outcome: "Numbers"
    """The mean score of the generator whose name sorts first."""
    items: int
    pairs: "Numbers"
    """The two generators of each pair that met, in order of names."""

    def count_pairs(self) -> "Numbers":
        """Return on how many items each pair met."""
        import numpy as np

        return np.bincount(self.pair, minlength=len(self.pairs))


def ratings(group: ComparisonGroup, baseline: str | None) -> dict[str, Any]:
    """Ratings of all generators, relative to their mean, or to the baseline where one is named."""
    import numpy as np

    decided = group.verdicts.take_decided()
    decided = decided.turn_where(decided.a > decided.b)
    present = np.unique(np.concatenate([decided.a, decided.b]))
    names = [group.names[place] for place in present.tolist()]
    document: dict[str, Any] = {"relative_to": baseline if baseline in names else "mean", "rows": []}
    document |= {"penalty": "none", "na": None}
    beaten = _list_beaten(decided, group.names, names)
    why = _not_rated(decided, names, beaten)
    if why is not None:
        return {**document, "na": why}
    meetings = _meet(decided, present)
    separated = _is_separated(names, beaten)
    fitted = _fit(meetings, len(names), penalized=separated)
    if fitted is None:
        separated, fitted = True, _fit(meetings, len(names), penalized=True)
    if fitted is None:
        return {**document, "na": "the likelihood has no maximum"}
    document["penalty"] = "firth" if separated else "none"
    values, covariance = fitted
    why = _SEPARATED if separated else _no_interval(covariance, meetings.items)
    rows = _rows(names, baseline, values, covariance, meetings, has_interval=why is None)
    return {**document, "rows": sorted(rows, key=lambda row: (-row["rating"], row["generator"])), "na": why}


def _rows(
    names: list[str],
    baseline: str | None,
    values: "Numbers",
    covariance: "Numbers",
    met: _Meetings,
    *,
    has_interval: bool,
) -> list[dict[str, Any]]:
    import numpy as np

    origin = np.full(len(names), 1 / len(names))
    if baseline in names:
        origin = np.array([float(name == baseline) for name in names])
    t = quantile(met.items - 1) if has_interval else 0.0
    ranks = _ranks(values, covariance, met.items) if has_interval else [None] * len(names)
    opponents = _opponents(met, values)
    rows = []
    for place, name in enumerate(names):
        weights = -origin
        weights[place] += 1
        value = float(weights @ values)
        half = t * sqrt(max(float(weights @ covariance @ weights), 0.0))
        row = {
            "generator": name,
            "rating": _number(value),
            "ci95": [_number(value - half), _number(value + half)] if has_interval else None,
            "ranks": ranks[place],
            "win_probability": _number(1 / (1 + exp(-value))),
            "opponents": _number(float(opponents[place] - origin @ values)),
        }
        rows.append(row)
    return rows


def _opponents(met: _Meetings, values: "Numbers") -> "Numbers":
    """Return the mean rating of those that each generator met, an item and an opponent counting once."""
    import numpy as np

    sums = np.zeros((len(values), 2))
    for one, other in ((0, 1), (1, 0)):
        of_other = np.column_stack([values[met.pairs[:, other]], np.ones(len(met.pairs))])
        np.add.at(sums, met.pairs[:, one], of_other * met.count_pairs()[:, None])
    return np.asarray(sums[:, 0] / sums[:, 1])


def _no_interval(covariance: "Numbers", items: int) -> str | None:
    """Why there is no interval. Items that all say the same have no spread: the standard errors would be 0."""
    if items < LEAST_ITEMS:
        return f"fewer than {LEAST_ITEMS} items give no interval"
    if (covariance.diagonal()[1:] < _NO_SPREAD).all():
        return "every item has the same result, so that no interval can be estimated"
    return None


def _not_rated(decided: Verdicts, names: list[str], beaten: dict[str, set[str]]) -> str | None:
    """Why there is no rating: the generators must have met, if only through others."""
    if len(names) < 2:
        return "fewer than two generators have a decided comparison"
    if decided.own.all():
        return ALONE
    met = {name: beaten[name] | {other for other in names if name in beaten[other]} for name in names}
    linked = _reach(names[0], met)
    if linked != set(names):
        apart = next(name for name in names if name not in linked)
        return f"{names[0]} and {apart} have not been compared, not even through others, so that no scale holds both"
    return None


def _is_separated(names: list[str], beaten: dict[str, set[str]]) -> bool:
    """Whether some generators won or lost everything against the rest."""
    lost_to = {name: {other for other in names if name in beaten[other]} for name in names}
    return any(_reach(names[0], edges) != set(names) for edges in (beaten, lost_to))


def _ranks(values: "Numbers", covariance: "Numbers", items: int) -> list[list[int] | None]:
    """Return the best and the worst rank of each generator that its differences from the others leave it."""
    from scipy.special import stdtrit

    places = range(len(values))
    t = float(stdtrit(items - 1, 1 - 0.025 / max(len(values) - 1, 1)))
    found: list[list[int] | None] = []
    for one in places:
        better = worse = 0
        for other in places:
            square = float(covariance[one, one] + covariance[other, other] - 2 * covariance[one, other])
            gap = float(values[other] - values[one])
            if abs(gap) > t * sqrt(max(square, 0.0)) and one != other:
                better, worse = better + (gap > 0), worse + (gap < 0)
        found.append([1 + better, len(values) - worse])
    return found


def _list_beaten(decided: Verdicts, numbered: list[str], names: list[str]) -> dict[str, set[str]]:
    """Return whom each generator won against, a draw counting both ways."""
    beaten: dict[str, set[str]] = {name: set() for name in names}
    for a, b, winner in set(zip(decided.a.tolist(), decided.b.tolist(), decided.winner.tolist(), strict=True)):
        if WINNERS[winner] != "b":
            beaten[numbered[a]].add(numbered[b])
        if WINNERS[winner] != "a":
            beaten[numbered[b]].add(numbered[a])
    return beaten


def _reach(start: str, edges: dict[str, set[str]]) -> set[str]:
    reached, pending = {start}, [start]
    while pending:
        for name in edges[pending.pop()] - reached:
            reached.add(name)
            pending.append(name)
    return reached


def _meet(decided: Verdicts, present: "Numbers") -> _Meetings:
    """Return the meetings of decided comparisons, which are turned so that the first name is A."""
    import numpy as np

    a, b = np.searchsorted(present, decided.a), np.searchsorted(present, decided.b)
    pairs, pair = np.unique(a * len(present) + b, return_inverse=True)
    items, item = np.unique(decided.item, return_inverse=True)
    meetings, place = np.unique(item * len(pairs) + pair, return_inverse=True)
    # The meetings of all items are averaged as the items of one pair are.
    sums = sum_items(replace(decided, item=place))
    outcome = sums.sums / (sums.unit * sums.sizes)
    both = np.column_stack([pairs // len(present), pairs % len(present)])
    return _Meetings(meetings // len(pairs), meetings % len(pairs), outcome, len(items), both)


def _fit(met: _Meetings, names: int, *, penalized: bool) -> "tuple[Numbers, Numbers] | None":
    """Return values and covariance of all generators, the first being the origin. With the penalty there is no
    covariance: it is 0. Rows of the design are pairs, as often as they met: the likelihood is that of the meetings."""
    import numpy as np

    rows = np.arange(len(met.pairs))
    design = np.zeros((len(met.pairs), names))
    design[rows, met.pairs[:, 0]] = 1
    design[rows, met.pairs[:, 1]] = -1
    times = met.count_pairs().astype(float)
    means = np.bincount(met.pair, weights=met.outcome, minlength=len(rows)) / times
    values, covariance = np.zeros(names), np.zeros((names, names))
    if penalized:
        values[1:] = fit_penalized(design[:, 1:], means, times)
        return values, covariance
    found = maximize(design[:, 1:], means, times)
    if found is None:
        return None
    values[1:], information = found
    residuals = met.outcome - predict(design, values)[met.pair]
    squares = _square_residuals(met, residuals, names)
    covariance[1:, 1:] = robust_covariance(information, squares[1:, 1:], met.items)
    return values, covariance


def _square_residuals(met: _Meetings, residuals: "Numbers", names: int) -> "Numbers":
    """Return the sum of squares of the items' residuals, which are a matrix of items by generators, in parts."""
    import numpy as np

    squares = np.zeros((names, names))
    step = max(1, _AT_ONCE // names)
    for begin in range(0, met.items, step):
        part = slice(*np.searchsorted(met.item, [begin, begin + step]))
        sums = np.zeros((min(step, met.items - begin), names))
        at = met.item[part] - begin
        np.add.at(sums, (at, met.pairs[met.pair[part], 0]), residuals[part])
        np.subtract.at(sums, (at, met.pairs[met.pair[part], 1]), residuals[part])
        squares += sums.T @ sums
    return squares


def _number(value: float) -> Any:
    return round_exact(Fraction(value))
