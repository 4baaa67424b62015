"""Exact measures of agreement from counts of pairs of values. A measure that is undefined is None, with a reason.

Cohen's kappa (1960), weighted kappa with squared distances on the scale (1968), Gwet's AC1 (2008) over the values seen,
Krippendorff's alpha (2004): ordinal alpha is the interval alpha of mid-ranks. Counts may be fractions: a pair that is
counted in two ways has half a count in each.
"""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

Weighted = Mapping[tuple[int, int], int | Fraction]
"""Counts of pairs of values."""
Measured = tuple[dict[str, Fraction | None], dict[str, str]]
"""Measures by name, and reasons for those that are None."""

PAIR_MEASURES = ("mae", "exact", "bias", "max_abs_diff", "kappa", "ac1", "kappa_quadratic", "alpha_ordinal")
ALPHAS = ("alpha_ordinal", "alpha_interval", "alpha_nominal")
CONSTANT = "both judges gave one and the same value throughout"
NOTHING_SHARED = "the judges share no artifact"


def pair_measures(joint: Weighted, denominator: int) -> Measured:
    """Return the measures of agreement of two judges."""
    n = Fraction(sum(joint.values()))
    if not n:
        return dict.fromkeys(PAIR_MEASURES), dict.fromkeys(PAIR_MEASURES, NOTHING_SHARED)
    differences = [(one - other, count) for (one, other), count in joint.items()]
    found: dict[str, Fraction | None] = {
        "mae": sum(abs(gap) * count for gap, count in differences) / (n * denominator),
        "exact": sum(count for gap, count in differences if gap == 0) / n,
        "bias": sum(gap * count for gap, count in differences) / (n * denominator),
        "max_abs_diff": Fraction(max(abs(gap) for gap, _ in differences), denominator),
        "kappa": _kappa(joint, n),
        "ac1": _ac1(joint, n),
        "kappa_quadratic": _kappa_quadratic(joint, n),
        "alpha_ordinal": alphas(_of_pair(joint))[0]["alpha_ordinal"],
    }
    return found, {name: CONSTANT for name, value in found.items() if value is None}


def alphas(coincidences: Mapping[tuple[int, int], Fraction]) -> Measured:
    """Return Krippendorff's alphas of a coincidence matrix, given as its diagonal and its upper half."""
    margins: dict[int, Fraction] = defaultdict(Fraction)
    for (low, high), weight in coincidences.items():
        margins[low] += weight
        if low != high:
            margins[high] += weight
    if not margins:
        return dict.fromkeys(ALPHAS), dict.fromkeys(ALPHAS, "no artifact has two judges")
    ranks: dict[int, Fraction] = {}
    below = Fraction(0)
    for value in sorted(margins):
        ranks[value] = below + margins[value] / 2
        below += margins[value]
    places = {
        "alpha_ordinal": ranks,
        "alpha_interval": {value: Fraction(value) for value in margins},
    }
    found: dict[str, Fraction | None] = {name: _alpha(coincidences, margins, at) for name, at in places.items()}
    found["alpha_nominal"] = _alpha_nominal(coincidences, margins)
    return found, {name: "all values are equal" for name, value in found.items() if value is None}


def _of_pair(joint: Weighted) -> dict[tuple[int, int], Fraction]:
    found: dict[tuple[int, int], Fraction] = {}
    for (one, other), count in joint.items():
        cell = (min(one, other), max(one, other))
        found[cell] = found.get(cell, Fraction(0)) + count * (2 if one == other else 1)
    return found


def _alpha(
    coincidences: Mapping[tuple[int, int], Fraction], margins: Mapping[int, Fraction], at: dict[int, Fraction]
) -> Fraction | None:
    """Return 1 - observed / expected squared distance, with values at the positions `at`."""
    n = sum(margins.values(), Fraction())
    observed = 2 * sum((at[high] - at[low]) ** 2 * weight for (low, high), weight in coincidences.items())
    first = sum(at[value] * weight for value, weight in margins.items())
    second = sum(at[value] ** 2 * weight for value, weight in margins.items())
    expected = 2 * (n * second - first**2)
    return None if expected == 0 else 1 - (n - 1) * Fraction(observed) / expected


def _alpha_nominal(
    coincidences: Mapping[tuple[int, int], Fraction], margins: Mapping[int, Fraction]
) -> Fraction | None:
    n = sum(margins.values(), Fraction())
    observed = 2 * sum(weight for (low, high), weight in coincidences.items() if low != high)
    expected = n * n - sum(weight**2 for weight in margins.values())
    return None if expected == 0 else 1 - (n - 1) * Fraction(observed) / expected


def _kappa(joint: Weighted, n: Fraction) -> Fraction | None:
    first, second = _margins(joint)
    observed = sum(count for (one, other), count in joint.items() if one == other) / n
    chance = sum((count * second[value] for value, count in first.items()), Fraction(0)) / n**2
    return None if chance == 1 else (observed - chance) / (1 - chance)


def _ac1(joint: Weighted, n: Fraction) -> Fraction | None:
    """Return Gwet's AC1: chance is a random value of those seen, as likely as values are hard to tell apart."""
    first, second = _margins(joint)
    values = first.keys() | second.keys()
    if len(values) < 2:
        return None
    observed = sum(count for (one, other), count in joint.items() if one == other) / n
    shares = [(first[value] + second[value]) / (2 * n) for value in values]
    chance = sum((share * (1 - share) for share in shares), Fraction(0)) / (len(values) - 1)
    return (observed - chance) / (1 - chance)


def _kappa_quadratic(joint: Weighted, n: Fraction) -> Fraction | None:
    first, second = _margins(joint)
    observed = n * sum((one - other) ** 2 * count for (one, other), count in joint.items())
    sums = [sum(value * count for value, count in each.items()) for each in (first, second)]
    squares = [sum(value * value * count for value, count in each.items()) for each in (first, second)]
    chance = n * sum(squares) - 2 * sums[0] * sums[1]
    return None if chance == 0 else 1 - observed / chance


def _margins(joint: Weighted) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    first: dict[int, Fraction] = defaultdict(Fraction)
    second: dict[int, Fraction] = defaultdict(Fraction)
    for (one, other), count in joint.items():
        first[one] += count
        second[other] += count
    return first, second
