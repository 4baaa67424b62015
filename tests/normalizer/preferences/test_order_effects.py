"""The interval of consistency across orders, against cluster-robust errors of statsmodels."""

import random

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.proportion import proportion_confint

from normalizer.aggregate.intervals import Method
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.rates import order_effects
from normalizer.preferences.verdicts import tabulate

METHOD = Method(bootstrap=True, resamples=100)


def twice(item: int, pair: tuple[str, str], *, same: bool) -> list[Comparison]:
    """One pair of answers in both orders, with one winner or with two."""
    winners = {"a": "a", "b": "a" if same else "b"}
    return [
        Comparison(str(item), *pair, winners[first], None, first, "judge", 0, None, None, self_judged=False)
        for first in ("a", "b")
    ]


def drawn(items: int, seed: int, *, together: bool) -> tuple[list[Comparison], np.ndarray, np.ndarray]:
    """Comparisons of three pairs an item; with `together`, those of an item are all consistent or all not."""
    rng = random.Random(seed)
    found, outcomes, clusters = [], [], []
    for item in range(items):
        shared = rng.random() < 0.6
        for pair in (("x", "y"), ("x", "z"), ("y", "z")):
            same = shared if together else rng.random() < 0.6
            found += twice(item, pair, same=same)
            outcomes.append(float(same))
            clusters.append(item)
    return found, np.array(outcomes), np.array(clusters)


@pytest.mark.parametrize("seed", range(5))
def test_items_whose_comparisons_go_together_count_for_less(seed):
    comparisons, outcomes, clusters = drawn(30, seed, together=True)
    swapped = order_effects(tabulate(comparisons), METHOD)["swapped"]
    fitted = sm.OLS(outcomes, np.ones(len(outcomes))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    variance = fitted.cov_params()[0, 0] * 30 / 29
    mean = outcomes.mean()
    worth = mean * (1 - mean) / variance
    assert worth == pytest.approx(30, rel=0.05)  # as many as there are items
    expected = proportion_confint(worth * mean, worth, method="beta")
    assert [float(end) for end in swapped["exact95"]] == pytest.approx(expected, abs=1e-6)
    assert float(swapped["consistency"]) == pytest.approx(mean, abs=1e-6)


def test_never_more_than_the_comparisons_themselves():
    comparisons, outcomes, _ = drawn(30, 1, together=False)
    low, high = map(float, order_effects(tabulate(comparisons), METHOD)["swapped"]["exact95"])
    expected = proportion_confint(outcomes.sum(), len(outcomes), method="beta")
    assert low <= expected[0] + 1e-6
    assert high >= expected[1] - 1e-6


def judged(item: int, winner: str, first: str) -> Comparison:
    return Comparison(str(item), "x", "y", winner, None, first, "judge", 0, None, None, self_judged=False)


def test_verdicts_of_several_runs_are_each_paired_with_each_of_the_other_order():
    rng = random.Random(3)
    runs = [
        [judged(item, rng.choice(("a", "b", "draw", "missing")), first) for item in range(40) for first in "ab"]
        for _ in range(2)
    ]
    swapped = order_effects(tabulate(runs[0] + runs[1]), METHOD)["swapped"]
    same = [
        one.winner == other.winner
        for run in runs
        for one in run
        if one.first == "a" and one.winner != "missing"
        for others in runs
        for other in others
        if (other.item, other.first) == (one.item, "b") and other.winner != "missing"
    ]
    assert (swapped["pairs"], swapped["decided"], swapped["consistent"]) == (160, len(same), sum(same))
    assert sum(cell["n"] for cell in swapped["table"]) == 160


def test_pairs_that_share_verdicts_do_not_narrow_the_interval():
    once = [judged(item, "a" if item % 3 else first, first) for item in range(30) for first in "ab"]
    assert (
        order_effects(tabulate(once * 2), METHOD)["swapped"]["exact95"]
        == order_effects(tabulate(once), METHOD)["swapped"]["exact95"]
    )


def test_comparisons_that_are_all_consistent_count_as_one_an_item():
    comparisons = [one for item in range(8) for other in "yz" for one in twice(item, ("x", other), same=True)]
    low, high = map(float, order_effects(tabulate(comparisons), METHOD)["swapped"]["exact95"])
    assert (low, high) == pytest.approx(proportion_confint(8, 8, method="beta"), abs=1e-6)
