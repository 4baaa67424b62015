"""Mean, deviation and interval: equal to those of `statistics` and SciPy, and None with a reason where undefined."""

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.statistics.spread import mean_of, spread, variance_of

VALUES = st.lists(st.fractions(-10, 10, max_denominator=8), min_size=2, max_size=8)


@given(VALUES)
def test_mean_and_variance_are_exact(values):
    assert mean_of(values) == statistics.mean(values)
    assert variance_of(values) == statistics.variance(values)


def test_the_interval_is_students_t():
    from scipy import stats

    values = [Fraction(value) for value in (1, 2, 4, 8)]
    found, missing = spread(values, "mean", "unit")
    low, high = stats.t.interval(0.95, 3, loc=3.75, scale=stats.sem([1, 2, 4, 8]))
    assert missing == {}
    assert [float(end) for end in found["ci95"]] == [pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6)]


def test_what_cannot_be_computed_is_none_with_a_reason():
    assert spread([], "mean", "pair") == (
        {"mean": None, "sd": None, "ci95": None},
        dict.fromkeys(("mean", "sd", "ci95"), "there is no pair"),
    )
    found, missing = spread([Fraction(1, 2)], "mean", "pair")
    assert (str(found["mean"]), found["sd"], found["ci95"]) == ("0.5", None, None)
    assert missing == dict.fromkeys(("sd", "ci95"), "there is only one pair")
