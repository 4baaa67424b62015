"""Bootstrap intervals take expanded percentiles: checked against SciPy's distributions and plain resampling."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from normalizer.aggregate.intervals import Method, middle, of_resampled_units


@pytest.mark.parametrize(("n", "resamples"), [(2, 2000), (10, 2000), (20, 400), (50, 2000), (100_000, 2000)])
def test_the_points_are_hesterbergs(n, resamples):
    share = stats.norm.cdf(np.sqrt(n / (n - 1)) * stats.t.ppf(0.025, n - 1))
    cut = int(resamples * share)
    means = [Fraction(at) for at in range(resamples)]
    assert middle(means, n) == (Fraction(cut), Fraction(resamples - 1 - cut))
    assert cut <= resamples * 25 // 1000


def test_the_interval_of_few_units_is_as_wide_as_students():
    """For normal data both intervals have one and the same width, up to the noise of resampling."""
    values = np.round(stats.norm.ppf((np.arange(20) + 0.5) / 20) * 1000).astype(int)
    low, high = of_resampled_units(sorted(values.tolist()), [1] * 20, 1, Method(bootstrap=True, resamples=20_000))
    student = stats.t.interval(0.95, 19, values.mean(), stats.sem(values))
    assert float(high - low) == pytest.approx(student[1] - student[0], rel=0.05)
