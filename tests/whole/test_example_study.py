"""The worked example: its files are those that its manifests name, and its verdicts are those that the docs tell of."""

import hashlib
import json
from pathlib import Path

import pypdf
import pytest

from normalizer.cli import main
from normalizer.ledger.reader import reading

STUDY = Path(__file__).parents[2] / "docs" / "example-study"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "ledger"
    for run in sorted((STUDY / "runs").iterdir()):
        options = [f"--{kind}={run / kind}.json" for kind in ("manifest", "dialect") if (run / f"{kind}.json").exists()]
        assert main(["normalize", str(run / "bundle.json"), "--out", str(out), *options]) in (0, 1)
    return out


def test_manifests_name_the_artifacts_and_their_hashes():
    for path in STUDY.glob("runs/*/manifest.json"):
        for item in json.loads(path.read_bytes())["files"]:
            data = (STUDY / "artifacts" / item["path"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == item["sha256"]


def test_the_pdfs_are_read_by_others():
    for path in sorted(STUDY.glob("artifacts/*/*.pdf")):
        text = pypdf.PdfReader(path).pages[0].extract_text()
        assert "New rules of the bicycle workshop" in text
        assert "A stand is yours for ninety minutes, and then it passes on." in " ".join(text.split())


def test_the_verdicts_are_those_of_the_docs(ledger, capsys):
    capsys.readouterr()
    assert main(["audit", str(ledger), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["counts"] == {"bundles": 4, "audited": 1, "entries": 78, "valid": 69, "invalid": 9}
    assert report["eligibility"] == {"eligible": 52, "diagnostic": 6, "self_judged": 11}
    assert {row["code"]: row["records"] + row["bundles"] for row in report["reasons"]} == {
        "not_strict_json": 1, "file_without_entry": 1, "file_duplicated": 2, "file_not_in_manifest": 1,
        "generator_model_missing": 1, "dimension_missing": 1, "score_not_allowed": 3, "evidence_missing": 1,
        "total_mismatch": 1,
    }  # fmt: skip


def test_two_judges_who_spell_names_differently_meet_on_the_artifact(ledger):
    by_judge: dict[str, set[str]] = {}
    with reading(ledger) as opened:
        for record in opened.items("records"):
            by_judge.setdefault(record["judge_model"], set()).add(record["artifact"])
    shared = by_judge["judge-cedar"] & by_judge["writer-birch"]
    assert len(shared) == 21
    assert len(by_judge["judge-cedar"] | by_judge["writer-birch"]) == 24
