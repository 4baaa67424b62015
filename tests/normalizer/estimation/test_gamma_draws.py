"""Draws of gammas against SciPy's distributions."""

import numpy as np
import pytest
from scipy.stats import beta, gamma

from normalizer.estimation.gamma_draws import draw_gammas, find_ends


def test_each_column_has_its_gamma_distribution_and_columns_are_independent():
    drawn = draw_gammas([0.5, 3.0, 40.0])
    for place, shape in enumerate((0.5, 3.0, 40.0)):
        assert drawn[:, place].mean() == pytest.approx(shape, rel=0.01)
        assert np.quantile(drawn[:, place], 0.9) == pytest.approx(gamma.ppf(0.9, shape), rel=0.01)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(3)).max() < 0.08


def test_the_ends_of_a_share_are_those_of_the_beta_distribution():
    drawn = draw_gammas([7.5, 15.5])
    ends = find_ends(drawn[:, 0] / drawn.sum(axis=1))
    assert ends == pytest.approx(beta.ppf([0.025, 0.975], 7.5, 15.5), abs=0.012)


def test_draws_are_the_same_every_time():
    assert (draw_gammas([1.25, 2.5]) == draw_gammas([1.25, 2.5])).all()
