"""`--format json` of commands that print text for people: documents of their schemas, with what the text says."""

import json
from pathlib import Path
from typing import Any

import contract_spec as spec
import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry

ROWS = "model,question,judge,score\nalder,q1,larch,3\nalder,q2,larch,4\nbirch,q1,larch,5\nbirch,q2,larch,1\n"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    good, bad = entry("a.md"), entry("b.md")
    bad["scores"]["A_structure"] = 7
    (tmp_path / "bundle.json").write_text(json.dumps(bundle(good, bad), indent=1))
    assert main(["normalize", str(tmp_path / "bundle.json"), "--out", str(tmp_path / "ledger")]) == 1
    return tmp_path / "ledger"


def printed(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == status
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], schema: str, *words: str, status: int = 0) -> Any:
    made = spec.parse(printed(capsys, *words, "--format", "json", status=status).encode(), max_depth=64)
    assert spec.violations(f"eval/{schema}.json", made) == []
    return made


def test_an_explanation_has_the_record_and_the_lines_of_the_text(ledger, capsys):
    one: Any = None
    for file, verdict in (("a.md", "VALID, eligible"), ("b.md", "INVALID")):
        text = printed(capsys, "explain", str(ledger), file)
        [one] = document(capsys, "explanation", "explain", str(ledger), file)["records"]
        assert one["verdict"] == verdict
        assert f"record {one['record']['record_id']}: {verdict}" in text
        for quote in one["quotes"]:
            for number, line in enumerate(quote["lines"], start=quote["first_line"]):
                assert f"{number:>5} | {line}" in text
    assert [quote["code"] for quote in one["quotes"]] == ["score_not_allowed"]
    sha256 = one["record"]["source"]["bundle_sha256"]
    read = document(capsys, "explanation", "explain", str(ledger), sha256)["bundle"]
    assert (read["entries"], read["valid"]) == (2, 1)
    assert printed(capsys, "explain", str(ledger), sha256).startswith(f"bundle {sha256}: read\n  entries: 2\n")


def test_a_proposal_has_the_readings_and_commands_of_the_text(ledger, tmp_path, capsys):
    (tmp_path / "rows.csv").write_text(ROWS)
    for name in ("rows.csv", "bundle.json"):
        words = ("guess", str(tmp_path / name))
        text, made = printed(capsys, *words), document(capsys, "proposal", *words)
        assert made["readings"]
        for reading in made["readings"]:
            assert reading["title"] in text
            assert "\n".join(reading["commands"]) in text
    (tmp_path / "none.csv").write_text("a,b\nx,y\n")
    made = document(capsys, "proposal", "guess", str(tmp_path / "none.csv"), status=1)
    assert made["readings"] == []
    assert made["why"]


def test_findings_of_lint_and_dialects_are_those_of_the_text(tmp_path, capsys):
    (tmp_path / "rubric.json").write_text("{}")
    words = ("lint", "--rubric", str(tmp_path / "rubric.json"))
    text = printed(capsys, *words, status=1)
    found = document(capsys, "lint_report", *words, status=1)["findings"]
    assert [f"{one['document']}: {one['pointer']}: {one['message']}" for one in found] == text.splitlines()
    assert document(capsys, "lint_report", "lint") == {"findings": []}
    lines = printed(capsys, "dialects").splitlines()[1:]
    listed = document(capsys, "dialect_list", "dialects")["dialects"]
    assert [line.split()[0] for line in lines] == [one["name"] for one in listed]


def test_a_file_may_stand_for_a_ledger_in_an_audit(ledger, capsys):
    text = printed(capsys, "audit", str(ledger.parent / "bundle.json"))
    assert "entries: 2 = 1 valid + 1 invalid" in text
