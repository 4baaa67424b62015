"""Intervals of agreement and correlation, against the jackknife done plainly and against statsmodels and SciPy."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, t
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from normalizer.calibration.item_intervals import JACKKNIFED, LEAST_ITEMS, WITH_INTERVAL, intervals
from normalizer.calibration.measures import compare


def floats(values) -> list[float]:
    """The ends of an interval, or other numbers, none of which is None."""
    assert values is not None
    return [float(value) for value in values]


def pairs_of(n, levels, right, seed):
    rng = random.Random(seed)
    found = []
    for _ in range(n):
        gold = rng.randrange(levels)
        found.append((Fraction(gold if rng.random() < right else rng.randrange(levels), 2), Fraction(gold, 2)))
    return found


@pytest.mark.parametrize(("levels", "seed"), [(2, 1), (3, 2), (11, 3)])
def test_jackknife_intervals_are_those_of_leaving_out_every_item_plainly(levels, seed):
    """Ours works on counts of cells and in floating point; here each measure is exact, from the items that are left."""
    pairs = pairs_of(30, levels, 0.6, seed)
    n, whole = len(pairs), compare(pairs)[0]
    without = [compare([*pairs[:at], *pairs[at + 1 :]])[0] for at in range(n)]
    found = intervals(pairs)
    for name in JACKKNIFED:
        values = np.array(floats(each[name] for each in without))
        [value] = floats([whole[name]])
        error = math.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum()) / (1 - value**2)
        half = t.ppf(0.975, n - 1) * error
        expected = [math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)]
        assert floats(found[name]) == pytest.approx(expected, abs=1e-6), name


def test_means_and_shares_have_the_intervals_of_statsmodels():
    pairs = pairs_of(40, 3, 0.5, 4)
    gaps = np.array([float(judge - gold) for judge, gold in pairs])
    found = intervals(pairs)
    expected = {
        "exact": proportion_confint((gaps == 0).sum(), len(gaps), method="wilson"),
        "bias": DescrStatsW(gaps).tconfint_mean(),
    }
    logs = DescrStatsW(abs(gaps))
    half = t.ppf(0.975, len(gaps) - 1) * logs.std_mean / logs.mean
    expected["mae"] = (logs.mean * math.exp(-half), logs.mean * math.exp(half))
    for name, ends in expected.items():
        assert floats(found[name]) == pytest.approx(ends, abs=1e-6), name


def test_in_large_samples_the_errors_are_the_asymptotic_ones():
    """Kappa's by Fleiss, Cohen and Everitt in statsmodels; that of r of normal data is 1 / sqrt(n - 3) on z."""
    pairs = pairs_of(1000, 3, 0.6, 5)
    table = np.zeros((3, 3))
    for judge, gold in pairs:
        table[int(judge * 2), int(gold * 2)] += 1
    known = cohens_kappa(table)
    low, high = floats(intervals(pairs)["kappa"])
    assert high - low == pytest.approx(known.kappa_upp - known.kappa_low, rel=0.02)
    rng = np.random.default_rng(6)
    x = rng.normal(size=800)
    y = x + rng.normal(size=800)
    normal = [(Fraction(round(a * 1000), 1000), Fraction(round(b * 1000), 1000)) for a, b in zip(x, y, strict=True)]
    known = pearsonr(x, y).confidence_interval()
    assert floats(intervals(normal)["pearson"]) == pytest.approx([known.low, known.high], abs=0.01)


def test_without_enough_items_or_with_a_perfect_judge_there_is_no_jackknife_interval():
    few = intervals(pairs_of(LEAST_ITEMS - 1, 3, 0.6, 1))
    assert all(few[name] is None for name in JACKKNIFED)
    assert few["exact"] is not None
    perfect = [(Fraction(at % 3), Fraction(at % 3)) for at in range(30)]
    found = intervals(perfect)
    assert all(found[name] is None for name in (*JACKKNIFED, "mae"))
    low, high = floats(found["exact"])
    assert low < 1 == high
    assert intervals([]) == dict.fromkeys(WITH_INTERVAL)


@given(st.lists(st.tuples(st.integers(0, 3).map(Fraction), st.integers(0, 3).map(Fraction)), min_size=2, max_size=40))
def test_every_interval_holds_its_own_measure_and_stays_in_range(pairs):
    measures, _ = compare(pairs)
    for name, ends in intervals(pairs).items():
        if ends is not None:
            low, high = floats(ends)
            [value] = floats([measures[name]])
            assert low - 1e-6 <= value <= high + 1e-6
            if name not in ("bias", "mae"):
                assert -1 <= low <= high <= 1
