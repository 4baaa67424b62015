"""Frozen analyses: the digest is of what is asked, and of nothing else."""

import json

import contract_spec as spec
import pytest

from normalizer.cli import main
from normalizer.documents.study_file import analysis_of, digest_analysis
from tests.support.bundles import bundle, entry
from tests.support.studies import ledger_of

STUDY = """\
out = "results"
{frozen}
[defaults]
ledgers = ["ledger"]

[[step]]
run = "aggregate"
by = "generator_model"
diagnostic = true
to = "main.csv"
format = "csv"

[[step]]
run = "gate"
base = "before"
candidate = "ledger"
margin = "0.2"
"""


def document(**changes):
    steps = [
        {"run": "aggregate", "by": "generator_model", "to": "main.csv"},
        {"run": "gate", "margin": "0.2", "base": "before", "candidate": "after"},
    ]
    for step in steps:
        step.update(changes.get(step["run"], {}))
    return {"out": changes.get("out", "results"), "defaults": changes.get("defaults", {}), "step": steps}


@pytest.mark.parametrize(
    "change",
    [
        {"gate": {"margin": "0.3"}},
        {"gate": {"by": "factors.topic"}},
        {"aggregate": {"by": "judge_model"}},
        {"aggregate": {"where": ["phase=1"]}},
        {"defaults": {"unit": "record"}},
    ],
)
def test_another_margin_family_or_selection_is_another_analysis(change):
    assert digest_analysis(document(**change)) != digest_analysis(document())


@pytest.mark.parametrize(
    "change",
    [
        {"out": "elsewhere"},
        {"aggregate": {"to": "other.md", "format": "md", "ledgers": ["new"]}},
        {"gate": {"base": "x", "candidate": "y", "junit": "gate.xml"}},
        {"defaults": {"ledgers": ["ledger"], "engine": "spark"}},
    ],
)
def test_names_of_files_and_the_way_of_printing_are_no_part_of_the_analysis(change):
    assert digest_analysis(document(**change)) == digest_analysis(document())


def test_steps_that_make_no_numbers_are_no_part_of_it():
    study = document()
    more = {**study, "step": [{"run": "normalize", "bundles": ["a.json"]}, *study["step"], {"run": "report"}]}
    assert analysis_of(more) == analysis_of(study)


@pytest.fixture
def home(tmp_path, monkeypatch, capsys):
    """A study that was frozen before its ledger was made."""
    monkeypatch.chdir(tmp_path)
    study = tmp_path / "normalizer.toml"
    study.write_text(STUDY.format(frozen=""))
    assert main(["build", "--freeze"]) == 0
    line = capsys.readouterr().out.strip()
    study.write_text(STUDY.format(frozen=line))
    assert main(["build", "--freeze"]) == 0
    assert "the analysis is the frozen one" in capsys.readouterr().err
    answers = bundle(entry("a.pdf"), entry("b.pdf"), generator_model="writer", judge_model="judge")
    ledger_of(tmp_path, [answers])
    capsys.readouterr()
    assert main(["aggregate", "ledger", "--by", "generator_model", "--diagnostic", "--format", "csv"]) == 0
    (tmp_path / "table.csv").write_text(capsys.readouterr().out)
    return tmp_path


def check(capsys, *options):
    capsys.readouterr()
    status = main(["check", "table.csv", "ledger", "--frozen", "normalizer.toml", "--format", "json", *options])
    report = json.loads(capsys.readouterr().out)
    assert spec.violations("eval/check_report.json", report) == []
    return status, report["frozen"]


def test_check_says_that_a_table_is_of_the_frozen_analysis(home, capsys):
    status, frozen = check(capsys, "--by", "generator_model", "--diagnostic")
    assert (status, frozen["agrees"], frozen["step"], frozen["differs"]) == (0, True, 1, [])


def test_check_names_the_options_that_are_not_those_of_the_frozen_analysis(home, capsys):
    asked = ("--by", "generator_model", "--diagnostic", "--unit", "record", "--where", "judge_model=judge")
    status, frozen = check(capsys, *asked)
    assert (status, frozen["agrees"], frozen["differs"]) == (1, False, ["unit", "where"])
    assert main(["check", "table.csv", "ledger", "--frozen", "normalizer.toml", *asked]) == 1
    assert "the nearest step is 1, which differs in unit, where" in capsys.readouterr().out


def test_a_study_that_was_changed_after_it_was_frozen_is_told_by_check_and_build(home, capsys):
    study = home / "normalizer.toml"
    study.write_text(study.read_text().replace('margin = "0.2"', 'margin = "0.5"'))
    status, frozen = check(capsys, "--by", "generator_model", "--diagnostic")
    assert (status, frozen["agrees"], frozen["differs"]) == (1, False, [])
    assert frozen["sha256"] != frozen["found"]
    assert main(["build", "--freeze"]) == 1
    assert "the analysis is not the frozen one" in capsys.readouterr().err
    study.write_text(study.read_text().split('[[step]]\nrun = "gate"')[0])
    assert main(["build"]) == 1
    assert "the analysis is not the frozen one" in capsys.readouterr().err


def test_a_study_that_was_not_frozen_says_so(home, capsys):
    (home / "normalizer.toml").write_text(STUDY.format(frozen=""))
    status, frozen = check(capsys, "--by", "generator_model", "--diagnostic")
    assert (status, frozen["sha256"], frozen["agrees"]) == (1, None, False)
