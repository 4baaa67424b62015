"""Variance components against lme4's own test of an example, the analysis of variance, and statsmodels."""

import numpy as np
import pytest
import statsmodels.formula.api as smf

from normalizer.estimation.crossed_effects import fit_components

pd = pytest.importorskip("pandas")

DYESTUFF = [
    [1545, 1440, 1440, 1520, 1580],
    [1540, 1555, 1490, 1560, 1495],
    [1595, 1550, 1605, 1510, 1560],
    [1445, 1440, 1595, 1465, 1545],
    [1595, 1630, 1515, 1635, 1625],
    [1520, 1455, 1450, 1480, 1445],
]
"""Yields of six batches of dyestuff: lme4's Dyestuff, from Davies and Goldsmith (1972), section 6.4."""

PENICILLIN = """
27 23 26 23 23 21
27 23 26 23 23 21
25 21 25 24 24 20
26 23 25 23 23 20
25 22 26 22 23 20
24 22 25 23 22 19
24 20 23 21 22 19
26 22 26 24 24 21
24 21 24 22 22 20
24 21 24 23 22 19
26 23 26 24 24 21
25 22 26 24 24 20
26 24 26 24 25 22
26 23 26 23 23 20
26 23 25 24 24 22
25 22 25 23 23 20
25 21 24 23 23 20
25 22 24 23 23 19
24 21 23 21 21 19
26 23 26 24 24 21
25 21 24 22 22 18
25 22 25 22 22 20
24 21 24 22 24 19
24 21 24 22 21 18
"""
"""Diameters around six samples of penicillin on each of 24 plates: lme4's Penicillin (Davies and Goldsmith, 6.6)."""
PASTES = """
62.8 62.6 60.1 62.3 62.7 63.1
60.0 61.4 57.5 56.9 61.1 58.9
58.7 57.5 63.9 63.1 65.4 63.7
57.1 56.4 56.9 58.6 64.7 64.5
55.1 55.1 54.7 54.2 58.8 57.5
63.4 64.9 59.3 58.1 60.5 60.0
62.5 62.6 61.0 58.7 56.9 57.7
59.2 59.4 65.2 66.0 64.8 64.1
54.8 54.8 64.0 64.0 57.7 56.8
58.3 59.3 59.2 59.2 58.9 56.6
"""
"""Strengths of paste: ten batches, three casks of each, two tests of each: lme4's Pastes (section 6.5)."""


def read_rows(text):
    return [[float(value) for value in line.split()] for line in text.split("\n")[1:-1]]


def test_the_example_of_lme4_has_the_components_that_its_tests_have():
    """tests/testthat/test-lmer.R of lme4: variance 1764.05006, sigma 49.5101, mean 1527.5, criterion 319.654277."""
    values = [float(value) for row in DYESTUFF for value in row]
    found = fit_components(values, [batch for batch, row in enumerate(DYESTUFF) for _ in row], None)
    assert (found.item, found.residual) == pytest.approx((1764.05, 2451.25), abs=1e-4)
    assert (found.mean, found.criterion) == pytest.approx((1527.5, 319.6543), abs=1e-4)


def test_crossed_effects_of_lme4s_penicillin_are_those_that_it_prints():
    """Standard deviations 0.8467 (plate), 1.9316 (sample), 0.5499, mean 22.9722, criterion 330.8606."""
    rows = read_rows(PENICILLIN)
    places = [(plate, sample) for plate in range(24) for sample in range(6)]
    values = [rows[plate][sample] for plate, sample in places]
    found = fit_components(values, [plate for plate, _ in places], None, [[sample for _, sample in places]])
    deviations = [found.item**0.5, found.others[0] ** 0.5, found.residual**0.5]
    assert deviations == pytest.approx([0.8467, 1.9316, 0.5499], abs=5e-5)
    assert (found.mean, found.criterion) == pytest.approx((22.9722, 330.8606), abs=5e-5)


def test_nested_effects_of_lme4s_pastes_are_those_that_it_prints():
    """Standard deviations 2.9041 (cask within batch), 1.2874 (batch), 0.8234, mean 60.0533, criterion 246.9907."""
    rows = read_rows(PASTES)
    batches = [batch for batch in range(10) for _ in range(6)]
    casks = [place // 2 for place in range(60)]
    found = fit_components([value for row in rows for value in row], batches, casks)
    deviations = [found.answer**0.5, found.item**0.5, found.residual**0.5]
    assert deviations == pytest.approx([2.9041, 1.2874, 0.8234], abs=5e-5)
    assert (found.mean, found.criterion) == pytest.approx((60.0533, 246.9907), abs=5e-5)


def test_balanced_crossed_values_have_the_components_of_an_analysis_of_variance():
    """With one value for each item and judge, REML is the method of moments, unless a component would be negative."""
    rng = np.random.default_rng(2)
    table = 2 * rng.normal(size=(12, 1)) + rng.normal(size=(1, 5)) + rng.normal(size=(12, 5))
    items, judges = np.divmod(np.arange(60), 5)
    found = fit_components(table.ravel().tolist(), items.tolist(), None, [judges.tolist()])
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    noise = (rest**2).sum() / (11 * 4)
    expected = [table.mean(axis=1).var(ddof=1) - noise / 5, table.mean(axis=0).var(ddof=1) - noise / 12, noise]
    assert [found.item, *found.others, found.residual] == pytest.approx(expected, abs=1e-6)


def test_unbalanced_nested_and_crossed_values_have_the_components_of_statsmodels():
    rng = np.random.default_rng(3)
    item, answer, judge = (rng.normal(size=size) for size in (12, (12, 3), 4))
    rows = [
        (i, f"{i}/{g}", j, 1.5 * item[i] + answer[i, g] + judge[j] + rng.normal())
        for i in range(12)
        for g in range(3)
        for j in range(4)
        if rng.random() < 0.7
    ]
    frame = pd.DataFrame(rows, columns=["item", "answer", "judge", "value"]).assign(one=1)
    parts = {name: f"0 + C({name})" for name in ("item", "answer", "judge")}
    other = smf.mixedlm("value ~ 1", frame, groups="one", vc_formula=parts).fit(reml=True)
    expected = dict(zip(other.model.exog_vc.names, other.vcomp, strict=True))
    found = fit_components(frame.value.tolist(), frame.item.tolist(), frame.answer.tolist(), [frame.judge.tolist()])
    assert found.criterion <= -2 * other.llf + 1e-6
    assert found.criterion == pytest.approx(-2 * other.llf, abs=1e-4)
    assert (found.item, found.answer) == pytest.approx((expected["item"], expected["answer"]), rel=0.02)
    assert (found.others[0], found.residual) == pytest.approx((expected["judge"], other.scale), rel=0.02)


def test_a_component_that_would_be_negative_is_0():
    values = [float(value) for value in (1, 9, 2, 8, 1, 9, 2, 8)]
    found = fit_components(values, [0, 0, 1, 1, 2, 2, 3, 3], None)
    assert found.item == 0
    assert found.residual == pytest.approx(np.var(values, ddof=1))
