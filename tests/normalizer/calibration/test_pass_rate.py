"""Pass rates corrected for a judge's errors, by the formula and by draws of another generator."""

from fractions import Fraction

import numpy as np
import pytest

from normalizer.calibration.labels import Item, PairsByItem
from normalizer.calibration.pass_rate import correct_pass_rate


def labels(both, missed, right, wrong):
    """Items that pass and are passed, pass and are failed, fail and are failed, fail and are passed: (judge, gold)."""
    pairs = [(1, 1)] * both + [(0, 1)] * missed + [(0, 0)] * right + [(1, 0)] * wrong
    return {(str(at), None): (Fraction(judge), Fraction(gold)) for at, (judge, gold) in enumerate(pairs)}


def alone(passed, failed):
    """Items that the judge passed and failed, each about an artifact of its own."""
    values = [Fraction(1)] * passed + [Fraction(0)] * failed
    return {(f"more {at}", None): value for at, value in enumerate(values)}


def test_the_estimate_is_rogan_and_gladens_and_the_interval_that_of_beta_distributions():
    found = correct_pass_rate(labels(40, 10, 27, 3), alone(120, 80))
    assert found is not None
    assert (float(found["sensitivity"]), float(found["specificity"]), float(found["judge_rate"])) == (0.8, 0.9, 0.6)
    assert float(found["corrected"]) == pytest.approx((0.6 + 0.9 - 1) / (0.8 + 0.9 - 1), abs=1e-6)
    rng = np.random.default_rng(1)
    expected = []
    for low, share in ((0.25, 0.025), (0.75, 0.975)):  # the prior leans to the end: few passes, few missed, many wrong
        high = 1 - low
        se, sp = rng.beta(40 + high, 10 + low, 40000), rng.beta(27 + low, 3 + high, 40000)
        q = rng.beta(120 + low, 80 + high, 40000)
        expected.append(np.quantile(np.clip((q + sp - 1) / (se + sp - 1), 0, 1), share))
    assert [float(end) for end in found["ci95"]] == pytest.approx(expected, abs=0.01)


def test_a_judge_that_says_nothing_about_gold_gives_no_corrected_rate():
    found = correct_pass_rate(labels(10, 10, 10, 10), alone(50, 0))
    assert found is not None
    assert found["corrected"] is None
    assert "tells the two values apart" in found["na"]


def test_labels_with_other_than_two_values_have_no_pass_rate():
    assert correct_pass_rate({("a", None): (Fraction(2), Fraction(1))}, alone(0, 1)) is None


def test_answers_about_one_artifact_that_are_all_alike_count_once():
    """Five times the same answers of each artifact say no more than one of them does, and so few say a little less."""
    once, unlabelled = labels(40, 10, 27, 3), alone(120, 80)
    five: PairsByItem = {(artifact, f"g{at}"): pair for (artifact, _), pair in once.items() for at in range(5)}
    more: dict[Item, Fraction] = {
        (artifact, f"g{at}"): value for (artifact, _), value in unlabelled.items() for at in range(5)
    }
    single, repeated = correct_pass_rate(once, unlabelled), correct_pass_rate(five, more)
    assert single is not None
    assert repeated is not None
    assert repeated["corrected"] == single["corrected"]
    narrow, wide = ([float(end) for end in found["ci95"]] for found in (single, repeated))
    assert wide == pytest.approx(narrow, abs=0.03)
    assert wide[1] - wide[0] >= narrow[1] - narrow[0]
