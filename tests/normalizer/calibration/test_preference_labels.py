"""Judges of comparisons against people, compared with scikit-learn, SciPy and krippendorff."""

import json
import random

import contract_spec as spec
import krippendorff
import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr
from sklearn.metrics import cohen_kappa_score

import normalizer
from normalizer.cli import main
from tests.support.comparing import drawn
from tests.support.labelling import labelled

VALUE = {"a": 1.0, "draw": 0.5, "b": 0.0}


def bundle(entries, judge, **run):
    return {"protocol_version": "p-1", "judge_model": judge, "phase": 1, **run, "per_comparison": entries}


def answers(seed):
    """Verdicts on two pairs of generators, in both orders, among them some that are no labels."""
    rng = random.Random(seed)
    entries = drawn({"x": 0.8, "y": 0.0, "z": -0.5}, 25, seed, first=0.3)
    for entry in entries:
        entry.pop("length")
        if rng.random() < 0.1:
            entry["verdict"] = rng.choice(["both_bad", None])
        if rng.random() < 0.5:  # the other way round, which says the same
            entry |= {"a": entry["b"], "b": entry["a"], "order": {"ab": "ba", "ba": "ab"}[entry["order"]]}
            entry["verdict"] = {"a": "b", "b": "a"}.get(entry["verdict"], entry["verdict"])
    return entries


def values(entries):
    """The verdict on each pair of answers, in terms of the name that sorts first: who won more often."""
    found: dict[tuple[str, ...], list[float]] = {}
    for entry in entries:
        if entry["verdict"] in VALUE:
            score = VALUE[entry["verdict"]]
            pair = (entry["item"], *sorted((entry["a"], entry["b"])))
            found.setdefault(pair, []).append(score if entry["a"] < entry["b"] else 1 - score)
    return {pair: (np.sign(np.mean(scores) - 0.5) + 1) / 2 for pair, scores in found.items()}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("preference-labels")
    given = {name: answers(seed) for seed, name in enumerate(("judge-1", "judge-2", "anna", "ben", "cleo"))}
    given["anna"] = [entry for entry in given["anna"] if entry["item"] < "q020"]
    judges = labelled(folder, "judges", *(bundle(given[name], name) for name in ("judge-1", "judge-2")))
    people = labelled(
        folder, "people", *(bundle(given[name], name, judge_kind="human") for name in ("anna", "ben", "cleo"))
    )
    return judges, people, {name: values(entries) for name, entries in given.items()}


def calibrated(judges, people):
    """The document of a calibration."""
    return json.loads(normalizer.open(judges).calibrate(people).model_dump_json(by_alias=True))


@pytest.fixture(scope="module")
def document(study):
    judges, people, _ = study
    found = calibrated(judges, people)
    assert spec.violations("eval/calibration.json", found) == []
    return found


def gold_of(labels, names=("anna", "ben", "cleo")):
    pairs = {pair for name in names for pair in labels[name]}
    return {pair: float(np.median([labels[name][pair] for name in names if pair in labels[name]])) for pair in pairs}


def test_agreement_is_that_of_independent_implementations(document, study):
    labels = study[2]
    gold = gold_of(labels)
    [measure] = document["measures"]
    assert (measure["measure"], document["rubric"]) == ("preference", None)
    for row in measure["judges"]:
        shared = sorted(gold.keys() & labels[row["judge"]].keys())
        one, other = (np.array([side[pair] for pair in shared]) for side in (labels[row["judge"]], gold))
        assert row["n"] == len(shared)
        both = [np.concatenate([side, 1 - side]) for side in (one, other)]  # each verdict in both directions
        grades = [[int(100 * value) for value in side] for side in both]
        doubled = krippendorff.alpha(np.array(both), level_of_measurement="ordinal")
        n = len(shared)
        expected = {
            "exact": np.mean(one == other),
            "mae": np.mean(abs(one - other)),
            "kappa": cohen_kappa_score(*grades),
            # A verdict in both directions is one verdict: alpha's correction is for 2 n values, not for 4 n.
            "alpha_ordinal": 1 - (1 - doubled) * (2 * n - 1) / (4 * n - 1) * 2,
            "pearson": pearsonr(*both)[0],
            "kendall": kendalltau(*both)[0],
        }
        for name, value in expected.items():
            assert float(row[name]) == pytest.approx(value, abs=2e-6), name


