"""The page of codes is what spec/ makes, and has every code."""

import contract_spec as spec

from tools import reference


def test_the_page_is_what_the_spec_makes(capsys):
    assert reference.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_drift_is_told_with_the_command_that_mends_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    assert reference.main(["--check"]) == 1
    assert "nox -s generate" in capsys.readouterr().out
    assert reference.main([]) == 0
    assert reference.main(["--check"]) == 0


def test_every_code_has_a_row():
    page = reference.errors_page()
    codes = spec.schema("zeno/error.json")["properties"]["code"]["enum"]
    for code in (*codes, *spec.resource("rules/reasons.json"), *spec.resource("rules/flags.json")):
        assert f"\n| `{code}` |" in page
