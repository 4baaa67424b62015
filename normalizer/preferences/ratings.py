"""Bradley-Terry ratings: log-odds of winning, summing to zero, with cluster-robust 95 % intervals by item.

P(A beats B) = 1 / (1 + exp(rating B - rating A)). A draw is half a win for each. An item counts once for each pair of
generators, however often it was judged: its verdicts are averaged, as in the rates. The maximum likelihood exists
where no set of generators won everything against the rest (Ford 1957); otherwise ratings are those with Firth's
penalty, which are finite, and have no interval. The ranks of a generator are those that differences at 95 % in all
leave it, Bonferroni's correction being for its comparisons with the others.
"""

from fractions import Fraction
from math import exp, sqrt
from typing import Any

from normalizer.aggregate.eligibility import ALONE
from normalizer.aggregate.intervals import quantile
from normalizer.documents.exact import rounded
from normalizer.preferences.comparisons import DECIDED, Comparison
from normalizer.preferences.logistic import fit, fit_penalized
from normalizer.preferences.rates import average_meetings

LEAST_ITEMS = 10
"""Fewer clusters give standard errors that are too small."""
_SEPARATED = (
    "some generators won or lost everything against the rest: the ratings are finite only by Firth's penalty, and have "
    "no interval"
)
_NO_SPREAD = 1e-18
"""A variance below this is 0 but for rounding."""


def ratings(comparisons: list[Comparison], baseline: str | None) -> dict[str, Any]:
    """Ratings of all generators, relative to their mean, or to the baseline where one is named."""
    decided = [comparison for comparison in comparisons if comparison.winner in DECIDED]
    names = sorted({name for comparison in decided for name in (comparison.a, comparison.b)})
    document: dict[str, Any] = {"relative_to": baseline if baseline in names else "mean", "rows": []}
    document |= {"penalty": "none", "na": None}
    why = _not_rated(decided, names)
    if why is not None:
        return {**document, "na": why}
    separated = _is_separated(decided, names)
    fitted = _fit(decided, names, penalized=separated)
    if fitted is None:
        separated, fitted = True, _fit(decided, names, penalized=True)
    if fitted is None:
        return {**document, "na": "the likelihood has no maximum"}
    document["penalty"] = "firth" if separated else "none"
    values, covariance, items = fitted
    origin = [1 / len(names)] * len(names)
    if baseline in names:
        origin = [float(name == baseline) for name in names]
    why = _SEPARATED if separated else _no_interval(covariance, items)
    t = quantile(items - 1) if why is None else 0.0
    ranks = _ranks(values, covariance, items) if why is None else [None] * len(names)
    met = _opponents(decided, dict(zip(names, values, strict=True)))
    for place, name in enumerate(names):
        weights = [float(at == place) - share for at, share in enumerate(origin)]
        value = sum(weight * each for weight, each in zip(weights, values, strict=True))
        square = sum(weights[i] * weights[j] * covariance[i][j] for i in range(len(names)) for j in range(len(names)))
        half = t * sqrt(max(square, 0.0)) if why is None else 0.0
        ci = [_number(value - half), _number(value + half)] if why is None else None
        row = {
            "generator": name,
            "rating": _number(value),
            "ci95": ci,
            "ranks": ranks[place],
            "win_probability": _number(1 / (1 + exp(-value))),
            "opponents": _number(met[name] - sum(share * each for share, each in zip(origin, values, strict=True))),
        }
        document["rows"].append(row)
    document["rows"].sort(key=lambda row: (-row["rating"], row["generator"]))
    return {**document, "na": why}


def _opponents(decided: list[Comparison], values: dict[str, float]) -> dict[str, float]:
    """Return the mean rating of those that each generator met, an item and an opponent counting once."""
    met: dict[str, list[float]] = {name: [] for name in values}
    for _, one, other in average_meetings(decided):
        met[one].append(values[other])
        met[other].append(values[one])
    return {name: sum(each) / len(each) for name, each in met.items()}


