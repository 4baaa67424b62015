"""The pairs that a test needs: by hand where all pairs are equal, and by simulated runs."""

import random
from fractions import Fraction
from math import ceil, log

import pytest

from normalizer.estimation.clusters import gather
from normalizer.estimation.paired_test import SCALE, examine_differences
from normalizer.estimation.pairs_needed import (
    Aim,
    clusters_to_show,
    detectable_gain,
    least,
    like,
    of_deviation,
    power_to_show,
)


@pytest.mark.parametrize("margin", [0.1, 0.5, 2])
def test_equal_pairs_pass_as_soon_as_so_rare_a_loss_as_the_margin_would_have_shown(margin):
    known = like(gather([Fraction(0)] * 3))
    assert clusters_to_show(known, Aim(0.0, -margin), 10, 0.05) == ceil(log(0.025) / log(1 - margin / 10))


def test_no_margin_and_one_that_no_run_can_pass_need_no_number_of_pairs():
    known = of_deviation(1.0)
    assert clusters_to_show(known, Aim(0.0, 0.0), 10, 0.05) is None
    assert clusters_to_show(known, Aim(0.0, -1e-7), 10, 0.05) is None


@pytest.mark.parametrize("aim", [Aim(0.0, -0.5), Aim(0.5, 0.0)])
def test_power_and_pairs_are_of_one_reckoning_and_grow_together(aim):
    known = of_deviation(1.4)
    pairs = clusters_to_show(known, aim, 10, 0.05) or 0
    powers = [power_to_show(known, aim, 10, 0.05, count) for count in (pairs - 1, pairs, 2 * pairs)]
    assert powers[0] < 0.8 <= powers[1] < powers[2]
    often = of_deviation(1.4)._replace(always_valid=True)
    assert (clusters_to_show(often, aim, 10, 0.05) or 0) > pairs


@pytest.mark.parametrize("always_valid", [False, True])
def test_four_runs_in_five_of_the_size_needed_pass_and_show_the_detectable_gain(always_valid):
    rng = random.Random(4)

    def draw(pairs, gain=0):
        return gather([Fraction(rng.choice((-3, -1, 0, 0, 1, 3)) + gain) for _ in range(pairs)])

    def examine(clusters):
        return examine_differences(clusters, Fraction(10), SCALE, always_valid=always_valid)

    known = like(draw(3000), always_valid=always_valid)
    pairs = clusters_to_show(known, Aim(0.0, -0.6), 10, 0.05)
    passed = sum(examine(draw(pairs)).interval[0] >= Fraction(-6, 10) for _ in range(150))
    assert 0.7 <= passed / 150 <= 0.93
    enough = clusters_to_show(known, Aim(0.6, 0.0), 10, 0.05)
    found = sum(examine(draw(enough, Fraction(6, 10))).interval[0] >= 0 for _ in range(150))
    assert 0.7 <= found / 150 <= 0.93
    smaller = known._replace(
        clusters=60.0,
        error=known.error * (known.clusters / 60) ** 0.5,
        points=[point._replace(clusters=point.clusters * 60 / known.clusters) for point in known.points],
    )
    gain = Fraction(round(1000 * detectable_gain(smaller, 10, 0.05)), 1000)
    shown = sum(examine(draw(60, gain)).interval[0] > 0 for _ in range(150))
    assert 0.7 <= shown / 150 <= 0.93


def test_the_least_number_that_holds_is_found():
    for limit in (1, 2, 3, 7, 64, 99):
        assert least(limit.__le__, 1, 100) == limit
    assert least(lambda number: number >= 5, 10, 100) == 10
