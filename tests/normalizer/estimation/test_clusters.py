"""Clusters of values, and the robust variance of their mean."""

from collections import Counter
from fractions import Fraction
from operator import itemgetter

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from normalizer.estimation.clusters import ALIKE, Clusters, count_by_item, count_phrase, gather, robust_variance


def clusters_of(groups):
    return Clusters(Counter((Fraction(sum(group)), len(group)) for group in groups))


VALUES = st.lists(st.tuples(st.integers(0, 20), st.sampled_from(["a", "b", "c", "d", None])), min_size=1, max_size=30)


@given(VALUES)
def test_values_of_one_item_are_one_cluster_and_values_without_an_item_are_clusters_of_their_own(drawn):
    clusters = gather([Fraction(value) for value, _ in drawn], [item for _, item in drawn])
    items = [item for _, item in drawn]
    assert clusters.clusters == len({item for item in items if item}) + items.count(None)
    assert clusters.values == len(drawn)
    assert clusters.mean == Fraction(sum(value for value, _ in drawn), len(drawn))
    assert sum(clusters.sums()) == sum(value for value, _ in drawn)


@given(VALUES)
def test_values_that_come_item_by_item_are_counted_as_if_they_were_kept(drawn):
    ordered = sorted(((Fraction(value), item) for value, item in drawn if item), key=itemgetter(1))
    values = [value for value, _ in ordered]
    assert count_by_item(iter(ordered)) == (Counter(values), gather(values, [item for _, item in ordered]))


@given(VALUES, st.randoms())
def test_clusters_do_not_depend_on_the_names_or_the_order_of_items(drawn, shuffler):
    names = {"a": "z", "b": 7, "c": (), "d": "", None: None}
    changed = [(Fraction(value), names[item]) for value, item in drawn]
    shuffler.shuffle(changed)
    renamed = gather([value for value, _ in changed], [item for _, item in changed])
    assert renamed == gather([Fraction(value) for value, _ in drawn], [item for _, item in drawn])


def test_a_number_says_how_many_items_its_values_are_from():
    values = [Fraction(1)] * 12
    assert count_phrase(gather(values, [place % 3 for place in range(12)]), "pairs", "questions") == (
        "12 pairs from 3 questions"
    )
    assert count_phrase(gather(values), "pairs", "questions") == "12 pairs"


def test_with_equal_clusters_the_robust_variance_is_the_usual_one_with_a_degree_of_freedom_less_than_clusters():
    sums = [Fraction(value) for value in (3, 9, 4, 4, 7)]
    variance, freedom = robust_variance(Clusters(Counter((total, 2) for total in sums)))
    assert freedom == pytest.approx(4)
    assert float(variance) == pytest.approx(np.var([float(each) / 2 for each in sums], ddof=1) / 5)


@given(st.lists(st.lists(st.integers(0, 10), min_size=1, max_size=6), min_size=2, max_size=8))
def test_the_robust_variance_and_its_freedom_are_those_of_the_definition_by_matrices(groups):
    sizes = [len(group) for group in groups]
    n = sum(sizes)
    variance, freedom = robust_variance(clusters_of(groups))
    values = np.concatenate(groups).astype(float)
    owner = np.repeat(range(len(groups)), sizes)
    hat = np.full((n, n), 1 / n)
    residuals = values - values.mean()
    total, columns = 0.0, []
    for place in range(len(groups)):
        mine = owner == place
        roots, vectors = np.linalg.eigh(np.eye(mine.sum()) - hat[np.ix_(mine, mine)])
        adjust = vectors @ np.diag(roots**-0.5) @ vectors.T
        total += float((adjust @ residuals[mine]).sum()) ** 2 / n**2
        columns.append((np.eye(n) - hat)[:, mine] @ adjust @ np.ones(mine.sum()) / n)
    alike = ALIKE * (owner[:, None] == owner) + (1 - ALIKE) * np.eye(n)
    inner = np.array(columns) @ alike @ np.array(columns).T
    assert float(variance) == pytest.approx(total)
    assert freedom == pytest.approx(np.trace(inner) ** 2 / np.trace(inner @ inner))


def test_intervals_of_items_with_unequal_numbers_of_answers_hold_their_mean():
    """Three items of ten answers among twenty, answers about one item nearly alike: 91 % with independent answers."""
    rng = np.random.default_rng(1)
    sizes = [10] * 3 + [1] * 17
    held = 0
    for _ in range(400):
        means = rng.normal(size=20)
        found = Clusters(
            Counter((Fraction(round(1000 * mean) * size, 1000), size) for mean, size in zip(means, sizes, strict=True))
        )
        variance, freedom = robust_variance(found)
        held += abs(float(found.mean)) <= stats.t.ppf(0.975, freedom) * float(variance) ** 0.5
    assert held / 400 > 0.94


def test_without_its_correction_the_robust_variance_is_that_of_statsmodels():
    groups = [[1, 4, 2], [8], [3, 3], [9, 10, 7, 8], [5, 1]]
    owner = np.repeat(range(5), [len(group) for group in groups])
    fit = sm.OLS(np.concatenate(groups), np.ones(12)).fit(cov_type="cluster", cov_kwds={"groups": owner})
    n, mean = 12, np.concatenate(groups).mean()
    plain = sum((sum(group) - len(group) * mean) ** 2 for group in groups) / n**2 * 5 / 4
    assert plain == pytest.approx(fit.bse[0] ** 2)
    corrected, _ = robust_variance(clusters_of(groups))
    assert float(corrected) == pytest.approx(
        sum((sum(g) - len(g) * mean) ** 2 / (1 - len(g) / n) for g in groups) / n**2
    )