@pytest.mark.parametrize("generators", [("x", "y"), ("x", "y", "z")])
def test_renaming_generators_changes_no_number(study, tmp_path, generators):
    """Names decided which answer was the first, and kappa with them: 0.30 became 0.37 at equal accuracy.

    Of two generators, the prediction-powered mean was the share of the name that sorts first.
    """
    judges, people, _ = study
    given, moved = [], []
    names = {"x": "zz", "y": "aa", "z": "mm"}
    for folder in (judges, people):
        bundles = [json.loads(raw.read_text()) for raw in sorted(folder.parent.glob(f"{folder.name}-*.json"))]
        for one in bundles:
            kept = [entry for entry in one["per_comparison"] if {entry["a"], entry["b"]} <= set(generators)]
            one["per_comparison"] = [entry for entry in kept if folder == judges or entry["item"] > "q002"]
        given.append(labelled(tmp_path, folder.name, *bundles))
        for entry in (entry for one in bundles for entry in one["per_comparison"]):
            entry |= {side: names[entry[side]] for side in ("a", "b")}
        moved.append(labelled(tmp_path, f"{folder.name}-renamed", *bundles))
    document = calibrated(*given)
    assert document == calibrated(*moved)
    [measure] = document["measures"]
    [row, _] = measure["judges"]
    assert (row["bias"], row["ci95"]["bias"]) == (None, None)
    assert "names" in row["na"]["bias"]
    assert all("names" in powered["na"] for powered in measure["prediction_powered"])


def test_annotators_are_compared_with_the_consensus_of_the_others(document, study):
    labels = study[2]
    [measure] = document["measures"]
    for row in measure["ceiling"]["annotators"]:
        mine = labels[row["annotator"]]
        others = gold_of(labels, [name for name in ("anna", "ben", "cleo") if name != row["annotator"]])
        shared = mine.keys() & others.keys()
        assert row["n"] == len(shared)
        assert float(row["exact"]) == pytest.approx(np.mean([mine[pair] == others[pair] for pair in shared]), abs=1e-6)


def test_records_are_conserved_and_the_text_says_what_preference_means(study, capsys):
    judges, people, _ = study
    assert main(["calibrate", str(judges), "--gold", str(people)]) == 0
    told = capsys.readouterr().out
    assert "no measure depends on names" in told
    assert "Confusion" in told


def test_a_judge_that_contradicts_itself_says_a_draw(tmp_path):
    entries = [{"item": f"q{n}", "a": "x", "b": "y", "order": "ab", "verdict": "a"} for n in range(12)]
    swapped = [{**entry, "order": "ba", "verdict": "b"} for entry in entries]
    judges = labelled(tmp_path, "judges", bundle([*entries, *swapped], "first-taker"))
    people = labelled(tmp_path, "people", bundle(entries, "anna", judge_kind="human"))
    [measure] = calibrated(judges, people)["measures"]
    [row] = measure["judges"]
    assert row["confusion"] == [{"judge": pytest.approx(0.5), "gold": 1, "n": 12}]
    assert row["exact"] == 0


def test_ledgers_of_two_kinds_and_gold_of_two_kinds_are_refused(study, tmp_path, capsys):
    judges, people, _ = study
    scores = labelled(tmp_path, "scores", {"per_file_scores": [{"file": "f", "scores": {}}]})
    assert main(["calibrate", str(judges), "--gold", str(scores)]) == 2
    assert "some single scores" in capsys.readouterr().err
    reference = labelled(tmp_path, "reference", bundle(answers(9), "key", judge_kind="reference"))
    assert main(["calibrate", str(judges), "--gold", str(people), "--gold", str(reference)]) == 2
    assert "--gold-kind" in capsys.readouterr().err
    given = ["--gold", str(people), "--gold", str(reference), "--gold-kind", "reference", "--format", "json"]
    assert main(["calibrate", str(judges), *given]) == 0
    assert json.loads(capsys.readouterr().out)["annotators"] == 1


def test_criteria_are_told_apart(tmp_path, capsys):
    entries = [{**entry, "criterion": name} for name in ("style", "truth") for entry in answers(3)]
    judges = labelled(tmp_path, "judges", bundle(entries, "judge"))
    people = labelled(tmp_path, "people", bundle(entries, "anna", judge_kind="human"))
    assert main(["calibrate", str(judges), "--gold", str(people)]) == 2
    assert "--by criterion" in capsys.readouterr().err
    command = ["calibrate", str(judges), "--gold", str(people), "--format", "json"]
    assert main([*command, "--by", "criterion"]) == 0
    [measure] = json.loads(capsys.readouterr().out)["measures"]
    every, *parts = measure["judges"]
    assert [row["key"] for row in parts] == [{"criterion": "style"}, {"criterion": "truth"}]
    assert every["n"] == sum(row["n"] for row in parts)
    assert every["exact"] == 1
    assert main([*command, "--where", "criterion=style"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"][0]["judges"][0]["n"] == parts[0]["n"]
