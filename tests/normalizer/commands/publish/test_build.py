"""A study file does the commands it names, and writes what they print."""

import json
import os
import shutil

import click
import contract_spec as spec
import pytest

from normalizer.cli import load_command, main
from normalizer.commands.publish import build
from tests.support.bundles import DIMENSIONS
from tests.support.labelling import bundle_of, labelled, noisy, truth

STUDY = """
out = "results"

[defaults]
ledgers = ["ledger"]
by = "generator_model"

[[step]]
run = "aggregate"
cells = "mean-ci"
places = 2
format = "md"
rename = ["generator_model=Model"]
to = "tables/main.md"

[[step]]
run = "check"
table = "results/tables/main.md"
column = ["Model=generator_model"]
all = true
to = "check.txt"

[[step]]
run = "gate"
base = "ledger"
candidate = "ledger"
base_where = ["generator_model=v-1"]
candidate_where = ["generator_model=v-2"]
by = ""
junit = "gate.xml"
to = "gate.txt"
"""


@pytest.fixture
def study(tmp_path):
    real = truth(20, 1)
    runs = {"v-1": real, "v-2": noisy(real, 2, 0.6)}
    bundles = [bundle_of(scores, "judge", generator_model=name) for name, scores in runs.items()]
    labelled(tmp_path, "ledger", *bundles)
    path = tmp_path / "normalizer.toml"
    path.write_text(STUDY)
    return path


def test_every_step_writes_what_its_command_prints(study, capsys):
    assert main(["build", str(study)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "step 2, check: done" in told.err
    assert "step 3, gate: found something" in told.err
    results = study.parent / "results"
    shown = ["--by", "generator_model", "--cells", "mean-ci", "--places", "2", "--format", "md"]
    main(["aggregate", str(study.parent / "ledger"), *shown, "--rename", "generator_model=Model"])
    assert (results / "tables" / "main.md").read_text() == capsys.readouterr().out
    assert "14 match" in (results / "check.txt").read_text()
    assert "<testsuite" in (results / "gate.xml").read_text()


def test_a_second_build_gives_the_same_bytes(study):
    main(["build", str(study)])
    folder = study.parent / "results"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    main(["build", str(study)])
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('out = 1\n[[step]]\nrun = "aggregate"', "/out must be a string"),
        ('out = "x"\n[[step]]\nrun = "judge"', "/step/0/run"),
        ('out = "x"\n[[step]]\nrun = "aggregate"\ncolour = "red"', "aggregate has no colour: it has"),
        ('out = "x"\n[[step]]\nrun = "aggregate"', "step 1: aggregate needs ledgers"),
        ("out = ", "is not TOML"),
        ('out = "ledger/x"\n[[step]]\nrun = "aggregate"', "only normalize writes"),
    ],
)
def test_a_study_that_cannot_be_done_says_what_is_wrong(study, capsys, text, said):
    study.write_text(text)
    assert main(["build", str(study)]) == 2
    assert said in capsys.readouterr().err


TABLE = '[[step]]\nrun = "aggregate"\nledgers = ["ledger"]\nby = "generator_model"\nto = "{to}"\n'


@pytest.mark.parametrize(
    "out",
    ["../mine", "{mine}", ".", "x/..", ".git/hooks", "x/.hidden", "src/.git", "link", "hooks", "GIT~1/hooks", "src"],
)
def test_a_study_of_somebody_else_writes_only_into_a_folder_of_its_own(study, capsys, out):
    home = study.parent
    mine = home.parent / f"{home.name}-mine"
    for folder in (mine, home / ".git" / "hooks", home / "src"):
        folder.mkdir(parents=True)
        (folder / "pre-commit").write_text("mine")
    (home / "link").symlink_to(mine)
    (home / "hooks").symlink_to(home / ".git" / "hooks")
    study.write_text(f'out = "{out.format(mine=mine)}"\n' + TABLE.format(to="pre-commit"))
    before = all_files(home) | all_files(mine)
    assert main(["build", str(study)]) == 2
    err = capsys.readouterr().err
    assert any(part in err for part in ("outside the study", "out must be", "no build wrote"))
    assert all_files(home) | all_files(mine) == before


