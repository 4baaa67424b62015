"""Judges against gold: every measure against an implementation that knows nothing of ours."""

import json

import contract_spec as spec
import krippendorff
import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, mean_absolute_error

from normalizer.aggregate.intervals import Method
from normalizer.aggregate.summary import Options, aggregate
from normalizer.calibration.overview import calibrate
from normalizer.cli import main
from normalizer.tables.pretty import dumps
from tests.support.bundles import DIMENSIONS
from tests.support.labelling import bundle_of, labelled, noisy, truth

METHOD = Method(bootstrap=True, resamples=200, seed=3)
JUDGES = {"large": (0.2, 0.0), "small": (0.5, 0.3), "tiny": (0.8, -0.2)}


@pytest.fixture(scope="module")
def real():
    return truth(60, 1)


@pytest.fixture(scope="module")
def scores(real):
    return {name: noisy(real, place + 10, *how) for place, (name, how) in enumerate(JUDGES.items())}


@pytest.fixture(scope="module")
def people(real):
    return {name: noisy(real, place + 50, 0.15) for place, name in enumerate(["anna", "ben", "cleo"])}


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory, scores, people):
    folder = tmp_path_factory.mktemp("calibration")
    factors = {"factors": {"topic": "law"}}
    models = labelled(folder, "models", *(bundle_of(given, name, **factors) for name, given in scores.items()))
    some = {name: dict(list(given.items())[:40]) for name, given in people.items()}
    gold = labelled(folder, "gold", *(bundle_of(given, name, judge_kind="human") for name, given in some.items()))
    return models, gold


@pytest.fixture(scope="module")
def document(ledgers):
    found = calibrate(ledgers, Options(), "median", METHOD)
    assert spec.violations("eval/calibration.json", json.loads(dumps(found))) == []
    return found


def columns(scores, people, judge, dimension):
    files = list(scores[judge])[:40]
    if dimension == "total":
        gold = [np.median([sum(given[file].values()) for given in people.values()]) for file in files]
        return [sum(scores[judge][file].values()) for file in files], gold
    return (
        [scores[judge][file][dimension] for file in files],
        [np.median([given[file][dimension] for given in people.values()]) for file in files],
    )


@pytest.mark.parametrize("dimension", [DIMENSIONS[0], DIMENSIONS[3], "total"])
@pytest.mark.parametrize("judge", list(JUDGES))
def test_measures_are_those_of_scikit_learn_scipy_and_krippendorff(document, scores, people, judge, dimension):
    ours, gold = columns(scores, people, judge, dimension)
    [measure] = [each for each in document["measures"] if each["measure"] == dimension]
    [row] = [each for each in measure["judges"] if each["judge"] == judge]
    expected = {
        "exact": accuracy_score(gold, ours),
        "mae": mean_absolute_error(gold, ours),
        "bias": np.mean(np.array(ours) - np.array(gold)),
        "kappa": cohen_kappa_score(np.array(ours, dtype=int), np.array(gold, dtype=int)),
        "alpha_ordinal": krippendorff.alpha([ours, gold], level_of_measurement="ordinal"),
        "pearson": pearsonr(ours, gold).statistic,
        "spearman": spearmanr(ours, gold).statistic,
        "kendall": kendalltau(ours, gold).statistic,
    }
    assert {name: float(row[name]) for name in expected} == pytest.approx(expected, abs=1e-6)
    if dimension != "total":
        weighted = cohen_kappa_score(np.array(ours, dtype=int), np.array(gold, dtype=int), weights="quadratic")
        assert float(row["kappa_quadratic"]) == pytest.approx(weighted, abs=1e-6)
        table = confusion_matrix(gold, ours, labels=[0, 1, 2])
        for cell in row["confusion"]:
            assert cell["n"] == table[int(cell["gold"]), int(cell["judge"])]
    for name, interval in row["ci95"].items():
        assert interval is not None
        assert float(interval[0]) - 1e-9 <= float(row[name]) <= float(interval[1]) + 1e-9, name


