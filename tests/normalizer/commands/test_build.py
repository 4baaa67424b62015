"""A study file does the commands it names, and writes what they print."""

import importlib

import click
import contract_spec as spec
import pytest

from normalizer.cli import main
from normalizer.commands import build
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
        ('out = "x"\n[[step]]\nrun = "normalize"', "/step/0/run"),
        ('out = "x"\n[[step]]\nrun = "aggregate"\ncolour = "red"', "aggregate has no colour: it has"),
        ('out = "x"\n[[step]]\nrun = "aggregate"', "step 1, aggregate: Missing argument"),
        ("out = ", "is not TOML"),
        ('out = "ledger/x"\n[[step]]\nrun = "aggregate"', "only normalize writes"),
    ],
)
def test_a_study_that_cannot_be_done_says_what_is_wrong(study, capsys, text, said):
    study.write_text(text)
    assert main(["build", str(study)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        'out = "../mine"\n[[step]]\nrun = "aggregate"\nto = "kept.txt"',
        'out = "{mine}"\n[[step]]\nrun = "aggregate"\nto = "kept.txt"',
        'out = "x"\n[[step]]\nrun = "aggregate"\nto = "../../mine/kept.txt"',
        'out = "x"\n[[step]]\nrun = "aggregate"\nto = "{mine}/kept.txt"',
        'out = "x"\n[[step]]\nrun = "aggregate"\nto = "../link/kept.txt"',
        'out = "x"\n[[step]]\nrun = "aggregate"\nto = "../file"',
        'out = "x"\n[defaults]\nout = "{mine}/kept.txt"\n[[step]]\nrun = "report"\nledgers = ["../study/ledger"]',
        'out = "x"\n[[step]]\nrun = "gate"\njunit = "{mine}/kept.txt"',
        'out = "x"\n[[step]]\nrun = "report"\nout = "p.html"\ntables = "../../mine"',
        'out = "x"\n[[step]]\nrun = "plan"\n[[step]]\nrun = "export"\nto = "csv"\nout = "../link/kept.txt"',
        'out = "x"\n[[step]]\nrun = "report"\nout = "p.html"\ntables = "../tables"',
    ],
)
def test_a_study_of_somebody_else_writes_only_below_its_own_folder(tmp_path, capsys, text):
    mine, folder = tmp_path / "mine", tmp_path / "study"
    mine.mkdir()
    folder.mkdir()
    (mine / "kept.txt").write_text("mine")
    (folder / "link").symlink_to(mine)
    (folder / "file").symlink_to(mine / "kept.txt")
    (folder / "tables").mkdir()
    (folder / "tables" / "overview.csv").symlink_to(mine / "kept.txt")
    (folder / "normalizer.toml").write_text(text.format(mine=mine))
    assert main(["build", str(folder / "normalizer.toml")]) == 2
    assert "is outside the study's folder" in capsys.readouterr().err
    assert [path.name for path in mine.iterdir()] == ["kept.txt"]
    assert (mine / "kept.txt").read_text() == "mine"
    assert not (folder / "x").exists()


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
        command = importlib.import_module(f"normalizer.commands.{step.replace('-', '_')}").command
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
    assert {path.name for path in results.iterdir()} == {"page.html", "tables", "figures"}
    assert "Calibration against gold" in (results / "page.html").read_text()


def test_an_export_step_says_its_format_with_to(study):
    study.write_text(
        'out = "results"\n[[step]]\nrun = "export"\nledgers = ["ledger"]\nto = "csv"\nout = "records.csv"\n'
    )
    assert main(["build", str(study)]) == 0
    assert (study.parent / "results" / "records.csv").read_text().startswith("record_id,")
