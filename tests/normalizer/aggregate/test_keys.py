"""A factor that no record has is refused with suggestions, by every command that takes one."""

import json
from pathlib import Path
from typing import Any

import pytest

from normalizer.cli import main

SCORES: dict[str, Any] = {
    "name": "scores",
    "container": [{"kind": "jsonl"}],
    "fields": {
        "file": {"template": "{/q}/{/m}"},
        "scores": {"overall": {"at": "/r"}},
        "judge_model": {"at": "/j"},
        "generator_model": {"at": "/m"},
        "factors": {"question_id": {"at": "/q"}, "topic": {"at": "/t"}},
    },
    "key": ["file", "judge_model"],
    "rubric": {"name": "r", "dimensions": {"overall": {"scale": {"kind": "integers", "minimum": 1, "maximum": 10}}}},
}
PAIRS = {
    "name": "pairs",
    "kind": "comparison",
    "container": [{"kind": "jsonl"}],
    "comparison": {
        "item": {"at": "/q"},
        "a": {"text": "writer-a"},
        "b": {"text": "writer-b"},
        "verdict": {"text": "a"},
        "order": {"text": "ab"},
        "judge": {"at": "/j"},
        "factors": {"question_id": {"at": "/q"}},
    },
}


def normalized(folder, name, dialect, rows, *stated):
    (folder / f"{name}.dialect.json").write_text(json.dumps(dialect))
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    argv = ["normalize", str(folder / f"{name}.jsonl"), "--dialect", str(folder / f"{name}.dialect.json")]
    argv += ["--set", "phase=1", "--set", "protocol_version=p", *stated, "--out", str(folder / name)]
    assert main(argv) == 0


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Ledgers of scores by models, of labels by a person, and of comparisons."""
    folder = tmp_path_factory.mktemp("study")
    rows = [
        {"q": f"q{n}", "m": writer, "j": judge, "r": 3 + n % 5, "t": f"t{n % 2}"}
        for n in range(12)
        for writer in ("writer-a", "writer-b")
        for judge in ("judge-x", "judge-y")
    ]
    normalized(folder, "scores", SCORES, rows)
    people = [{**row, "j": "anna"} for row in rows if row["j"] == "judge-x"]
    normalized(folder, "people", SCORES, people, "--set", "judge_kind=human")
    normalized(folder, "pairs", PAIRS, [row for row in rows if row["m"] == "writer-a"])
    (folder / "table.csv").write_text("factors.qestion_id,n,total.mean\nq0,2,3\n")
    return folder


CASES = {
    "aggregate --by": ["aggregate", "scores", "--by", "factors.qestion_id"],
    "aggregate --where": ["aggregate", "scores", "--where", "factors.qestion_id=q0"],
    "aggregate --where, no level": ["aggregate", "scores", "--where", "factors.qestion_id="],
    "aggregate --cluster": ["aggregate", "scores", "--interval", "t", "--cluster", "factors.qestion_id"],
    "agreement --where": ["agreement", "scores", "--where", "factors.qestion_id=q0"],
    "compare --by": ["compare", "scores", "--by", "factors.qestion_id"],
    "compare --where": ["compare", "scores", "--where", "factors.qestion_id=q0"],
    "report --by": ["report", "scores", "--by", "factors.qestion_id", "--out", "page.html"],
    "check --by": ["check", "table.csv", "scores", "--by", "factors.qestion_id"],
    "gate --by": ["gate", "scores", "scores", "--by", "factors.qestion_id"],
    "gate --where": ["gate", "scores", "scores", "--where", "factors.qestion_id=q0"],
    "calibrate --by": ["calibrate", "scores", "people", "--by", "factors.qestion_id"],
    "calibrate --where": ["calibrate", "scores", "people", "--where", "factors.qestion_id=q0"],
    "preferences --by": ["preferences", "pairs", "--by", "factors.qestion_id"],
    "preferences --where": ["preferences", "pairs", "--where", "factors.qestion_id=q0"],
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_an_unknown_factor_is_refused_with_a_suggestion(case, study, monkeypatch, capsys):
    monkeypatch.chdir(study)
    assert main(CASES[case]) == 2
    said = capsys.readouterr().err
    assert "no record has the factor qestion_id: the factors are question_id" in said
    assert "did you mean factors.question_id?" in said
    assert not Path("page.html").exists()


def test_a_factor_that_some_records_have_is_accepted(study, monkeypatch, capsys):
    monkeypatch.chdir(study)
    for argv in (
        ["aggregate", "scores", "--by", "factors.topic"],
        ["aggregate", "scores", "--where", "factors.topic=t0"],
        ["aggregate", "scores", "--where", "factors.topic=none-of-them"],
        ["preferences", "pairs", "--by", "factors.question_id"],
    ):
        assert main(argv) == 0, argv
    capsys.readouterr()


def test_records_without_factors_say_so(study, tmp_path, capsys):
    bare = {**SCORES, "fields": {key: value for key, value in SCORES["fields"].items() if key != "factors"}}
    normalized(tmp_path, "bare", bare, [{"q": "q", "m": "w", "j": "j", "r": 3}])
    assert main(["aggregate", str(tmp_path / "bare"), "--by", "factors.topic"]) == 2
    assert "no record has the factor topic: the records have no factors" in capsys.readouterr().err