def test_intervals_are_those_of_resampling_the_items_plainly(document, scores, people):
    """Our resamples work on counts of cells: each measure is worked out again from the resampled items themselves."""
    from fractions import Fraction

    from normalizer.aggregate.intervals import draws
    from normalizer.calibration.measures import compare

    ours, gold = columns(scores, people, "small", DIMENSIONS[1])
    pairs = [(Fraction(int(one)), Fraction(int(other))) for one, other in zip(ours, gold, strict=True)]
    plainly = [compare([pairs[int(at)] for at in drawn])[0] for drawn in draws(METHOD, len(pairs))()]
    [measure] = [each for each in document["measures"] if each["measure"] == DIMENSIONS[1]]
    [row] = [each for each in measure["judges"] if each["judge"] == "small"]
    for name, interval in row["ci95"].items():
        values = sorted(float(value) for each in plainly if (value := each[name]) is not None)
        cut = len(values) * 25 // 1000
        assert [float(end) for end in interval] == pytest.approx([values[cut], values[-1 - cut]], abs=1e-6), name


def test_bias_by_level_and_reliability_are_means_by_level(document, scores, people):
    ours, gold = map(np.array, columns(scores, people, "small", "total"))
    [row] = [each for each in document["measures"][-1]["judges"] if each["judge"] == "small"]
    for level in row["by_level"]:
        chosen = gold == float(level["gold"])
        assert level["n"] == chosen.sum()
        assert float(level["bias"]) == pytest.approx((ours - gold)[chosen].mean(), abs=1e-6)
    for level in row["reliability"]:
        assert float(level["gold_mean"]) == pytest.approx(gold[ours == float(level["judge"])].mean(), abs=1e-6)


def test_the_ceiling_is_each_annotator_against_the_others(document, people):
    files = list(people["anna"])[:40]
    gold = [np.median([sum(people[name][file].values()) for name in ("ben", "cleo")]) for file in files]
    ours = [sum(people["anna"][file].values()) for file in files]
    [row] = [each for each in document["measures"][-1]["ceiling"]["annotators"] if each["annotator"] == "anna"]
    assert float(row["pearson"]) == pytest.approx(pearsonr(ours, gold).statistic, abs=1e-6)


def test_the_closest_judge_or_panel_is_the_one_with_the_least_error(document):
    for measure in document["measures"]:
        found = measure["closest"]
        losses = {row["name"]: row["mae"] for row in found["candidates"]}
        assert losses[found["best"]] == min(losses.values())
        assert len(losses) == 3 + 3 + 3
        by_judge = {row["judge"]: row["mae"] for row in measure["judges"]}
        assert {name: losses[name] for name in by_judge} == by_judge
    assert document["measures"][-1]["closest"]["best"] != "tiny"


def test_the_prediction_powered_mean_is_that_of_ppi_py(document, scores, people):
    ppi = pytest.importorskip("ppi_py")
    ours, gold = columns(scores, people, "large", "total")
    more = [sum(scores["large"][file].values()) for file in list(scores["large"])[40:]]
    arrays = [np.array(values, dtype=float) for values in (gold, ours, more)]
    [row] = [each for each in document["measures"][-1]["prediction_powered"] if each["judge"] == "large"]
    weight = float(row["weight"])
    assert float(row["estimate"]) == pytest.approx(ppi.ppi_mean_pointestimate(*arrays, lam=weight)[0], abs=2e-6)
    low, high = ppi.ppi_mean_ci(*arrays, alpha=0.05, lam=weight)
    # ppi_py uses n, not n - 1, and the normal distribution: ours is a little wider.
    assert float(row["ci95"][0]) == pytest.approx(low[0], abs=0.1)
    assert float(row["ci95"][0]) < low[0]
    assert float(row["ci95"][1]) > high[0]


def test_gold_is_in_no_aggregate_of_judges_unless_it_is_named(ledgers):
    _, gold = ledgers
    summary = aggregate((gold,), Options())
    assert summary["rows"][0]["flags"] == ["only_other_judge_kind"]
    assert summary["left_out"]["other_judge_kind"] == 120
    assert main(["aggregate", str(gold), "--judge-kind", "human"]) == 0


def test_groups_are_told_apart_by_keys(ledgers):
    found = calibrate(ledgers, Options(by=("factors.topic",)), "median", METHOD)
    keys = [row["key"] for row in found["measures"][-1]["judges"] if row["judge"] == "large"]
    assert keys == [{}, {"factors.topic": "law"}]


def test_a_ledger_without_gold_is_refused_with_the_remedy(ledgers, capsys):
    assert main(["calibrate", str(ledgers[0])]) == 2
    assert "judge_kind" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["json", "csv", "md", "text"])
def test_the_command_writes_every_format(ledgers, capsys, form):
    command = ["calibrate", str(ledgers[0]), "--against", str(ledgers[1]), "--format", form, "--resamples", "100"]
    assert main(command) == 0
    assert "large" in capsys.readouterr().out
