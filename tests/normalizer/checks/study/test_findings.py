"""Findings on a study: each planted defect is found, and a clean study has none."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from normalizer.checks.study.findings import findings
from normalizer.cli import main

DIALECT: dict[str, Any] = {
    "name": "d",
    "container": [{"kind": "jsonl"}],
    "fields": {
        "file": {"template": "{/q}/{/m}"},
        "scores": {"overall": {"at": "/r", "number": ["plain", "of_10"], "failed": [-1]}},
        "notes": {"at": "/why"},
        "judge_model": {"at": "/j"},
        "generator_model": {"at": "/m"},
        "answer": {"at": "/a"},
        "factors": {"question_id": {"at": "/q"}},
    },
    "rubric": {"name": "r", "dimensions": {"overall": {"scale": {"kind": "integers", "minimum": 1, "maximum": 10}}}},
}


def clean():
    """Rows by ledger and file: two generators, two judges, four questions."""
    return {
        f"{writer}/{judge}": {
            "rows.jsonl": [
                {"q": f"q{n}", "m": writer, "j": judge, "r": 3 + n, "why": f"since {n}", "a": f"{writer} says {n}"}
                for n in range(4)
            ]
        }
        for writer in ("writer-a", "writer-b")
        for judge in ("judge-x", "judge-y")
    }


def change(place, number, **values):
    def plant(study):
        study[place]["rows.jsonl"][number].update(values)

    return plant


def copy_answer(study):
    for judge in ("judge-x", "judge-y"):
        study[f"writer-b/{judge}"]["rows.jsonl"][1]["a"] = "writer-a says 1"


def repeat_within(study):
    rows = study["writer-a/judge-x"]["rows.jsonl"]
    rows.append({**rows[0], "r": 9})


def repeat_between(study):
    study["writer-a/judge-x"]["more.jsonl"] = [{**study["writer-a/judge-x"]["rows.jsonl"][0], "r": 9}]


def drop(study):
    del study["writer-b/judge-y"]["rows.jsonl"][2]


def cut_off(study):
    study["writer-a/judge-x"]["rows.jsonl"].append('{"q": "q4", "m": ')


def copy_rows(study):
    rows = study["writer-a/judge-x"]["rows.jsonl"]
    rows += rows[:3]


def unsigned(study):
    del study["writer-a/judge-x"]["rows.jsonl"][0]["j"]


PLANTED = {
    "same_answer_two_generators": (copy_answer, 4),
    "answer_of_another_item": (change("writer-a/judge-x", 0, a="writer-a says 1"), 3),
    "generator_contradicts_folder": (change("writer-a/judge-x", 0, m="writer-b"), 1),
    "judge_contradicts_folder": (change("writer-a/judge-x", 0, j="judge-y"), 1),
    "rows_repeated_within_a_file": (repeat_within, 2),
    "rows_repeated_between_files": (repeat_between, 2),
    "self_judging_unlabelled": (change("writer-a/judge-x", 0, j="writer-a"), 1),
    "verdict_without_judge": (unsigned, 1),
    "verdict_without_reply": (change("writer-a/judge-x", 0, why=""), 1),
    "rows_missing": (drop, 1),
    "score_not_allowed": (change("writer-a/judge-x", 0, r=70), 1),
    "two_spellings_of_a_scale": (change("writer-a/judge-x", 0, r="7/10"), 1),
    "judge_failed": (change("writer-a/judge-x", 0, r=-1), 1),
    "row_unreadable": (cut_off, 1),
    "row_texts_repeated": (copy_rows, 6),
}


def made(study, folder):
    (folder / "dialect.json").write_text(json.dumps(DIALECT))
    for place, files in study.items():
        raw = folder / "raw" / place
        raw.mkdir(parents=True)
        for name, rows in files.items():
            (raw / name).write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
        ledger = folder / "study" / place
        argv = ["normalize", str(raw), "--dialect", str(folder / "dialect.json"), "--out", str(ledger)]
        assert main(argv) in (0, 1)
    return folder / "study"


def test_a_clean_study_has_no_findings(tmp_path, capsys):
    study = made(clean(), tmp_path)
    assert findings(study) == []
    assert main(["audit", "--study", str(study)]) == 0
    assert "nothing found" in capsys.readouterr().err


def test_every_finding_that_the_docs_list_is_planted_here():
    page = (Path(__file__).parents[4] / "docs" / "guides" / "dialects.md").read_text()
    table = page.partition("## Defects of a study")[2].partition("\n## ")[0]
    listed = {code for line in table.splitlines() if line.startswith("- `") for code in re.findall("`([a-z_]+)`", line)}
    listed -= {"sha256"}
    assert listed - {"contradicts_manifest", "same_row_two_generators"} == PLANTED.keys()
    assert set(re.findall(r'"([a-z]+_[a-z_]+)"', Path(findings.__code__.co_filename).read_text())) <= listed | REASONS


REASONS = {"manifest_contradiction", "file_duplicated"}
"""Codes of records that findings have another name for."""


@pytest.mark.parametrize("code", sorted(PLANTED))
def test_a_planted_defect_is_found_with_its_number(code, tmp_path):
    study = clean()
    plant, number = PLANTED[code]
    plant(study)
    found = {finding.code: finding for finding in findings(made(study, tmp_path))}
    assert found[code].records == number
    assert len(found[code].examples) == min(number, 5)


def test_a_row_that_contradicts_what_was_stated_is_found(tmp_path):
    study = made(clean(), tmp_path)
    raw, dialect = tmp_path / "raw" / "writer-a" / "judge-x", tmp_path / "dialect.json"
    argv = ["normalize", str(raw), "--dialect", str(dialect), "--set", "judge_model=judge-z", "--replace"]
    assert main([*argv, "--out", str(study / "writer-a" / "judge-x")]) == 1
    assert {finding.code: finding.records for finding in findings(study)}["contradicts_manifest"] == 4


def test_the_worst_comes_first_and_every_form_has_all(tmp_path, capsys):
    study = clean()
    drop(study)
    copy_answer(study)
    folder = made(study, tmp_path)
    codes = [finding.code for finding in findings(folder)]
    assert codes == ["same_answer_two_generators", "rows_missing"]
    capsys.readouterr()
    for form in ("text", "json", "csv"):
        assert main(["audit", "--study", str(folder), "--format", form]) == 1
        out = capsys.readouterr().out
        assert out.index(codes[0]) < out.index(codes[1])


def test_what_is_no_study_is_refused(tmp_path, capsys):
    assert main(["audit", "--study", str(tmp_path)]) == 2
    assert "no ledger is below" in capsys.readouterr().err
    assert main(["audit"]) == 2


def normalized(rows, dialect, ledger, *stated):
    raw = ledger.parent / f"{ledger.name}.jsonl"
    raw.parent.mkdir(parents=True, exist_ok=True)
    raw.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = [part for one in stated for part in ("--set", one)]
    assert main(["normalize", str(raw), "--dialect", str(dialect), *given, "--out", str(ledger)]) in (0, 1)


def test_the_same_file_submitted_for_two_generators_that_only_the_command_names(tmp_path):
    fields = {name: value for name, value in DIALECT["fields"].items() if name not in ("generator_model", "answer")}
    dialect = tmp_path / "dialect.json"
    dialect.write_text(json.dumps({**DIALECT, "fields": {**fields, "file": {"at": "/q"}}}))
    rows = [{"q": f"q{number}", "j": "judge-x", "r": 5, "why": f"since {number}"} for number in range(12)]
    for name in ("writer-a", "writer-b"):
        normalized(rows, dialect, tmp_path / "study" / name, f"generator_model={name}")
    found = {finding.code: finding for finding in findings(tmp_path / "study")}
    assert found["same_row_two_generators"].records == 24
    places = [example.split(": ")[0].partition(" ")[2] for example in found["same_row_two_generators"].examples]
    assert places == [f"writer-a line {number}" for number in range(1, 6)]


def test_rows_that_contradict_their_folder_name_no_further_judge_with_missing_rows(tmp_path):
    study = clean()
    change("writer-a/judge-x", 0, j="judge-z")(study)
    found = {finding.code: finding for finding in findings(made(study, tmp_path))}
    assert (found["judge_contradicts_folder"].records, found["rows_missing"].records) == (1, 1)


def test_comparisons_of_a_study_are_looked_at(tmp_path):
    rows: list[dict[str, Any]] = [
        {"question_id": number, "model": "m", "judge": "j", "games": [{"score": "A>B"}, {"score": "B>A"}]}
        for number in range(4)
    ]
    normalized(rows, "arena-hard", tmp_path / "study" / "one", "baseline=b")
    normalized([{**rows[0], "games": rows[0]["games"][::-1]}], "arena-hard", tmp_path / "study" / "two", "baseline=b")
    found = {finding.code: finding.records for finding in findings(tmp_path / "study")}
    assert found == {"rows_repeated_between_files": 4}
