"""Dimensions may be called anything: no name is lost, and none breaks an engine."""

import json

import pytest

from normalizer.cli import main
from normalizer.documents.lossless import dumps

ODD = [["", "b"], ["total", "n"], ["a", "A"], ["\0", "'"], ['"', "\\"], ["key", "rows.flags"]]


@pytest.mark.parametrize("names", ODD, ids=dumps)
def test_every_dimension_is_in_every_table_with_its_own_numbers(tmp_path, capsys, names):
    scale = {"kind": "integers", "minimum": 0, "maximum": 9}
    rubric = {"name": "odd", "dimensions": {name: {"scale": scale} for name in names}}
    (tmp_path / "rubric").write_text(json.dumps(rubric))
    for judge, scores in (("j", [[1, 5], [2, 6]]), ("k", [[1, 7], [2, 8]])):
        entries = [{"file": f"f{n}", "scores": dict(zip(names, row, strict=True))} for n, row in enumerate(scores)]
        run = {"judge_model": judge, "generator_model": "g", "protocol_version": "p", "phase": 1}
        (tmp_path / f"{judge}.json").write_text(json.dumps({**run, "per_file_scores": entries}))
    ledger = str(tmp_path / "l")
    assert main(["normalize", str(tmp_path), "--out", ledger, "--rubric", str(tmp_path / "rubric")]) == 0
    capsys.readouterr()
    assert main(["aggregate", ledger, "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert {name: row["dimensions"][name]["mean"] for name in names} == dict(zip(names, [1.5, 6.5], strict=True))
    assert row["total"]["mean"] == 8
    assert main(["agreement", ledger, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    [pair] = report["pairs"]
    assert {name: pair["dimensions"][name]["bias"] for name in names} == dict(zip(names, [0, -2], strict=True))
    assert pair["total"]["bias"] == -2
    assert pair["total"]["mae"] == 2
    assert list(report["all"]["dimensions"]) == names
