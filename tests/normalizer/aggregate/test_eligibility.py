"""INVALID records are counted as that, whatever they say of themselves."""

import json

import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry


@pytest.mark.parametrize("rubric", ["another", 5, None, ["prompt-drift-v1"]])
def test_a_run_that_names_another_rubric_is_left_out_as_invalid_and_in_the_rates(tmp_path, capsys, rubric):
    (tmp_path / "right.json").write_text(json.dumps(bundle(entry("a"))))
    (tmp_path / "wrong.json").write_text(json.dumps(bundle(entry("a"), entry("b"), rubric=rubric)))
    ledger = str(tmp_path / "l")
    assert main(["normalize", str(tmp_path), "--out", ledger]) == 1
    capsys.readouterr()
    for where in ([], ["--where", "rubric=prompt-drift-v1"]):
        assert main(["aggregate", ledger, "--format", "json", *where]) == 0
        left_out = json.loads(capsys.readouterr().out)["left_out"]
        assert (left_out["invalid"], left_out["not_selected"]) == (2, 0)
    assert main(["statistics", ledger, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    [rate] = report["invalid_rates"]["judge_model"]
    assert (rate["records"], rate["invalid"]) == (3, 2)
