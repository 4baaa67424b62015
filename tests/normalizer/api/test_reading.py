"""Files and rows read from Python give the lines that the command writes."""

import gc
import json
from typing import Any

import polars
import pytest

import normalizer
from normalizer.cli import main
from normalizer.errors import CannotRun

RUBRIC = {"name": "r", "dimensions": {"overall": {"scale": {"kind": "integers", "minimum": 1, "maximum": 5}}}}
DIALECT: dict[str, Any] = {
    "name": "ratings",
    "phase": 1,
    "protocol_version": "this",
    "container": [{"kind": "csv"}],
    "fields": {
        "file": {"at": "/q"},
        "scores": {"overall": {"at": "/rating", "failed": [None], "absent": "failed"}},
        "judge_model": {"at": "/judge"},
        "generator_model": {"at": "/model"},
    },
    "key": ["file", "generator_model"],
}
ROWS = [
    {"q": f"q{n}", "model": m, "judge": "judge-a", "rating": None if n == 3 else 1 + n % 5}
    for n in range(6)
    for m in ("x", "y")
]


def test_a_file_that_is_no_bundle_says_how_a_dialect_is_proposed(tmp_path):
    (tmp_path / "ratings.csv").write_text("id,score\n1,3\n")
    made = normalizer.read(tmp_path / "ratings.csv")
    assert made.notes[-1] == f"a file that is no judge bundle needs a dialect: normalizer guess {tmp_path}/ratings.csv"


def write_files(folder):
    (folder / "rows.jsonl").write_bytes(
        b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in ROWS)
    )
    (folder / "rubric.json").write_text(json.dumps(RUBRIC))
    (folder / "dialect.json").write_text(json.dumps({**DIALECT, "container": [{"kind": "jsonl"}]}))


def test_rows_frames_and_files_give_the_lines_of_the_command(tmp_path, capsys):
    write_files(tmp_path)
    options = ["--dialect", str(tmp_path / "dialect.json"), "--rubric", str(tmp_path / "rubric.json")]
    assert main(["normalize", str(tmp_path / "rows.jsonl"), *options, "--out", str(tmp_path / "command")]) == 1
    told = tuple(capsys.readouterr().err.splitlines())
    command = normalizer.open(tmp_path / "command")
    wanted = [*command.lines(), *command.lines(invalid=True)]
    assert len(wanted) == 12
    for source in (ROWS, polars.DataFrame(ROWS), tmp_path / "rows.jsonl", [str(tmp_path / "rows.jsonl")]):
        is_file = source is not ROWS and not isinstance(source, polars.DataFrame)
        made = normalizer.read(source, dialect=tmp_path / "dialect.json" if is_file else DIALECT, rubric=RUBRIC)
        assert [*made.lines(), *made.lines(invalid=True)] == wanted
        assert [line.partition("/")[0] for line in made.notes[:3]] == [line.partition("/")[0] for line in told[:3]]
        assert made.summary(["generator_model"]) == command.summary(["generator_model"])


def test_a_temporary_ledger_goes_with_its_object_and_one_that_is_named_stays(tmp_path):
    made = normalizer.read(ROWS, dialect=DIALECT, rubric=RUBRIC)
    [folder] = made.folders
    assert folder.exists()
    del made
    gc.collect()
    assert not folder.exists()
    normalizer.read(ROWS, dialect=DIALECT, rubric=RUBRIC, out=tmp_path / "ledger")
    assert len(list(normalizer.open(tmp_path / "ledger").records())) == 10


def test_what_is_stated_is_in_every_record():
    dialect = {**DIALECT, "fields": {key: value for key, value in DIALECT["fields"].items() if key != "judge_model"}}
    made = normalizer.read(ROWS, dialect=dialect, rubric=RUBRIC, stated={"judge_model": "told"})
    assert {record.judge_model for record in made.records()} == {"told"}


def test_rows_without_a_dialect_and_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(CannotRun, match="rows need a dialect"):
        normalizer.read(ROWS)
    with pytest.raises(CannotRun, match="cannot read"):
        normalizer.read(tmp_path / "nothing.jsonl", dialect="mt-bench")
    with pytest.raises(CannotRun, match="exactly one of"):
        normalizer.read(ROWS, dialect={**DIALECT, "fields": {**DIALECT["fields"], "file": {}}})
