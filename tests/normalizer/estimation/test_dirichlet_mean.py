"""The distribution of randomly weighted means, compared with the beta distribution and with draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from normalizer.estimation import intervals
from normalizer.estimation.intervals import DirichletMean, Point


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.floats(0.001, 0.999))
def test_of_two_values_the_weighted_mean_has_the_beta_distribution(zeros, ones, share):
    weighted = DirichletMean([Point(0, 1, zeros), Point(1, 1, ones)])
    beta = stats.beta(ones, zeros)
    assert weighted.chance_at_most(beta.ppf(share)) == pytest.approx(share, abs=1e-4)
    assert beta.cdf(weighted.quantile(share)) == pytest.approx(share, abs=1e-4)


def test_the_chance_is_the_share_of_drawn_weights():
    rng = np.random.default_rng(4)
    totals, sizes = np.array([3.0, 9.0, 0.0, 12.0, 5.0, 1.0]), np.array([1.0, 2.0, 1.0, 4.0, 1.0, 3.0])
    weights = rng.dirichlet(np.ones(6), 200_000)
    means = weights @ totals / (weights @ sizes)
    weighted = DirichletMean([Point(total, size, 1) for total, size in zip(totals, sizes, strict=True)])
    for mean in (1.2, 2.0, 2.5, 3.5):
        assert weighted.chance_at_most(mean) == pytest.approx((means <= mean).mean(), abs=0.005)
    assert weighted.quantile(0.3) == pytest.approx(np.quantile(means, 0.3), abs=0.01)


def test_neighbours_that_are_put_together_keep_the_quantiles(monkeypatch):
    rng = np.random.default_rng(2)
    points = [Point(float(value), 1, 1) for value in rng.normal(size=600) ** 3]
    merged = DirichletMean(points).quantile(0.025)
    monkeypatch.setattr(intervals, "_MOST_POINTS", 1000)
    assert merged == pytest.approx(DirichletMean(points).quantile(0.025), abs=1e-4)
