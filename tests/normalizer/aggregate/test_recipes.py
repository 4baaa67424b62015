"""Scores of groups by another board's recipe."""

import json

import contract_spec as spec
import pytest

from normalizer.cli import main
from tests.support.bundles import bundle, entry
from tests.support.studies import ledger_of

TAGS = {
    "s0": ("Math", ["Reasoning"]),
    "s1": ("Reasoning", []),
    "s2": ("Editing", []),
    "s3": ("Advice seeking", []),
    "s4": ("Coding & Debugging", []),
}
SCORES = {"writer-a": (7, 4, 9, 3, 8), "writer-b": (2, 2, 5, 6, 1)}


@pytest.fixture
def ledger(tmp_path):
    rows = [
        {"session_id": item, "generator": name, "parsed_result": {"score": str(score)}, "model_output": "..."}
        for name, scores in SCORES.items()
        for item, score in zip(TAGS, scores, strict=True)
    ]
    source = tmp_path / "scores.json"
    source.write_text(json.dumps(rows))
    asked = ["normalize", str(source), "--dialect", "wildbench", "--set", "judge_model=judge"]
    assert main([*asked, "--out", str(tmp_path / "ledger")]) == 0
    tags = [{"id": item, "primary_tag": one, "secondary_tags": more} for item, (one, more) in TAGS.items()]
    (tmp_path / "tags.json").write_text(json.dumps(tags))
    return tmp_path / "ledger"


def test_wildbench_scores_of_groups_are_those_of_its_table(ledger, capsys):
    asked = ["aggregate", str(ledger), "--by", "generator_model", "--format", "json", "--recipe"]
    found = {}
    for name in ("wildbench", "wildbench-macro"):
        capsys.readouterr()
        file = ["--recipe-file", str(ledger.parent / "tags.json")] if name == "wildbench-macro" else []
        assert main([*asked, name, *file]) == 0
        document = json.loads(capsys.readouterr().out)
        assert spec.violations("eval/summary.json", document) == []
        assert len(document["recipe"]["files"]) == len(file) // 2
        for row in document["rows"]:
            score = found[name, row["key"]["generator_model"]] = row["recipe"]["score"]
            assert row["recipe"]["ci95"][0] < score < row["recipe"]["ci95"][1]
    for name, scores in SCORES.items():
        assert found["wildbench", name] == pytest.approx(20 * (sum(scores) / 5 - 5), abs=1e-6)
        moved = [20 * (score - 5) for score in scores]
        groups = moved[0], (moved[0] + moved[1]) / 2, moved[2], moved[3], moved[4]
        macro = sum(w * mean for w, mean in zip((1, 1.25, 0.5, 0.75, 1.25), groups, strict=True)) / 4.75
        assert found["wildbench-macro", name] == pytest.approx(macro, abs=1e-6)


def test_a_table_names_the_recipe_with_its_source(ledger, capsys):
    capsys.readouterr()
    assert main(["aggregate", str(ledger), "--by", "generator_model", "--recipe", "wildbench"]) == 0
    printed = capsys.readouterr().out
    assert "score low" in printed
    assert "github.com/allenai/WildBench" in printed


def test_a_scale_that_is_not_wildbenchs_is_refused(tmp_path, capsys):
    other = ledger_of(tmp_path, [bundle(entry())])
    assert main(["aggregate", str(other), "--recipe", "wildbench", "--diagnostic"]) == 2
    assert "is for scores from 1 to 10" in capsys.readouterr().err
