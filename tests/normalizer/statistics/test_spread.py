"""Means and deviations are those of `statistics`; differences have the one test of their clusters, or a reason."""

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.documents.exact import round_exact
from normalizer.estimation.clusters import gather
from normalizer.estimation.paired_test import ASSUMPTIONS, examine_differences
from normalizer.statistics.spread import describe_differences, ends, mean_of, variance_of

VALUES = st.lists(st.fractions(-10, 10, max_denominator=8), min_size=2, max_size=8)


@given(VALUES)
def test_mean_and_variance_are_exact(values):
    assert mean_of(values) == statistics.mean(values)
    assert variance_of(values) == statistics.variance(values)


ITEMS = st.lists(st.sampled_from(["q1", "q2", None]), min_size=8, max_size=8)


@given(VALUES, ITEMS, st.sampled_from(list(ASSUMPTIONS)))
def test_differences_are_described_by_the_one_test_of_their_clusters(values, names, assume):
    items = names[: len(values)]
    found, tested = describe_differences(values, items, Fraction(20), "pair", assume)
    expected = examine_differences(gather(values, items), Fraction(20), assume)
    assert tested == expected
    assert (found["mean"], found["p"]) == (round_exact(mean_of(values)), round_exact(expected.p))
    assert found["assumes"] == expected.assumes
    assert float(found["sd"]) == pytest.approx(statistics.stdev(map(float, values)), abs=1e-6)
    if gather(values, items).clusters > 1:
        assert (found["ci95"], found["na"]) == (ends(expected.interval), {})
    else:
        assert (found["ci95"], found["na"]) == (None, {"ci95": "there is only one item"})


def test_what_cannot_be_computed_is_none_with_a_reason():
    missing, tested = describe_differences([], [], Fraction(20), "pair")
    names = ("mean", "sd", "ci95", "p", "assumes")
    assert (missing, tested) == (
        {**dict.fromkeys(names), "na": dict.fromkeys(names, "there is no pair")},
        None,
    )
    found, _ = describe_differences([Fraction(1, 2)], [None], Fraction(20), "pair")
    assert (str(found["mean"]), found["sd"], found["ci95"]) == ("0.5", None, None)
    assert found["na"] == {"sd": "there is only one pair", "ci95": "there is only one item"}
