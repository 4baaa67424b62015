"""Intervals of agreement and correlation, against the jackknife done plainly, statsmodels, SciPy and other draws."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, t
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from normalizer.calibration.measures import compare
from normalizer.statistics.agreement_intervals import LEAST_ITEMS, MOST_CELLS, MOST_LEVELS, find_intervals
from normalizer.statistics.cell_table import MEASURES, CellTable

ON_Z = tuple(name for name in MEASURES if name not in ("exact", "mae", "bias"))


def floats(values) -> list[float]:
    """The ends of an interval, or other numbers, none of which is None."""
    assert values is not None
    return [float(value) for value in values]


def alone(pairs):
    """A name for each pair: every answer is about an item of its own."""
    return [str(number) for number in range(len(pairs))]


def pairs_of(n, levels, right, seed):
    rng = random.Random(seed)
    found = []
    for _ in range(n):
        gold = rng.randrange(levels)
        found.append((Fraction(gold if rng.random() < right else rng.randrange(levels), 2), Fraction(gold, 2)))
    return found


def plain_kappa(cells, weights):
    return cohen_kappa_score(*zip(*cells, strict=True), sample_weight=weights)


def plain_pearson(cells, weights):
    covariance = np.cov(np.array(cells, dtype=float).T, aweights=weights)
    return covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])


@pytest.mark.parametrize(("measure", "plain"), [("kappa", plain_kappa), ("pearson", plain_pearson)])
def test_with_many_values_the_ends_are_those_of_dirichlet_draws_with_a_corner_of_the_scale_in_reserve(measure, plain):
    """Ours are quantiles in fixed orders; here they come from another generator, measured by others."""
    pairs = pairs_of(30, MOST_LEVELS + 4, 0.6, 3)
    scale = Fraction(0), Fraction(8)
    rng = np.random.default_rng(5)
    ends = []
    low, high = scale
    reserves = [{corner: 0.125} for corner in itertools.product(scale, repeat=2)]
    if measure == "kappa":
        reserves += [{(low, low): 0.5, (high, high): 0.5}, {(low, high): 0.5, (high, low): 0.5}]
    for reserve in reserves:
        cells = [(int(2 * one), int(2 * other)) for one, other in [*pairs, *reserve]]
        drawn = rng.gamma([1.0] * len(pairs) + [*reserve.values()], size=(2000, len(cells)))
        ends.append(np.quantile([plain(cells, weights) for weights in drawn], [0.025, 0.975]))
    expected = [min(end[0] for end in ends), max(end[1] for end in ends)]
    found = floats(find_intervals(pairs, alone(pairs), scale=scale)[measure])
    assert found == pytest.approx(expected, abs=0.06)  # both are drawn, and the corner makes a long tail


def test_where_many_values_all_agree_kappa_is_known_no_better_than_the_share_that_agrees():
    pairs = [(Fraction(value), Fraction(value)) for value in range(20)]
    found = find_intervals(pairs, alone(pairs), scale=(Fraction(0), Fraction(100)))
    for name in ("kappa", "ac1"):  # 20 values leave hardly anything to chance
        assert floats(found[name]) == pytest.approx(floats(found["exact"]), abs=0.02)


def test_intervals_lie_between_minus_1_and_1_where_the_ends_of_the_scale_were_not_seen():
    pairs = [(Fraction(4), Fraction(5)), (Fraction(5), Fraction(4))] * 5
    found = find_intervals(pairs, alone(pairs), scale=(Fraction(1), Fraction(5)))
    for name in ON_Z:
        low, high = floats(found[name])
        assert -1 <= low <= high <= 1, name


def test_with_very_many_pairs_of_values_intervals_are_those_of_leaving_out_every_item_plainly():
    rng = random.Random(2)
    gold = [rng.randrange(1000) for _ in range(MOST_CELLS + 50)]
    pairs = [(Fraction(value + rng.randrange(300)), Fraction(value)) for value in gold]
    found = find_intervals(pairs, alone(pairs))
    x, y = (np.array(floats(side)) for side in zip(*pairs, strict=True))
    n = len(pairs)
    value = float(np.corrcoef(x, y)[0, 1])
    values = np.array([np.corrcoef(np.delete(x, at), np.delete(y, at))[0, 1] for at in range(n)])
    half = t.ppf(0.975, (n - 1) / 2) * math.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum()) / (1 - value**2)
    expected = [math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)]
    assert floats(found["pearson"]) == pytest.approx(expected, abs=1e-6)


def test_accuracy_has_the_interval_of_statsmodels():
    pairs = pairs_of(40, 3, 0.5, 4)
    equal = sum(judge == gold for judge, gold in pairs)
    found = find_intervals(pairs, alone(pairs))
    assert floats(found["exact"]) == pytest.approx(proportion_confint(equal, 40, method="beta"), abs=1e-6)


def test_with_few_values_the_ends_are_those_of_dirichlet_draws_of_another_generator():
    pairs = pairs_of(25, 3, 0.7, 8)
    levels = sorted({value for pair in pairs for value in pair})
    counts = np.array([[float(pairs.count((one, other))) for other in levels] for one in levels])
    same = np.eye(3)
    rng = np.random.default_rng(5)
    ends = []
    for side in (same, 1 - same):
        tables = rng.dirichlet((counts + 0.5 / 9 + 0.75 * side / side.sum()).ravel(), 1000).reshape(-1, 3, 3)
        cells = [(i, j) for i in range(3) for j in range(3)]
        labels = list(zip(*cells, strict=True))
        kappas = [cohen_kappa_score(*labels, sample_weight=table.ravel()) for table in tables]
        ends.append(np.quantile(kappas, [0.025, 0.975]))
    expected = [min(end[0] for end in ends), max(end[1] for end in ends)]
    assert floats(find_intervals(pairs, alone(pairs))["kappa"]) == pytest.approx(expected, abs=0.03)


def test_in_large_samples_the_errors_are_the_asymptotic_ones():
    """Kappa's by Fleiss, Cohen and Everitt in statsmodels; that of r of normal data is 1 / sqrt(n - 3) on z."""
    pairs = pairs_of(1000, 3, 0.6, 5)
    table = np.zeros((3, 3))
    for judge, gold in pairs:
        table[int(judge * 2), int(gold * 2)] += 1
    known = cohens_kappa(table)
    low, high = floats(find_intervals(pairs, alone(pairs))["kappa"])
    assert high - low == pytest.approx(known.kappa_upp - known.kappa_low, rel=0.06)
    rng = np.random.default_rng(6)
    x = rng.normal(size=800)
    y = x + rng.normal(size=800)
    normal = [(Fraction(round(a * 1000), 1000), Fraction(round(b * 1000), 1000)) for a, b in zip(x, y, strict=True)]
    known = pearsonr(x, y).confidence_interval()
    assert floats(find_intervals(normal, alone(normal))["pearson"]) == pytest.approx([known.low, known.high], abs=0.01)


