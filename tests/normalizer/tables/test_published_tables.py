"""Tables for a paper: every cell follows from the ledger, in every format, and the best is bold."""

import json
import re
import subprocess

import pytest

from normalizer.cli import main
from tests.support.labelling import bundle_of, labelled, noisy, truth
from tests.support.lacking import needs


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    real = truth(25, 1)
    runs = {"v-1": real, "v-2": noisy(real, 2, 0.7), "v-3": noisy(real, 3, 0.3, 0.4)}
    bundles = [bundle_of(scores, "judge", generator_model=name) for name, scores in runs.items()]
    return labelled(tmp_path_factory.mktemp("tables"), "ledger", *bundles)


@pytest.mark.parametrize("form", ["csv", "md", "latex"])
@pytest.mark.parametrize("cells", ["mean", "mean-ci", "mean-sd"])
@pytest.mark.parametrize("places", ["0", "2", "3"])
def test_check_reads_back_what_aggregate_publishes(ledger, tmp_path, capsys, form, cells, places):
    shown = ["--by", "generator_model", "--cells", cells, "--places", places, "--format", *form.split()]
    shown += ["--bold", "highest"]
    assert main(["aggregate", str(ledger), *shown, "--rename", "generator_model=Model"]) == 0
    path = tmp_path / "table"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    command = ["check", str(path), str(ledger), "--by", "generator_model", "--column", "Model=generator_model", "--all"]
    assert main(command) == 0, capsys.readouterr().out
    assert "21 cells: 21 match" in capsys.readouterr().out


def test_the_best_of_each_column_is_bold(ledger, capsys):
    shown = ["--by", "generator_model", "--cells", "mean", "--places", "3", "--columns", "generator_model,total"]
    assert main(["aggregate", str(ledger), *shown, "--format", "md", "--bold", "lowest"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:5]
    totals = {line: float(line.split("|")[2].strip().strip("*")) for line in lines}
    assert [line for line in lines if "**" in line] == [min(totals, key=lambda line: totals[line])]


def test_a_column_that_is_not_there_is_refused_with_those_that_are(ledger, capsys):
    assert main(["aggregate", str(ledger), "--columns", "colour"]) == 2
    assert "its columns are n, items, records" in capsys.readouterr().err


def test_latex_for_one_column_breaks_long_headings(ledger, capsys):
    assert main(["aggregate", str(ledger), "--cells", "mean", "--format", "latex"]) == 0
    written = capsys.readouterr().out
    assert r"\shortstack{B\_ \\ snapshot\_ \\ constraint}" in written
    assert written.count("{") == written.count("}")


PAGE = "\\documentclass[twocolumn]{{article}}{packages}\\begin{{document}}\n{table}\n\\end{{document}}\n"


@needs("pdflatex", "texlive-latex-base")
@pytest.mark.parametrize("cells", ["mean", "mean-ci", "mean-sd"])
def test_latex_for_one_column_is_no_wider_than_the_column(ledger, tmp_path, capsys, cells):
    shown = ["--by", "generator_model,judge_model", "--cells", cells, "--places", "2", "--format", "latex"]
    assert main(["aggregate", str(ledger), *shown]) == 0
    table = capsys.readouterr().out
    for packages in ("\\usepackage{graphicx}", ""):
        (tmp_path / "t.tex").write_text(PAGE.format(packages=packages, table=table), encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
        made = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        log = made.stdout.decode(errors="replace")
        assert made.returncode == 0, log[-800:]
        if packages:
            assert "Overfull" not in log


def test_people_see_three_fixed_places_and_programs_six(ledger, capsys):
    assert main(["aggregate", str(ledger), "--by", "generator_model"]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()[1:4]]
    assert all(re.fullmatch(r"\d+\.\d{3}", row[4]) for row in shown), shown
    assert main(["aggregate", str(ledger), "--by", "generator_model", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rounding"]["places"] == 6


def test_the_only_dimension_of_a_rubric_is_not_shown_twice(tmp_path, capsys):
    (tmp_path / "scores.csv").write_text(
        "question_id,model,judge,score\n" + "".join(f"q{n},m,j,{n}\n" for n in range(1, 6))
    )
    assert main(["guess", str(tmp_path / "scores.csv"), "--save", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    [command] = [line.split()[1:] for line in said.splitlines() if line.startswith("normalizer normalize ")][:1]
    assert main(command) in (0, 1)
    capsys.readouterr()
    assert main(["aggregate", command[command.index("--out") + 1]]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert " ".join(head.split("total")[1].split()) == "95 % interval sd min max at min at max flags"
