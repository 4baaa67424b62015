"""Mean, standard deviation and interval of exact values, as members of documents."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from normalizer.aggregate.intervals import t_interval
from normalizer.documents.exact import round_exact, round_root


def mean_of(values: Sequence[Fraction]) -> Fraction:
    """Return the mean of one value or more."""
    return sum(values, Fraction(0)) / len(values)


def variance_of(values: Sequence[Fraction]) -> Fraction:
    """Return the variance of two values or more, with n - 1."""
    mean = mean_of(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


def spread(values: Sequence[Fraction], name: str, what: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return `name` (the mean), `sd` and `ci95`, and reasons for those that are None; `what` names one value."""
    if not values:
        return {name: None, "sd": None, "ci95": None}, dict.fromkeys((name, "sd", "ci95"), f"there is no {what}")
    mean = mean_of(values)
    if len(values) == 1:
        found: dict[str, Any] = {name: round_exact(mean), "sd": None, "ci95": None}
        return found, dict.fromkeys(("sd", "ci95"), f"there is only one {what}")
    variance = variance_of(values)
    interval = t_interval(mean, variance / len(values), len(values) - 1)
    return {name: round_exact(mean), "sd": round_root(variance), "ci95": ends(interval)}, {}


def ends(interval: tuple[Fraction, Fraction]) -> list[Decimal]:
    """Return an interval as a member of a document."""
    return [round_exact(end) for end in interval]
