"""The test of differences against SciPy, and that its p and its interval never disagree."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from normalizer.estimation.clusters import gather
from normalizer.estimation.paired_test import ASSUMPTIONS, SCALE, SPREAD, examine_differences, tells_spread

GAPS = st.lists(st.integers(-10, 10).map(Fraction), min_size=1, max_size=20)
REACH = Fraction(10)


@pytest.mark.parametrize("always_valid", [False, True])
@given(gaps=GAPS, items=st.integers(1, 20), alpha=st.sampled_from([0.05, 0.01]), assume=st.sampled_from([*ASSUMPTIONS]))
def test_the_interval_holds_0_exactly_where_p_is_above_alpha(always_valid, gaps, items, alpha, assume):
    clusters = gather(gaps, [place % items for place in range(len(gaps))])
    low, high = (found := examine_differences(clusters, REACH, assume, alpha, always_valid=always_valid)).interval
    assert -10 <= low <= high <= 10
    assert (low < 0 < high) is (found.p > alpha)
    assert low - Fraction(1, 10**9) <= clusters.mean <= high + Fraction(1, 10**9)


@pytest.mark.parametrize("always_valid", [False, True])
@pytest.mark.parametrize("assume", ASSUMPTIONS)
def test_on_a_scale_of_one_value_nothing_is_shown_to_differ(assume, always_valid):
    found = examine_differences(gather([Fraction(0)] * 8), Fraction(0), assume, always_valid=always_valid)
    assert (*found.interval, found.p) == (Fraction(0), Fraction(0), Fraction(1))


@given(GAPS, st.randoms())
def test_turned_differences_in_another_order_have_the_turned_interval_and_the_same_p(gaps, shuffler):
    turned = [-gap for gap in gaps]
    shuffler.shuffle(turned)
    for assume in ASSUMPTIONS:
        one, other = (examine_differences(gather(each), REACH, assume) for each in (gaps, turned))
        assert float(one.p) == pytest.approx(float(other.p), abs=1e-9)
        assert [float(end) for end in one.interval] == pytest.approx(
            [-float(end) for end in reversed(other.interval)], abs=1e-7
        )


@given(st.integers(1, 40), st.data())
def test_of_scores_that_differ_by_all_or_nothing_the_scale_is_the_exact_binomial_test(n, data):
    wins = data.draw(st.integers(0, n))
    gaps = [Fraction(1 if place < wins else -1) for place in range(n)]
    found = examine_differences(gather(gaps), Fraction(1), SCALE)
    exact = stats.binomtest(wins, n).proportion_ci(0.95, "exact")
    assert [float(end) for end in found.interval] == pytest.approx([2 * exact.low - 1, 2 * exact.high - 1], abs=2e-6)
    tails = [stats.binomtest(wins, n, 0.5, side).pvalue for side in ("less", "greater")]
    assert float(found.p) == pytest.approx(min(1, 2 * min(tails)), abs=1e-9)


def test_scale_has_the_quantiles_of_randomly_weighted_means_with_one_more_at_the_end():
    gaps = [3, -1, 0, 2, 2, -4, 1, 0]
    found = examine_differences(gather(map(Fraction, gaps)), REACH, SCALE)
    weights = np.random.default_rng(1).dirichlet(np.ones(9), 200_000)
    means = [weights @ [*gaps, end] for end in (-10, 10)]
    expected = np.quantile(means[0], 0.025), np.quantile(means[1], 0.975)
    assert [float(end) for end in found.interval] == pytest.approx(expected, abs=0.03)
    assert float(found.p) == pytest.approx(min(1, 2 * min((means[0] <= 0).mean(), (means[1] >= 0).mean())), abs=0.01)


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=20))
def test_spread_is_students_t_of_scipy_where_items_are_independent(gaps):
    clusters = gather(map(Fraction, gaps))
    found = examine_differences(clusters, REACH, SPREAD)
    assert (found.assumes == SPREAD) is tells_spread(clusters)
    if found.assumes == SPREAD:
        expected = stats.ttest_1samp(gaps, 0)
        ends = np.clip(expected.confidence_interval(0.95), -10, 10)
        assert float(found.p) == pytest.approx(expected.pvalue, abs=1e-9)
        assert [float(end) for end in found.interval] == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("gaps", [[0] * 9, [2] * 9, [0] * 8 + [-3], [1], [1, 2, 1, 2]])
def test_differences_that_say_nothing_about_spread_are_examined_by_the_scale(gaps):
    clusters = gather(map(Fraction, gaps))
    assert examine_differences(clusters, REACH, SPREAD) == examine_differences(clusters, REACH, SCALE)
    assert examine_differences(clusters, REACH, SPREAD).assumes == SCALE


def test_equal_pairs_do_not_exclude_a_rare_loss():
    low, _ = examine_differences(gather([Fraction(0)] * 50), Fraction(1), SCALE).interval
    assert float(low) == pytest.approx(-(1 - 0.025 ** (1 / 50)), abs=1e-9)
