"""A calibration belongs to the version and the prompt of a judge, and expires when either changes."""

import json

import contract_spec as spec
import pytest

from normalizer.aggregate.intervals import Method
from normalizer.aggregate.summary import Options
from normalizer.calibration.judge_accuracy import calibrate
from normalizer.cli import main
from normalizer.tables import calibration_table
from normalizer.tables.formats import dumps
from tests.support.comparing import drawn
from tests.support.labelling import bundle_of, labelled, noisy, truth

METHOD = Method(bootstrap=True, resamples=50, seed=3)
V1 = {"judge_prompt_version": "v1"}
REAL = truth(80, 1)
SAID = noisy(REAL, 10, 0.2)


def some(scores, start, stop):
    return dict(list(scores.items())[start:stop])


def calibration_of(tmp_path, *runs):
    """The calibration of a judge whose runs are (first file, last file, what the run says), with gold of 40 files."""
    bundles = [bundle_of(some(SAID, start, stop), "judge", run_id=f"r{start}", **run) for start, stop, run in runs]
    gold = bundle_of(some(REAL, 0, 40), "anna", judge_kind="human")
    ledgers = labelled(tmp_path, "models", *bundles), labelled(tmp_path, "gold", gold)
    document = calibrate(ledgers, Options(), "median", METHOD)
    assert spec.violations("eval/calibration.json", json.loads(dumps(document))) == []
    return document


def test_one_instrument_for_all_items_is_named_and_corrects(tmp_path):
    document = calibration_of(tmp_path, (0, 80, V1))
    assert document["instruments"] == [
        {
            "judge": "judge",
            "judge_prompt_version": "v1",
            "judge_version": None,
            "judge_prompt_sha256": None,
            "judge_settings": None,
            "n_gold": 40,
            "n_judged": 40,
        }
    ]
    assert document["flags"] == []
    [row] = document["measures"][-1]["prediction_powered"]
    assert row["ci95"] is not None


@pytest.mark.parametrize("other", [{"judge_prompt_version": "v2"}, {**V1, "judge_version": "2026-02"}, {}])
def test_items_that_another_version_or_prompt_judged_are_not_corrected(tmp_path, other):
    document = calibration_of(tmp_path, (0, 50, V1), (50, 80, other))
    assert [(row["n_gold"], row["n_judged"]) for row in document["instruments"]] in (
        [(40, 10), (0, 30)],
        [(0, 30), (40, 10)],
    )
    assert document["flags"] == ["mixed_instruments"]
    [row] = document["measures"][-1]["prediction_powered"]
    assert (row["estimate"], row["ci95"]) == (None, None)
    assert "the calibration has expired" in row["na"]
    assert all(f"{name} {level}" in row["na"] for name, level in other.items())
    notes = [note for _, table in calibration_table.list_tables(document) for note in table.notes]
    assert any("the calibration has expired" in note for note in notes)


def test_an_instrument_that_gold_has_measured_too_does_not_expire(tmp_path):
    document = calibration_of(tmp_path, (0, 20, V1), (20, 80, {"judge_prompt_version": "v2"}))
    assert document["measures"][-1]["prediction_powered"][0]["ci95"] is not None
    assert document["flags"] == ["mixed_instruments"]


def test_corrected_pass_rates_expire_and_the_table_names_what_was_measured(tmp_path, capsys):
    rubric = tmp_path / "rubric.json"
    scale = {"kind": "integers", "minimum": 0, "maximum": 1}
    rubric.write_text(json.dumps({"name": "one", "dimensions": {"passes": {"scale": scale}}}))
    gold = {f"f{n}": {"passes": n % 2} for n in range(60)}
    said = {f"f{n}": {"passes": (n % 2) ^ (n % 7 == 0)} for n in range(120)}

    def rates(prompt):
        folder = tmp_path / prompt
        folder.mkdir()
        runs = [("v1", 0, 60), (prompt, 60, 120)]
        bundles = [
            bundle_of(some(said, start, stop), "judge", run_id=str(start), judge_prompt_version=version)
            for version, start, stop in runs
        ]
        given = ("--rubric", str(rubric))
        models = labelled(folder, "models", *bundles, options=given)
        people = labelled(folder, "gold", bundle_of(gold, "anna", judge_kind="human"), options=given)
        capsys.readouterr()
        assert main(["calibrate", str(models), "--gold", str(people), "--wide"]) == 0
        shown = capsys.readouterr().out
        return calibrate((models, people), Options(), "median", METHOD)["measures"][-1]["pass_rates"], shown

    [same], shown = rates("v1")
    assert same["corrected"] is not None
    assert "What was measured" in shown
    [other], shown = rates("v2")
    assert (other["corrected"], other["ci95"]) == (None, None)
    assert other["sensitivity"] == same["sensitivity"]
    assert "judge_prompt_version v2" in other["na"]
    assert other["na"] in shown


def test_the_instruments_of_comparisons_are_named_too(tmp_path):
    entries = drawn({"x": 0.8, "y": 0.0}, 30, 1)
    run = {"protocol_version": "p-1", "phase": 1}
    models = [
        {**run, "judge_model": "judge", "judge_prompt_version": "v1", "run_id": "1", "per_comparison": entries[:20]},
        {**run, "judge_model": "judge", "judge_prompt_version": "v2", "run_id": "2", "per_comparison": entries[20:]},
    ]
    people = {**run, "judge_model": "anna", "judge_kind": "human", "per_comparison": entries}
    ledgers = labelled(tmp_path, "models", *models), labelled(tmp_path, "people", people)
    document = calibrate(ledgers, Options(), "median", METHOD)
    assert [row["judge_prompt_version"] for row in document["instruments"]] == ["v1", "v2"]
    assert sum(row["n_gold"] for row in document["instruments"]) >= document["items"]["both"]
    assert "mixed_instruments" in document["flags"]