def test_answers_about_one_item_are_one_cluster():
    """Ten copies of each answer say no more than one, but for the small-sample correction."""
    pairs = pairs_of(40, 3, 0.6, 9)
    once = find_intervals(pairs, alone(pairs))
    copied = find_intervals(pairs * 10, alone(pairs) * 10)
    apart = find_intervals(pairs * 10, alone(pairs * 10))
    for name in MEASURES:
        widths = [high - low for low, high in (floats(found[name]) for found in (once, copied, apart))]
        assert widths[1] == pytest.approx(widths[0], rel=0.12), name
        assert widths[2] < widths[0] / 2, name


def test_few_items_have_no_interval_and_a_perfect_judge_has_one_with_width():
    pairs = pairs_of(LEAST_ITEMS - 1, 3, 0.6, 1)
    few = find_intervals(pairs, alone(pairs))
    assert [name for name in MEASURES if few[name] is not None] == ["exact", "mae", "bias"]
    perfect = [(Fraction(at % 3), Fraction(at % 3)) for at in range(30)]
    found = find_intervals(perfect, alone(perfect))
    for name in ("exact", *ON_Z):
        low, high = floats(found[name])
        assert low < 0.95, name
        assert high == 1, name
    assert floats(found["mae"])[0] == 0 < floats(found["mae"])[1]
    assert find_intervals([], []) == dict.fromkeys(MEASURES)