def _no_interval(covariance: list[list[float]], items: int) -> str | None:
    """Why there is no interval. Items that all say the same have no spread: the standard errors would be 0."""
    if items < LEAST_ITEMS:
        return f"fewer than {LEAST_ITEMS} items give no interval"
    if all(covariance[place][place] < _NO_SPREAD for place in range(1, len(covariance))):
        return "every item has the same result, so that no interval can be estimated"
    return None


def _not_rated(decided: list[Comparison], names: list[str]) -> str | None:
    """Why there is no rating: the generators must have met, if only through others."""
    if len(names) < 2:
        return "fewer than two generators have a decided comparison"
    if all(comparison.self_judged for comparison in decided):
        return ALONE
    beaten = _beaten(decided, names)
    met = {name: beaten[name] | {other for other in names if name in beaten[other]} for name in names}
    linked = _reach(names[0], met)
    if linked != set(names):
        apart = next(name for name in names if name not in linked)
        return f"{names[0]} and {apart} have not been compared, not even through others, so that no scale holds both"
    return None


def _is_separated(decided: list[Comparison], names: list[str]) -> bool:
    """Whether some generators won or lost everything against the rest."""
    beaten = _beaten(decided, names)
    lost_to = {name: {other for other in names if name in beaten[other]} for name in names}
    return any(_reach(names[0], edges) != set(names) for edges in (beaten, lost_to))


def _ranks(values: list[float], covariance: list[list[float]], items: int) -> list[list[int] | None]:
    """Return the best and the worst rank of each generator that its differences from the others leave it."""
    from scipy.special import stdtrit

    places = range(len(values))
    t = float(stdtrit(items - 1, 1 - 0.025 / max(len(values) - 1, 1)))
    found: list[list[int] | None] = []
    for one in places:
        better = worse = 0
        for other in places:
            square = covariance[one][one] + covariance[other][other] - 2 * covariance[one][other]
            gap = values[other] - values[one]
            if abs(gap) > t * sqrt(max(square, 0.0)) and one != other:
                better, worse = better + (gap > 0), worse + (gap < 0)
        found.append([1 + better, len(values) - worse])
    return found


def _beaten(decided: list[Comparison], names: list[str]) -> dict[str, set[str]]:
    """Return whom each generator won against, a draw counting both ways."""
    beaten: dict[str, set[str]] = {name: set() for name in names}
    for comparison in decided:
        if comparison.winner != "b":
            beaten[comparison.a].add(comparison.b)
        if comparison.winner != "a":
            beaten[comparison.b].add(comparison.a)
    return beaten


def _reach(start: str, edges: dict[str, set[str]]) -> set[str]:
    reached, pending = {start}, [start]
    while pending:
        for name in edges[pending.pop()] - reached:
            reached.add(name)
            pending.append(name)
    return reached


def _fit(
    decided: list[Comparison], names: list[str], *, penalized: bool
) -> tuple[list[float], list[list[float]], int] | None:
    """Values and covariance of all generators, the first being the origin, and the number of items. With the penalty
    there is no covariance: it is 0."""
    import numpy as np

    place = {name: number for number, name in enumerate(names)}
    meetings = average_meetings(decided)
    items = {item: number for number, item in enumerate(sorted({item for item, _, _ in meetings}))}
    design = np.zeros((len(meetings), len(names)))
    for row, (_, one, other) in enumerate(meetings):
        design[row, place[one]] = 1
        design[row, place[other]] = -1
    outcomes = np.array([float(score) for score in meetings.values()])
    clusters = np.array([items[item] for item, _, _ in meetings])
    covariance = np.zeros((len(names), len(names)))
    if penalized:
        return [0.0, *map(float, fit_penalized(design[:, 1:], outcomes))], covariance.tolist(), len(items)
    fitted = fit(design[:, 1:], outcomes, clusters)
    if fitted is None:
        return None
    covariance[1:, 1:] = fitted.covariance
    return [0.0, *map(float, fitted.coefficients)], covariance.tolist(), len(items)


def _number(value: float) -> Any:
    return rounded(Fraction(value))
