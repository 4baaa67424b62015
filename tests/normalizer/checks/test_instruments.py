"""Instruments: records of one judge under another prompt or rubric are of another instrument, and none is lost."""

import json

from normalizer.checks.instruments import instruments
from normalizer.cli import main
from tests.support.labelling import bundle_of, labelled, noisy, truth


def test_each_judge_and_prompt_is_an_instrument_and_counts_are_those_of_the_ledger(tmp_path, capsys):
    real = truth(12, 1)
    bundles = [
        bundle_of(real, "judge-a", judge_prompt_version="v1"),
        bundle_of(noisy(real, 2, 0.4), "judge-a", judge_prompt_version="v2"),
        bundle_of(noisy(real, 3, 0.4), "anna", judge_kind="human"),
    ]
    labelled(tmp_path, "ledger", *bundles)
    found = instruments((tmp_path / "ledger",))
    named = [(each["judge_model"], each["judge_kind"], each["judge_prompt_version"]) for each in found]
    assert sorted(named, key=str) == sorted(
        [("anna", "human", None), ("judge-a", "model", "v1"), ("judge-a", "model", "v2")], key=str
    )
    capsys.readouterr()
    assert main(["audit", str(tmp_path / "ledger"), "--no-verify", "--format", "json"]) == 0
    counted = json.loads(capsys.readouterr().out)
    assert sum(each["valid"] + each["invalid"] for each in found) == sum(
        row["valid"] + row["invalid"] for row in counted["judges"]
    )
    assert instruments((tmp_path / "ledger", tmp_path / "ledger")) == found
    assert main(["audit", str(tmp_path / "ledger"), "--instruments"]) == 0
    assert "judge-a is several instruments" in capsys.readouterr().out


def test_each_record_carries_the_digest_of_the_rubric_that_it_was_screened_under(tmp_path):
    wrong = bundle_of(truth(3, 1), "judge")
    wrong["per_file_scores"][0]["scores"]["A_structure"] = 7
    labelled(tmp_path, "ledger", wrong)
    ledger = tmp_path / "ledger"
    [header] = map(json.loads, (ledger / "headers.jsonl").read_text().splitlines())
    lines = [line for kind in ("records", "invalid") for line in (ledger / f"{kind}.jsonl").read_text().splitlines()]
    assert len(lines) == 3
    assert {json.loads(line)["rubric_sha256"] for line in lines} == {header["settings"]["rubric"]}
    assert {each["rubric_sha256"] for each in instruments((ledger,))} == {header["settings"]["rubric"]}
