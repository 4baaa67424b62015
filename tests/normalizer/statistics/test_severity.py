"""Severity and self-preference: least squares and CR2 done densely, with a column for every answer."""

import random

import numpy as np
import pytest
from scipy.stats import t

from normalizer.statistics.judge_scores import Label
from normalizer.statistics.severity import Estimate, JudgeModel, count_answers

SEVERITY = {"ash": 0.5, "birch": -0.2, "cedar": 0.0, "dogwood": -0.3}


def known(found: Estimate | None) -> Estimate:
    """An estimate that is there."""
    assert found is not None
    return found


def ends(found: Estimate | None) -> list[float]:
    """The interval of an estimate that has one."""
    interval = known(found).interval()
    assert interval is not None
    return [float(end) for end in interval]


def study(seed, artifacts=14, noise=None, bonus=0.0):
    """Answers of two generators, `ash` being a judge too, each judged by some of the judges."""
    rng = random.Random(seed)
    found = {}
    for number in range(artifacts):
        answers = []
        for generator in ("ash", "other"):
            level = rng.gauss(6, 2)
            panel = rng.sample(sorted(SEVERITY), rng.choice([1, 2, 3, 4]))
            answers.append(
                [
                    Label(
                        judge,
                        judge == generator,
                        level
                        + SEVERITY[judge]
                        + bonus * (judge == generator)
                        + rng.gauss(0, (noise or {}).get(judge, 1)),
                    )
                    for judge in panel
                ]
            )
        found[f"q{number:02}"] = answers
    return found


def dense(answers, contrast):
    """The estimate, its CR2 variance and Satterthwaite's degrees of freedom, from their definitions.

    `contrast` has the weight of each judge's severity, and of `bonus`.
    """
    names = [*SEVERITY, "bonus"]
    rows, totals, clusters, blocks = [], [], [], []
    for number, artifact in enumerate(sorted(answers)):
        for place, answer in enumerate(answers[artifact]):
            for label in answer:
                rows.append([float(label.judge == name) for name in SEVERITY] + [float(label.own)])
                totals.append(label.total)
                clusters.append(number)
                blocks.append((number, place))
    dummies = np.array([[float(block == other) for other in sorted(set(blocks))] for block in blocks])
    design = np.concatenate([np.array(rows), dummies], axis=1)
    weights = np.concatenate([[contrast.get(name, 0.0) for name in names], np.zeros(dummies.shape[1])])
    inverse = np.linalg.pinv(design.T @ design)
    beta = inverse @ design.T @ np.array(totals)
    remaining = np.eye(len(rows)) - design @ inverse @ design.T
    residuals = remaining @ np.array(totals)
    square, vectors = 0.0, []
    for cluster in sorted(set(clusters)):
        at = np.array(clusters) == cluster
        values, basis = np.linalg.eigh(remaining[np.ix_(at, at)])
        root = (basis * np.where(values > 1e-8, 1 / np.sqrt(np.maximum(values, 1e-8)), 0)) @ basis.T
        lever = root @ design[at] @ inverse @ weights
        square += float(lever @ residuals[at]) ** 2
        vectors.append(remaining[:, at] @ lever)
    gram = np.array(vectors) @ np.array(vectors).T
    return float(weights @ beta), square, float(np.trace(gram) ** 2 / (gram**2).sum())


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("what", ["severity", "bonus"])
def test_estimates_errors_and_degrees_of_freedom_are_those_of_the_dense_model(seed, what):
    answers = study(seed)
    model = JudgeModel(count_answers(answers))
    if what == "severity":
        contrast = {name: (name == "birch") - 0.25 for name in SEVERITY}
        found = known(model.severity_of("birch"))
    else:
        contrast = {"bonus": 1.0}
        found = known(model.bonus_of("ash"))
    value, square, freedom = dense(answers, contrast)
    assert (found.value, found.error, found.freedom) == pytest.approx((value, square**0.5, freedom), rel=1e-6)
    half = t.ppf(0.975, freedom) * square**0.5
    assert ends(found) == pytest.approx([value - half, value + half], abs=2e-6)


def test_where_every_judge_judged_everything_the_interval_is_students_of_the_differences():
    rng = random.Random(4)
    answers = {
        f"q{n}": [[Label(name, False, rng.gauss(shift, 1)) for name, shift in SEVERITY.items()]] for n in range(9)
    }
    rows = [np.array([label.total for label in answer]) for [answer] in answers.values()]
    gaps = np.array([row[0] - row.mean() for row in rows])
    found = known(JudgeModel(count_answers(answers)).severity_of("ash"))
    assert (found.value, found.error, found.freedom) == pytest.approx((gaps.mean(), gaps.std(ddof=1) / 3, 8), rel=1e-9)


def test_harsh_others_are_no_preference_for_ones_own_model():
    """Without any self-preference, the plain difference of own and elsewhere was 3.55 [3.28, 3.82]."""
    rng = random.Random(5)
    harshness = {"self": 0.0, "harsh-1": -4.0, "harsh-2": -3.0, "mild": 0.0}
    answers = {}
    for number in range(60):
        own = number % 2 == 0
        level = rng.gauss(6, 1)
        panel = (
            ("self", "harsh-1", "harsh-2") if own else ("self", "mild", *(("harsh-1", "harsh-2")[number % 4 // 2 :]))
        )
        answers[f"q{number}"] = [
            [Label(name, own and name == "self", level + harshness[name] + rng.gauss(0, 0.3)) for name in panel]
        ]
    found = JudgeModel(count_answers(answers)).bonus_of("self")
    low, high = ends(found)
    assert low < 0 < high
    assert high - low < 1


def test_renaming_and_reordering_judges_and_artifacts_changes_nothing():
    answers = study(6)
    names = {"ash": "z", "birch": "a", "cedar": "m", "dogwood": "b"}
    moved = {
        f"p{place}": [
            [label._replace(judge=names[label.judge]) for label in reversed(answer)] for answer in answers[name]
        ]
        for place, name in enumerate(sorted(answers, reverse=True))
    }
    one, other = JudgeModel(count_answers(answers)), JudgeModel(count_answers(moved))
    for name, new in names.items():
        assert ends(one.severity_of(name)) == ends(other.severity_of(new))
    assert ends(one.bonus_of("ash")) == ends(other.bonus_of("z"))
