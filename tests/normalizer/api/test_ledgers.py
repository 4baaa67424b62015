"""The Python API: every example of the page runs, and methods give what commands print."""

import inspect
import json
import re
from pathlib import Path

import pytest
from contract_models.eval.comparison_record import ComparisonRecord
from contract_models.eval.eval_record import EvalRecord
from contract_models.eval.invalid_record import InvalidRecord

import normalizer
from normalizer.api import Ledgers
from normalizer.cli import main
from normalizer.errors import CannotRun, UnusableLedger
from tests.support.comparing import compared, drawn
from tests.support.labelling import bundle_of, labelled, noisy, truth

PAGE = (Path(__file__).parents[3] / "docs" / "guides" / "python.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    real = truth(24, 1)
    labelled(folder, "ledger", bundle_of(real, "judge-a"), bundle_of(noisy(real, 2, 0.4), "judge-b"))
    labelled(folder, "gold", bundle_of(noisy(real, 3, 0.1), "anna", judge_kind="human"))
    compared(folder, drawn({"x": 0.5, "y": 0.0}, 12, 1), "duel")
    assert main(["export", str(folder / "ledger"), "--to", "parquet", "--out", str(folder / "records.parquet")]) == 0
    return folder


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_every_example_runs(example, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    exec(compile(example, "docs/guides/python.md", "exec"), {})
    assert "judge-a" in capsys.readouterr().out or "print(" not in example


@pytest.mark.parametrize(("name", "arguments"), re.findall(r"^- `(\w+)\(([^)]*)\)`", PAGE, re.MULTILINE))
def test_the_page_names_the_parameters_of_every_method(name, arguments):
    told = re.findall(r"(\w+)=?", arguments.replace("=False", ""))
    assert told == list(inspect.signature(getattr(Ledgers, name)).parameters)[1:]


def said(model):
    return json.loads(model.model_dump_json(by_alias=True))


def printed(capsys, *arguments):
    capsys.readouterr()
    assert main([*map(str, arguments), "--format", "json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def test_methods_give_what_commands_print(folder, capsys):
    ledger = normalizer.open(folder / "ledger")
    assert said(ledger.summary(["judge_model"])) == printed(
        capsys, "aggregate", folder / "ledger", "--by", "judge_model"
    )
    assert said(ledger.agreement()) == printed(capsys, "agreement", folder / "ledger")
    duel = normalizer.open(folder / "duel")
    assert said(duel.preferences()) == printed(capsys, "preferences", folder / "duel")
    gold = printed(capsys, "calibrate", folder / "ledger", "--gold", folder / "gold")
    assert said(ledger.calibrate(folder / "gold")) == gold
    gate = printed(capsys, "gate", folder / "ledger", folder / "ledger")
    assert said(ledger.gate(ledger)) == gate
    terms = ["--margin", "0.3", "--measure", "A_structure", "--where", "judge_model=judge-a", "--allow-undecided"]
    asked = printed(capsys, "gate", folder / "ledger", folder / "ledger", *terms)
    chosen = {"judge_model": "judge-a"}
    told = ledger.gate(ledger, margin=0.3, measures=["A_structure"], where=chosen, allow_undecided=True)
    assert said(told) == asked
    assert said(ledger.compare("judge_model")) == printed(capsys, "compare", folder / "ledger", "--by", "judge_model")
    assert said(ledger.audit(verify=False)) == printed(capsys, "audit", folder / "ledger", "--no-verify")
    main(["aggregate", str(folder / "ledger"), "--by", "judge_model", "--format", "csv"])
    (folder / "table.csv").write_text(capsys.readouterr().out)
    table = printed(capsys, "check", folder / "table.csv", folder / "ledger", "--by", "judge_model")
    assert said(ledger.check(folder / "table.csv", ["judge_model"])) == table
    assert [record.record_id for record in ledger.records()] == ledger.frame()["record_id"].to_pylist()


def test_records_are_models_and_their_lines_keep_the_spelling_of_numbers(tmp_path):
    entry = '{"file": "a", "scores": {"quality": 1.0}}'
    run = '"judge_model": "j", "generator_model": "g", "phase": 1, "protocol_version": "p"'
    (tmp_path / "bundle.json").write_text(f'{{{run}, "per_file_scores": [{entry}, {{"file": "b", "scores": 1e400}}]}}')
    scale = {"kind": "range", "minimum": 0, "maximum": 5}
    (tmp_path / "rubric.json").write_text(json.dumps({"name": "r", "dimensions": {"quality": {"scale": scale}}}))
    given = [
        str(tmp_path / "bundle.json"),
        "--rubric",
        str(tmp_path / "rubric.json"),
        "--out",
        str(tmp_path / "ledger"),
    ]
    assert main(["normalize", *given]) == 1
    ledger = normalizer.open(tmp_path / "ledger")
    [record], [line] = ledger.records(), ledger.lines()
    assert isinstance(record, EvalRecord)
    assert (record.file, record.scores, record.judge_model) == ("a", {"quality": 1.0}, "j")
    assert b'"scores":{"quality":1.0}' in line
    [invalid], [line] = ledger.invalid(), ledger.lines(invalid=True)
    assert isinstance(invalid, InvalidRecord)
    assert [reason.code for reason in invalid.reasons] == ["entry_field_invalid"]
    assert b'"scores":1e400' in line


def test_comparisons_are_models_of_their_own(folder):
    for record in normalizer.open(folder / "duel").records():
        assert isinstance(record, ComparisonRecord)
        assert record.outcome.winner in ("a", "b", "draw")


def test_a_folder_that_is_no_ledger_and_a_key_that_is_none_are_refused(folder):
    with pytest.raises(UnusableLedger, match="is not a ledger"):
        normalizer.open(folder)
    with pytest.raises(CannotRun, match="is not a key"):
        normalizer.open(folder / "ledger").summary(["colour"])
    with pytest.raises(CannotRun, match="negative"):
        normalizer.open(folder / "ledger").gate(folder / "ledger", margin=-1)


def test_a_report_shows_gold_and_comparisons(folder, tmp_path):
    gold, duel = (normalizer.open(folder / name) for name in ("gold", "duel"))
    size = normalizer.open(folder / "ledger").report(tmp_path / "page.html", gold=gold, preferences=duel)
    page = (tmp_path / "page.html").read_text()
    assert len(page.encode()) == size
    assert 'id="calibration"' in page
    assert 'id="preferences"' in page