@pytest.mark.parametrize(
    "to",
    [
        "../kept.txt",
        "x/../../kept.txt",
        "/tmp/kept.txt",
        ".git/hooks/pre-commit",
        "x/.hidden",
        "\u200c.git/hooks/pre-commit",
        ".g\u200cit/config",
        "GIT~1/config",
        "normalizer-build.json",
        "Normalizer-Build.JSON",
        "kept.txt.",
        "git:stream",
        "x//y",
        ".",
        "x/",
    ],
)
@pytest.mark.parametrize("step", ["to", "junit", "tables"])
def test_a_result_lies_strictly_below_out_and_is_hidden_on_no_file_system(study, capsys, step, to):
    text = {
        "to": '[[step]]\nrun = "aggregate"\nto = "{to}"\n',
        "junit": '[[step]]\nrun = "gate"\njunit = "{to}"\n',
        "tables": '[defaults]\ntables = "{to}"\n[[step]]\nrun = "report"\nout = "page.html"\n',
    }[step]
    study.write_text('out = "x"\n' + text.format(to=to), encoding="utf-8")
    before = all_files(study.parent)
    assert main(["build", str(study)]) == 2
    assert "a result cannot be called" in capsys.readouterr().err
    assert all_files(study.parent) == before


def test_a_build_replaces_what_a_build_wrote_and_nothing_else(study, capsys):
    results = study.parent / "results"
    study.write_text('out = "results"\n' + TABLE.format(to="main.txt"))
    assert main(["build", str(study)]) == 0
    (results / "notes.txt").write_text("mine")
    (results / "run.sh").write_text("mine")
    (results / "run.sh").chmod(0o755)
    (results / "away").symlink_to(study.parent / "ledger")
    study.write_text('out = "results"\n' + TABLE.format(to="main.txt").replace("by =", 'format = "md"\nby ='))
    assert main(["build", str(study)]) == 0
    assert (results / "main.txt").read_text().startswith("|")
    for name in ("notes.txt", "run.sh", "away", "away/records.jsonl", "notes.txt/x"):
        study.write_text('out = "results"\n' + TABLE.format(to=name))
        before = all_files(study.parent)
        assert main(["build", str(study)]) == 2
        err = capsys.readouterr().err
        assert any(part in err for part in ("is not what a build wrote", "is not a folder"))
        assert all_files(study.parent) == before


def test_a_result_that_was_changed_by_hand_is_not_replaced(study, capsys):
    study.write_text('out = "results"\n' + TABLE.format(to="main.txt"))
    assert main(["build", str(study)]) == 0
    (study.parent / "results" / "main.txt").write_text("mine")
    assert main(["build", str(study)]) == 2
    assert "main.txt is not what a build wrote" in capsys.readouterr().err
    assert (study.parent / "results" / "main.txt").read_text() == "mine"


def test_a_ledger_below_the_results_is_not_written_to(study, capsys):
    study.write_text('out = "results"\n' + TABLE.format(to="main.txt"))
    assert main(["build", str(study)]) == 0
    shutil.copytree(study.parent / "ledger", study.parent / "results" / "ledger")
    before = all_files(study.parent)
    for name in ("ledger/new.txt", "ledger/records.jsonl", "ledger/bundles/new.txt"):
        study.write_text('out = "results"\n' + TABLE.format(to=name))
        assert main(["build", str(study)]) == 2
        assert "is a ledger, which only normalize writes to" in capsys.readouterr().err
    assert all_files(study.parent) == before


