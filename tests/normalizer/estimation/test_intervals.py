"""Intervals of means on a scale."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import mean_interval

SCALE = (Fraction(0), Fraction(10))
SCORES = st.lists(st.integers(0, 10).map(Fraction), min_size=1, max_size=12)


@given(st.integers(1, 60), st.data())
def test_of_two_valued_scores_the_interval_is_clopper_and_pearsons(n, data):
    wins = data.draw(st.integers(0, n))
    ends = mean_interval(gather([Fraction(place < wins) for place in range(n)]), (Fraction(0), Fraction(1)))
    exact = stats.binomtest(wins, n).proportion_ci(0.95, "exact")
    assert [float(end) for end in ends] == pytest.approx([exact.low, exact.high], abs=1e-6)


@given(SCORES)
def test_the_interval_of_a_mean_has_a_width_holds_the_mean_and_stays_on_the_scale(scores):
    low, high = mean_interval(gather(scores), SCALE)
    assert 0 <= low < high <= 10
    assert low - Fraction(1, 10**9) <= sum(scores) / len(scores) <= high + Fraction(1, 10**9)


@given(SCORES, st.randoms())
def test_the_interval_turns_with_the_scale_and_not_with_the_order(scores, shuffler):
    low, high = mean_interval(gather(scores), SCALE)
    turned = [10 - score for score in scores]
    shuffler.shuffle(turned)
    other = mean_interval(gather(turned), SCALE)
    assert [float(10 - end) for end in reversed(other)] == pytest.approx([float(low), float(high)], abs=1e-7)


@given(SCORES, st.integers(2, 4))
def test_repeating_every_answer_of_an_item_does_not_narrow_the_interval(scores, times):
    items = list(range(len(scores)))
    once = mean_interval(gather(scores, items), SCALE)
    again = mean_interval(gather(scores * times, items * times), SCALE)
    assert [float(end) for end in again] == pytest.approx([float(end) for end in once], abs=1e-7)
