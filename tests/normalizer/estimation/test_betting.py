"""Bets against their definition, and that nobody can expect to win where there is nothing to win."""

from fractions import Fraction
from itertools import product
from math import exp, log, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.estimation.betting import capital_against, chance_of, find_bound, turn
from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import points_of

STAKES = (1, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
GAPS = st.lists(st.integers(-5, 5).map(Fraction), min_size=1, max_size=12)


def points(gaps, items=None):
    return points_of(gather(gaps, items).counts.items())


@given(GAPS, st.integers(-4, 4))
def test_the_capital_is_the_mean_over_stakes_of_the_product_over_differences(gaps, bound):
    each = [prod(1 + stake * float(gap - bound) / (bound + 5) for gap in gaps) for stake in STAKES]
    assert exp(capital_against(points(gaps), bound, 5.0)) == pytest.approx(sum(each) / 8, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("shares", [{-1: 0.5, 1: 0.5}, {-5: 0.1, 0: 0.4, 1: 0.5}, {-2: 0.3, 0: 0.4, 2: 0.3}])
def test_the_expected_capital_against_the_true_mean_is_1(shares):
    mean = sum(value * share for value, share in shares.items())
    expected = 0.0
    for gaps in product(shares, repeat=5):
        chance = prod(shares[gap] for gap in gaps)
        expected += chance * exp(capital_against(points(map(Fraction, gaps)), mean, 5.0))
    assert expected == pytest.approx(1)


@given(GAPS)
def test_the_bound_is_where_the_capital_is_one_over_the_error(gaps):
    bound = find_bound(points(gaps), 5.0, 0.025)
    assert -5 <= bound <= float(sum(gaps) / len(gaps)) + 1e-9
    if bound > -5 + 1e-9:
        assert capital_against(points(gaps), bound, 5.0) == pytest.approx(-log(0.025), abs=1e-6)


@given(GAPS, st.integers(2, 4))
def test_answers_that_repeat_those_of_their_item_add_nothing(gaps, times):
    items = list(range(len(gaps)))
    once, again = points(gaps, items), points(gaps * times, items * times)
    assert capital_against(once, 0.0, 5.0) == pytest.approx(capital_against(again, 0.0, 5.0), abs=1e-9)
    assert sorted(turn(turn(once))) == sorted(once)


def test_a_capital_below_1_says_nothing():
    assert chance_of(-3.0) == 1
    assert float(chance_of(log(40))) == pytest.approx(0.025)