def all_files(folder):
    """Bytes and mode of every file, and the target of every link."""
    paths = [path for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
    return {
        path: os.readlink(path) if path.is_symlink() else (path.read_bytes(), path.stat().st_mode)
        for path in paths
        if path.name != "normalizer.toml"
    }


def test_results_elsewhere_are_written_if_that_is_allowed(study):
    study.write_text(
        f'out = "{study.parent.parent / study.parent.name}-results"\n[[step]]\nrun = "aggregate"\n'
        'ledgers = ["ledger"]\nby = "generator_model"\nto = "main.txt"\n'
    )
    assert main(["build", str(study)]) == 2
    assert main(["build", str(study), "--outside"]) == 0
    assert study.parent.with_name(f"{study.parent.name}-results").joinpath("main.txt").exists()


def test_every_path_of_every_step_is_taken_from_the_study_file_or_its_results():
    steps = spec.schema("eval/study.json")["$defs"]["step"]["properties"]["run"]["enum"]
    for step in steps:
        command = load_command(step)
        paths = {str(each.name) for each in command.params if isinstance(each.type, click.Path)}
        assert paths <= {*build._INPUTS, *build._OUTPUTS}, step


def test_a_report_step_finds_its_ledgers_beside_the_study_file_and_writes_into_its_results(
    study, monkeypatch, tmp_path
):
    real = truth(20, 1)
    labelled(tmp_path, "gold", bundle_of(real, "anna", generator_model="v-1", judge_kind="human"))
    study.write_text(
        'out = "results"\n[[step]]\nrun = "report"\nledgers = ["ledger"]\ngold = ["gold"]\nout = "page.html"\n'
        'tables = "tables"\nfigures = "figures"\n'
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main(["build", str(study)]) == 0
    assert list(elsewhere.iterdir()) == []
    results = study.parent / "results"
    assert {path.name for path in results.iterdir()} == {"normalizer-build.json", "page.html", "tables", "figures"}
    assert "Calibration against gold" in (results / "page.html").read_text()


def test_an_export_step_says_its_format_with_to(study):
    study.write_text(
        'out = "results"\n[[step]]\nrun = "export"\nledgers = ["ledger"]\nto = "csv"\nout = "records.csv"\n'
    )
    assert main(["build", str(study)]) == 0
    assert (study.parent / "results" / "records.csv").read_text().startswith("record_id,")


FROM_RAW_FILES = """
out = "results"

[defaults]
ledgers = ["results/ledger"]

[[step]]
run = "normalize"
bundles = ["runs"]
manifest = "manifest.json"

[[step]]
run = "audit"
to = "audit.txt"

[[step]]
run = "aggregate"
format = "csv"
to = "main.csv"

[[step]]
run = "check"
table = "results/main.csv"
to = "check.txt"
"""


def test_a_study_goes_from_raw_files_to_a_checked_table_and_again_to_the_same_bytes(tmp_path, monkeypatch):
    home = tmp_path / "study"
    (home / "runs").mkdir(parents=True)
    manifest = {"protocol_version": "p", "judge_model": "j", "generator_model": "g", "phase": 1}
    (home / "manifest.json").write_text(json.dumps({**manifest, "files": [{"file": "a"}, {"file": "b"}]}))
    scored = [{"file": name, "scores": dict.fromkeys(DIMENSIONS, place)} for place, name in enumerate("ab")]
    (home / "runs" / "one.json").write_text(json.dumps({"per_file_scores": scored}))
    (home / "normalizer.toml").write_text(FROM_RAW_FILES)
    monkeypatch.chdir(tmp_path)
    assert main(["build", "study/normalizer.toml"]) == 0
    before = all_files(home)
    assert "2 valid + 0 invalid" in (home / "results" / "audit.txt").read_text()
    assert "0 mismatch" in (home / "results" / "check.txt").read_text()
    assert main(["build", "study/normalizer.toml"]) == 0
    assert all_files(home) == before


@pytest.mark.parametrize(
    ("out", "said"), [("mine", "made by no build"), ("../ledger", "below out"), ("l/x", "not a fol")]
)
def test_a_study_adds_to_no_ledger_that_no_build_made(study, capsys, out, said):
    results = study.parent / "results"
    shutil.copytree(study.parent / "ledger", results / "mine")
    (results / "normalizer-build.json").write_text('{"files": {}}')
    (results / "l").symlink_to(study.parent)
    (study.parent / "b.json").write_text('{"per_file_scores": []}')
    study.write_text(f'out = "results"\n[[step]]\nrun = "normalize"\nbundles = ["b.json"]\nout = "{out}"\n')
    before = all_files(study.parent)
    assert main(["build", str(study)]) == 2
    assert said in capsys.readouterr().err
    assert all_files(study.parent) == before
