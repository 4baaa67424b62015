"""Files in place of ledgers: one step from two files to a verdict or a page, and never by a doubtful reading."""

import json
from pathlib import Path

import pytest

from normalizer.cli import main

DIALECT = {
    "name": "ratings",
    "phase": 1,
    "protocol_version": "this",
    "container": [{"kind": "jsonl"}],
    "fields": {
        "file": {"at": "/id"},
        "scores": {"rating": {"at": "/rating"}},
        "judge_model": {"at": "/judge"},
        "generator_model": {"at": "/model"},
    },
    "rubric": {"name": "r", "dimensions": {"rating": {"scale": {"kind": "integers", "minimum": 1, "maximum": 5}}}},
}


def write(folder, name, model, shift):
    rows = [{"id": f"q{n}", "model": model, "judge": "j", "rating": 1 + (n % 3) + shift} for n in range(20)]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(folder / name)


def compared(capsys, *arguments):
    capsys.readouterr()
    assert main(["compare", *arguments, "--format", "json"]) == 0
    told = capsys.readouterr()
    [contrast] = [each for each in json.loads(told.out)["contrasts"] if each["measure"] == "total"]
    return contrast, told.err


def test_two_files_are_compared_in_one_step_with_a_plain_verdict(tmp_path, capsys):
    files = write(tmp_path, "a.jsonl", "x", 0), write(tmp_path, "b.jsonl", "y", 1)
    contrast, told = compared(capsys, *files)
    assert (contrast["levels"], contrast["difference"], contrast["verdict"]) == (["x", "y"], -1, "lower")
    assert told.count("read as guessed") == 2


def test_the_same_comparison_is_that_of_the_ledgers_of_the_files(tmp_path, capsys):
    files = write(tmp_path, "a.jsonl", "x", 0), write(tmp_path, "b.jsonl", "y", 1)
    (tmp_path / "d.json").write_text(json.dumps(DIALECT))
    for file in files:
        assert main(["normalize", file, "--dialect", str(tmp_path / "d.json"), "--out", f"{file}.ledger"]) == 0
    direct, _ = compared(capsys, *files, "--dialect", str(tmp_path / "d.json"))
    assert direct == compared(capsys, *(f"{file}.ledger" for file in files))[0]


def test_two_files_about_one_generator_are_compared_by_their_names(tmp_path, capsys):
    files = write(tmp_path, "before.jsonl", "x", 0), write(tmp_path, "now.jsonl", "x", 1)
    contrast, _ = compared(capsys, *files)
    assert (contrast["key"], contrast["levels"]) == ("factors.file", ["before.jsonl", "now.jsonl"])


@pytest.mark.parametrize(
    ("rows", "why", "cure"),
    [
        ([{"id": n, "rating": 1 + n % 3} for n in range(9)], "no field names the judge", "normalizer guess"),
        # `guess` would refuse these files, too.
        ([{"id": n, "text": "x" * 90} for n in range(9)], "looks like a score", "normalizer docs dialects"),
        (
            [{"question_id": n, "model": "m", "judgment": "x", "user_prompt": "y"} for n in range(3)],
            "not certain",
            "normalizer docs dialects",
        ),
    ],
)
def test_a_file_whose_reading_is_not_certain_is_refused_with_what_to_do(rows, why, cure, tmp_path, capsys):
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["compare", str(tmp_path / "f.jsonl"), str(tmp_path / "f.jsonl")]) == 2
    told = capsys.readouterr().err
    assert why in told
    assert cure in told


def test_a_report_is_written_straight_from_a_file_and_twice_the_same(tmp_path, capsys):
    file = write(tmp_path, "a.jsonl", "x", 0)
    for name in ("one.html", "two.html"):
        assert main(["report", file, "--out", str(tmp_path / name)]) == 0
    assert "20 of 20 records are in the headline" in capsys.readouterr().out
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_folder_that_is_no_ledger_is_refused(tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    assert main(["compare", str(tmp_path / "folder")]) == 2
    assert "is not a ledger" in capsys.readouterr().err


def test_a_study_is_audited_as_it_was_published_and_a_clean_one_has_no_finding(tmp_path, capsys):
    study = tmp_path / "study"
    study.mkdir()
    write(study, "a.jsonl", "x", 0)
    write(study, "b.jsonl", "y", 1)
    (study / "notes.json").write_text("[1, 2]")
    assert main(["audit", "--study", str(study)]) == 0
    told = capsys.readouterr().err
    assert "left out: " in told
    assert "nothing found" in told
    rows = (study / "b.jsonl").read_text().splitlines()
    (study / "b.jsonl").write_text("\n".join([*rows[1:], rows[1]]) + "\n")
    (study / "notes.json").unlink()
    (tmp_path / "d.json").write_text(json.dumps(DIALECT))
    assert main(["audit", "--study", str(study), "--dialect", str(tmp_path / "d.json")]) == 1
    told = capsys.readouterr().out
    assert "rows_missing" in told
    assert "rows_repeated_within_a_file" in told
    assert "b.jsonl line 1: q1 y" in told, "a row to look at"
    (study / "a.jsonl").unlink()
    (study / "b.jsonl").unlink()
    assert main(["audit", "--study", str(study)]) == 2


@pytest.mark.parametrize(
    "command",
    [
        "aggregate",
        "agreement",
        "list",
        "explain FILE q1",
        "gate FILE FILE",
        "export --to csv",
        "plan",
        "report --out PAGE",
    ],
)
def test_every_command_reads_a_file_as_it_reads_the_ledger_of_the_file(tmp_path, capsys, command):
    file = write(tmp_path, "a.jsonl", "x", 0)
    (tmp_path / "d.json").write_text(json.dumps(DIALECT))
    dialect = ["--dialect", str(tmp_path / "d.json")]
    assert main(["normalize", file, *dialect, "--out", f"{file}.ledger"]) == 0
    printed = []
    for place, flags in ((f"{file}.ledger", []), (file, dialect)):
        words = (
            command if "FILE" in command else command.replace(" ", " FILE ", 1) + ("" if " " in command else " FILE")
        )
        argv = [{"FILE": place, "PAGE": str(tmp_path / "page.html")}.get(word, word) for word in words.split()]
        capsys.readouterr()
        status = main([*argv, *flags])
        printed.append((status, capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert printed[0][0] < 2


def test_a_refusal_names_the_file_and_not_its_temporary_ledger(capsys):
    bundle = Path(__file__).parents[3] / "docs" / "example-calibration" / "judge-larch-1.json"
    assert main(["preferences", str(bundle)]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told == f"normalizer: {bundle} holds single scores, not comparisons: see `normalizer aggregate`"
