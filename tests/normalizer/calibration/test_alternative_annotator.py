"""The alternative-annotator test, done again with SciPy and statsmodels."""

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp
from statsmodels.stats.multitest import multipletests

from normalizer.calibration.alternative_annotator import find_p, try_alternatives
from normalizer.calibration.labels import Item, Labels, LabelStudy, Values

PEOPLE = ("anna", "ben", "cleo", "dora")


def study(judge_right, items=60, seed=1):
    rng = random.Random(seed)
    said: dict[Item, dict[str, Values]] = {}
    for number in range(items):
        truth = rng.randrange(3)
        right = {**dict.fromkeys(PEOPLE, 0.8), "judge": judge_right}
        said[str(number), None] = {
            name: (Fraction(truth if rng.random() < share else rng.randrange(3)),) for name, share in right.items()
        }
    people = {item: {name: given[name] for name in PEOPLE} for item, given in said.items()}
    judged = {item: {"judge": given["judge"]} for item, given in said.items()}
    return LabelStudy(Labels(judged, {}, frozenset()), Labels(people, {}, frozenset()), "median"), said


@pytest.mark.parametrize("judge_right", [0.9, 0.75, 0.2])
def test_the_test_is_that_of_scipy_and_statsmodels(judge_right):
    found, said = study(judge_right, items=150)
    [row] = try_alternatives(found)["judges"]
    ps, advantages = [], []
    for left in PEOPLE:
        judge, person = [], []
        for given in said.values():
            others = [float(given[name][0]) for name in PEOPLE if name != left]
            far = [
                np.sqrt(np.mean([(float(given[who][0]) - other) ** 2 for other in others])) for who in ("judge", left)
            ]
            judge.append(float(far[0] <= far[1] + 1e-12))
            person.append(float(far[1] <= far[0] + 1e-12))
        ps.append(ttest_1samp(np.array(person) - np.array(judge), 0.1, alternative="less").pvalue)
        advantages.append(np.mean(judge))
    wins = multipletests(ps, alpha=0.05, method="fdr_by")[0]
    assert [float(each["p"]) for each in row["annotators"]] == pytest.approx(ps, abs=1e-6)
    assert [each["wins"] for each in row["annotators"]] == wins.tolist()
    assert float(row["winning_rate"]) == pytest.approx(wins.mean())
    assert float(row["advantage"]) == pytest.approx(np.mean(advantages), abs=1e-6)
    assert row["passes"] == (wins.mean() >= 0.5)


def test_few_annotators_or_items_give_no_test():
    found, _ = study(0.9, items=20)
    [row] = try_alternatives(found)["judges"]
    assert (row["passes"], row["winning_rate"]) == (None, None)
    assert "fewer than 30 items" in row["na"]


def test_answers_about_one_item_are_one_item():
    """Ten items with six answers each are ten items, not sixty."""
    found, _ = study(0.9)
    several = [
        Labels({(str(int(name) % 10), name): given for (name, _), given in side.by_item.items()}, {}, frozenset())
        for side in (found.judged, found.annotated)
    ]
    [row] = try_alternatives(LabelStudy(several[0], several[1], "median"))["judges"]
    assert "fewer than 30 items" in row["na"]


@pytest.mark.parametrize(("difference", "most"), [(0, 0.9), (-1, 0.45)])
def test_without_spread_p_is_what_the_worst_distribution_allows(difference, most):
    """Where all items are alike: the greatest share of such items under a mean of epsilon, the others being 1."""
    items: list[Item] = [(str(n), None) for n in range(30)]
    assert find_p([Fraction(difference)] * 30, items) == pytest.approx(most**30)
    assert find_p([Fraction(1, 10)] * 30, items) == 1.0


@pytest.mark.parametrize(("items", "closer"), [(30, 1), (60, 3), (100, 6)])
def test_where_few_items_differ_p_is_that_of_the_binomial_test(items, closer):
    """Student's t passed judges in 20 % of studies of 30 items on which the person is closer in 10 %."""
    gaps = [Fraction(at < closer) for at in range(items)]
    found = find_p(gaps, [(str(at), None) for at in range(items)])
    assert found == pytest.approx(binom.cdf(closer, items, 0.1), abs=1e-9)