def test_ordinal_alpha_of_few_items_with_many_values_may_be_higher_than_it_looks():
    """Ranks of values that occur once are far apart: alpha of 20 close pairs held 0.96 in 83 of 100 samples."""
    label = random.Random(3)
    gold = [round(label.gauss(12, 4)) for _ in range(20_020)]
    pairs = [(Fraction(one), Fraction(one + round(label.gauss(0, 1)))) for one in gold]
    cells = Counter(pairs[20:])
    truth = float(CellTable(list(cells)).measure(np.array(list(cells.values()), dtype=float))["alpha_ordinal"])
    held = [
        floats(find_intervals(some, alone(some))["alpha_ordinal"])[1] >= truth
        for some in (pairs[start : start + 20] for start in range(20, 420, 20))
    ]
    assert held == [True] * 20


def test_a_judge_that_always_says_the_same_has_a_kappa_with_an_interval():
    """Kappa is 0 whichever item is left out: the jackknife gave 0 to 0."""
    pairs = [(Fraction(1), Fraction(at % 4 > 0)) for at in range(24)]
    low, high = floats(find_intervals(pairs, alone(pairs))["kappa"])
    assert low < 0 < high


VALUES = st.tuples(st.integers(0, 3).map(Fraction), st.integers(0, 3).map(Fraction))


@settings(max_examples=15)
@given(st.lists(VALUES, min_size=2, max_size=40))
def test_every_interval_has_width_holds_its_own_measure_and_stays_in_range(pairs):
    measures, _ = compare(pairs)
    for name, ends in find_intervals(pairs, alone(pairs)).items():
        if ends is not None:
            low, high = floats(ends)
            [value] = floats([measures[name]])
            assert low - 1e-6 <= value <= high + 1e-6
            assert low < high
            if name not in ("bias", "mae"):
                assert -1 <= low <= high <= 1


@settings(max_examples=15)
@given(st.lists(VALUES, min_size=2, max_size=30), st.permutations(range(30)))
def test_the_order_of_items_changes_no_interval(pairs, order):
    shuffled = [pairs[at] for at in order if at < len(pairs)]
    items = [f"q{at % 12}" for at in range(len(pairs))]
    moved = [items[at] for at in order if at < len(pairs)]
    assert find_intervals(pairs, items) == find_intervals(shuffled, moved)


@settings(max_examples=15)
@given(st.lists(st.tuples(*[st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])] * 2), min_size=2, max_size=30))
def test_turning_comparisons_changes_no_measure_and_no_interval(pairs):
    turned = [(1 - one, 1 - other) if at % 3 else (one, other) for at, (one, other) in enumerate(pairs)]
    assert compare(pairs, mirrored=True) == compare(turned, mirrored=True)
    assert find_intervals(pairs, alone(pairs), mirrored=True) == find_intervals(turned, alone(turned), mirrored=True)


@settings(max_examples=15)
@given(st.lists(VALUES, min_size=10, max_size=40))
def test_which_judge_is_named_first_changes_no_interval_but_the_sign_of_the_bias(pairs):
    """Renaming a judge may put it before or after the other."""
    items = [str(at // 2) for at in range(len(pairs))]
    one, other = find_intervals(pairs, items), find_intervals([(right, left) for left, right in pairs], items)
    for name in set(one) - {"bias"}:
        assert one[name] == other[name], name


@given(st.lists(VALUES, min_size=2, max_size=40))
def test_measures_of_a_table_are_the_exact_ones(pairs):
    cells = sorted(set(pairs))
    weights = np.array([float(pairs.count(cell)) for cell in cells])
    found = CellTable(cells).measure(weights)
    exact, _ = compare(pairs)
    for name in MEASURES:
        value = exact[name]
        if value is None:
            assert math.isnan(found[name])
        else:
            assert float(found[name]) == pytest.approx(float(value), abs=1e-9), name
