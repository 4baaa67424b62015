"""Variance of labels and means of generators, where judges are a sample."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from normalizer.statistics.generalizability import describe_generators, split_variance
from normalizer.statistics.judge_scores import Answer, Label
from normalizer.statistics.severity import JudgeModel

SCALE = (Fraction(0), Fraction(10))


def items_of(cells):
    """Items from labels of (item, generator, judge, total)."""
    answers: dict[int, dict[str, list[Label]]] = {}
    for item, generator, judge, total in cells:
        label = Label(judge, False, Fraction(round(1000 * total), 1000))
        answers.setdefault(item, {}).setdefault(generator, []).append(label)
    return Counter(tuple(Answer(name, tuple(labels)) for name, labels in of.items()) for of in answers.values())


def test_the_relative_coefficient_of_a_balanced_panel_is_cronbachs_alpha():
    """One generator, every judge on every item: Brennan (2001), section 2.1.3."""
    rng = np.random.default_rng(1)
    table = rng.normal(5, 1.5, (20, 1)) + rng.normal(0, 0.5, (1, 4)) + rng.normal(0, 1, (20, 4))
    labels = items_of((i, "g", f"j{j}", table[i, j]) for i in range(20) for j in range(4))
    found = split_variance(labels)
    rounded = np.array([float(label.total) for (answer,) in labels for label in answer.labels]).reshape(20, 4)
    alpha = 4 / 3 * (1 - rounded.var(axis=0, ddof=1).sum() / rounded.sum(axis=1).var(ddof=1))
    one, panel = found["coefficients"]
    assert (float(one["judges"]), float(panel["judges"])) == (1, 4)
    assert float(panel["relative"]) == pytest.approx(alpha, abs=1e-5)
    assert panel["absolute"] < panel["relative"]
    assert sum(float(row["share"]) for row in found["components"]) == pytest.approx(1, abs=1e-5)


def test_a_preference_of_judges_for_a_generator_is_told_from_their_severity():
    rng = np.random.default_rng(2)
    taste = {("j0", "g0"): 3.0, ("j1", "g1"): 3.0, ("j2", "g2"): 3.0}
    labels = items_of(
        (i, f"g{g}", f"j{j}", 5 + taste.get((f"j{j}", f"g{g}"), 0) + rng.normal(0, 0.3))
        for i in range(15)
        for g in range(3)
        for j in range(3)
    )
    shares = {row["factor"]: float(row["share"]) for row in split_variance(labels)["components"]}
    assert shares["taste"] > 0.8
    assert shares["judge"] < 0.05


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([(0, "g", "a", 1), (1, "g", "b", 2)], "no answer has two judges"),
        ([(0, "g", "a", 1), (0, "g", "b", 2)], "there is only one item"),
        ([(i, "g", j, 1) for i in (0, 1) for j in "ab"], "all labels are equal"),
    ],
)
def test_labels_that_say_nothing_about_judges_give_no_components(cells, why):
    assert split_variance(items_of(cells))["na"] == why


def test_adjusted_means_are_those_of_one_panel_for_all():
    """A harsh judge that only one generator had makes its raw mean lower, and not its adjusted one."""
    quality = {i: i % 5 for i in range(20)}
    cells = [(i, "g", j, 3 + quality[i] + add) for i in range(20) for j, add in (("mild", 1), ("harsh", -1))]
    cells += [(i, "h", j, 3 + quality[i] + add) for i in range(10) for j, add in (("mild", 1), ("harsh", -1))]
    cells += [(i, "h", "harsh", 3 + quality[i] - 1) for i in range(10, 20)]
    labels = items_of(cells)
    rows = {row["generator"]: row for row in describe_generators(labels, JudgeModel(labels), SCALE)}
    assert float(rows["g"]["mean"]) == 5
    assert float(rows["h"]["mean"]) == 4.5
    assert float(rows["g"]["adjusted"]) == float(rows["h"]["adjusted"]) == 5


def test_the_interval_of_an_adjusted_mean_is_about_that_of_leaving_out_items():
    """The severity of judges that few items compare is known badly: the interval counts its error, too."""
    rng = np.random.default_rng(3)
    cells = []
    for item in range(40):
        level = rng.normal(5, 0.7)
        for generator, panel in (("g", ["c", "d", *(["a"] if item < 8 else [])]), ("h", ["a", "b"])):
            cells += [(item, generator, judge, level + rng.normal(0, 1)) for judge in panel]

    def adjust(without):
        labels = items_of(cell for cell in cells if cell[0] != without)
        return next(row for row in describe_generators(labels, JudgeModel(labels), SCALE) if row["generator"] == "g")

    each = np.array([float(adjust(item)["adjusted"]) for item in range(40)])
    error = np.sqrt(39 / 40 * ((each - each.mean()) ** 2).sum())
    low, high = (float(end) for end in adjust(None)["adjusted_ci95"])
    assert (high - low) / 2 == pytest.approx(2.02 * error, rel=0.25)


def test_an_adjusted_mean_beyond_the_scale_lies_in_its_interval():
    """It was from 11.19 to 10: one end was cut off at the scale, beyond which the mean lies."""
    cells = [(i, "h", j, total) for i in range(30) for j, total in (("harsh", 4 + (i % 3 == 0)), ("mild", 7))]
    cells += [(30 + i, "g", "harsh", 10 - (i == 0)) for i in range(30)]
    labels = items_of(cells)
    row = describe_generators(labels, JudgeModel(labels), SCALE)[0]
    low, high = row["adjusted_ci95"]
    assert low < row["adjusted"] < high
    assert row["adjusted"] > 10


def test_a_severity_that_one_answer_tells_gives_no_interval_of_an_adjusted_mean():
    cells = [(0, "h", "harsh", 4), (0, "h", "mild", 7)]
    cells += [(1 + i, "g", "harsh", 5 + i % 3) for i in range(30)]
    once, often = (
        items_of(cells),
        items_of([*cells, *((100 + i, "h", j, 5) for i in range(9) for j in ("harsh", "mild"))]),
    )
    alone, known = (describe_generators(labels, JudgeModel(labels), SCALE)[0] for labels in (once, often))
    assert (float(alone["adjusted"]), alone["adjusted_ci95"]) == (7.5, None)
    assert "too few" in alone["na"]["adjusted_ci95"]
    assert known["adjusted_ci95"] is not None


def test_a_mean_of_one_judge_has_an_interval_for_it_and_none_over_judges():
    labels = items_of((i, "g", "only", i % 4) for i in range(12))
    (row,) = describe_generators(labels, JudgeModel(labels), SCALE)
    assert row["ci95"] is not None
    assert row["ci95_over_judges"] is None
    assert "one judge says nothing about others" in row["na"]["ci95_over_judges"]
