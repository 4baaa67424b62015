"""Intervals over judges, by hand and in the limits."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import t

from normalizer.estimation.over_judges import JudgedValue, gather_panels, interval_over_judges

SCALE = (Fraction(-100), Fraction(100))


def labels_of(table):
    return [
        JudgedValue(f"i{i}", f"j{j}", Fraction(value)) for i, row in enumerate(table) for j, value in enumerate(row)
    ]


def test_the_interval_adds_the_variance_by_items_and_by_judges_each_with_its_own_t():
    table = np.array([[6, 7, 5], [8, 9, 6], [3, 5, 4], [7, 7, 7]])
    by_item, by_judge = table.mean(axis=1), table.mean(axis=0)
    parts = [t.ppf(0.975, len(means) - 1) ** 2 * means.var(ddof=1) / len(means) for means in (by_item, by_judge)]
    half = np.sqrt(sum(parts))
    found = interval_over_judges(gather_panels(labels_of(table.tolist())), SCALE)
    assert found is not None
    assert [float(end) for end in found] == pytest.approx([table.mean() - half, table.mean() + half])


def test_one_judge_says_nothing_about_others():
    assert interval_over_judges(gather_panels(labels_of([[6], [7], [8]])), SCALE) is None


def test_the_interval_does_not_leave_the_scale():
    found = interval_over_judges(gather_panels(labels_of([[0, 9], [9, 0], [9, 9]])), (Fraction(0), Fraction(9)))
    assert found == (Fraction(0), Fraction(9))


def test_items_count_alike_however_many_judges_they_had():
    few = [*labels_of([[2, 4], [6, 8]]), *(JudgedValue("i0", f"more{at}", Fraction(3)) for at in range(4))]
    found = interval_over_judges(gather_panels(few), SCALE)
    assert found is not None
    assert float(sum(found)) / 2 == pytest.approx(5.0)
