"""Statements about a table: made again elsewhere they are the same, and any change is listed."""

import json
import shutil

import contract_spec as spec
import pytest

from normalizer.cli import main
from tests.support.labelling import bundle_of, labelled, noisy, truth


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attested")
    real = truth(12, 1)
    labelled(folder, "ledger", bundle_of(real, "judge-a"), bundle_of(noisy(real, 2, 0.4), "judge-b"))
    return folder


@pytest.fixture
def stated(study, tmp_path, capsys):
    shutil.copytree(study / "ledger", tmp_path / "ledger")
    capsys.readouterr()
    assert main(["aggregate", str(tmp_path / "ledger"), "--by", "judge_model", "--format", "csv"]) == 0
    (tmp_path / "table.csv").write_text(capsys.readouterr().out)
    assert check(tmp_path, "--by", "judge_model", "--attest", str(tmp_path / "statement.json")) == 0
    return tmp_path


def check(folder, *flags):
    return main(["check", str(folder / "table.csv"), str(folder / "ledger"), *flags])


def test_a_statement_fits_its_schema_and_says_which_records_and_instruments(stated):
    value = json.loads((stated / "statement.json").read_text())
    assert spec.violations("eval/attestation.json", value) == []
    predicate = value["predicate"]
    assert predicate["follows"] is True
    assert {cell["verdict"] for cell in predicate["cells"]} == {"match"}
    assert [each["judge_model"] for each in predicate["instruments"]] == ["judge-a", "judge-b"]
    assert predicate["records"]["valid"] == sum(each["valid"] for each in predicate["instruments"])


def test_a_statement_is_made_again_from_copies_in_another_place_and_is_the_same(stated, tmp_path, capsys):
    other = tmp_path / "other"
    other.mkdir()
    for name in ("table.csv", "statement.json"):
        shutil.copy(stated / name, other / name)
    shutil.copytree(stated / "ledger", other / "ledger")
    assert check(other, "--attested", str(other / "statement.json")) == 0
    assert "and the same" in capsys.readouterr().out
    assert check(other, "--by", "judge_model", "--attest", str(other / "again.json")) == 0
    assert (other / "again.json").read_bytes() == (stated / "statement.json").read_bytes()


def test_another_table_other_records_and_an_edited_statement_are_told(stated, study, tmp_path, capsys):
    table = (stated / "table.csv").read_text()
    (stated / "table.csv").write_text(table.replace("judge-a", "judge-x", 1))
    assert check(stated, "--attested", str(stated / "statement.json")) == 1
    assert "/subject/0/digest/sha256: stated" in capsys.readouterr().out
    (stated / "table.csv").write_text(table)
    labelled(tmp_path, "fewer", bundle_of(truth(12, 1), "judge-a"))
    shutil.rmtree(stated / "ledger")
    shutil.copytree(tmp_path / "fewer", stated / "ledger")
    assert check(stated, "--attested", str(stated / "statement.json")) == 1
    told = capsys.readouterr().out
    assert "/predicate/records/sha256: stated" in told
    assert "/predicate/follows: stated true, found false" in told
    shutil.rmtree(stated / "ledger")
    shutil.copytree(study / "ledger", stated / "ledger")
    value = json.loads((stated / "statement.json").read_text())
    value["predicate"]["cells"][0]["published"] = "9"
    (stated / "edited.json").write_text(json.dumps(value))
    assert check(stated, "--attested", str(stated / "edited.json")) == 1
    assert '/predicate/cells/0/published: stated "9"' in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{", "{}", '{"_type": "x"}'])
def test_what_is_no_statement_is_refused(text, stated, capsys):
    (stated / "bad.json").write_text(text)
    assert check(stated, "--attested", str(stated / "bad.json")) == 2
    assert "statement" in capsys.readouterr().err
