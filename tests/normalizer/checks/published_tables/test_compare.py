"""A published table is compared with the ledger, cell by cell, by exact values."""

import csv
import io
import json
from decimal import Decimal
from fractions import Fraction

import contract_spec as spec
import pytest

from normalizer.cli import main
from tests.support.bundles import DIMENSIONS, bundle
from tests.support.study import artifact_means, by_hand, normalized


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return normalized(tmp_path_factory.mktemp("check") / "ledger")


@pytest.fixture
def check(ledger, tmp_path, capsys):
    """Checks a table given as lines."""

    def check(*lines, flags=("--by", "generator_model", "--where", "phase=1"), at=ledger):
        (tmp_path / "table.csv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        capsys.readouterr()
        status = main(["check", str(tmp_path / "table.csv"), str(at), *flags, "--format", "json"])
        caught = capsys.readouterr()
        if status == 2:
            return status, caught.err
        report = json.loads(caught.out)
        assert spec.violations("eval/check_report.json", report) == []
        return status, report

    return check


def verdicts(report):
    return [cell["verdict"] for cell in report["cells"]]


def test_our_own_tables_match_in_every_cell(ledger, check, capsys):
    flags = ("--by", "generator_model,factors.prompt_version", "--where", "phase=1")
    for unit in ("artifact", "record"):
        capsys.readouterr()
        assert main(["aggregate", str(ledger), *flags, "--unit", unit, "--format", "csv"]) == 0
        table = capsys.readouterr().out
        status, report = check(*table.splitlines(), flags=(*flags, "--unit", unit))
        assert status == 0
        assert report["counts"]["match"] == len(report["cells"]) > 200


def test_a_table_by_keys_that_by_does_not_name_says_what_to_add_and_then_it_matches(ledger, tmp_path, capsys):
    by = "generator_model,factors.prompt_version"
    assert main(["aggregate", str(ledger), "--by", by, "--where", "phase=1", "--format", "csv"]) == 0
    (tmp_path / "t.csv").write_text(capsys.readouterr().out)
    command = ["check", str(tmp_path / "t.csv"), str(ledger), "--where", "phase=1"]
    assert main(command) == 1
    told = capsys.readouterr().err
    assert told == f"t.csv has columns that are keys of groups: --by {by}\n"
    assert main([*command, *told.split(": ")[1].split()]) == 0


def test_a_number_matches_in_the_places_it_is_written_with(check):
    mean = artifact_means(by_hand("cedar-1", "birch-1"), "writer-alder")
    exact = sum(mean) / len(mean)
    assert exact == Fraction(217, 24)  # 9.041666...
    status, report = check(
        "generator_model,total,n", "writer-alder,9.04,12", "writer-alder,9.042,12.0", "writer-alder,9,12",
        "writer-alder,9.041667,12",
    )  # fmt: skip
    assert status == 0
    assert set(verdicts(report)) == {"match"}
    status, report = check("generator_model,total", "writer-alder,9.05", "writer-alder,9.041666", "writer-alder,10")
    assert status == 1
    assert set(verdicts(report)) == {"mismatch"}
    assert {cell["exact"] for cell in report["cells"]} == {"9.041666666667"}


def test_a_tie_may_be_rounded_either_way(tmp_path, check):
    scores = [dict.fromkeys(DIMENSIONS, 1) | {"A_structure": value} for value in (2, 1, 1, 1)]
    made = bundle(*({"file": f"{number}", "scores": each} for number, each in enumerate(scores)))
    (tmp_path / "bundle.json").write_text(json.dumps(made))
    assert main(["normalize", str(tmp_path / "bundle.json"), "--out", str(tmp_path / "own")]) == 0
    status, report = check("total", "5.25", "5.3", "5.2", "5.1", "5", flags=(), at=tmp_path / "own")
    assert status == 1
    assert verdicts(report) == ["match", "rounding_tie", "rounding_tie", "mismatch", "match"]
    assert report["cells"][1]["exact"] == "5.25"


def test_what_the_ledger_does_not_give_is_told(check):
    status, report = check(
        "generator_model,total,p-value,sd,95 % interval",
        "writer-alder,about 9,0.05,0.84,8.51 to 9.57",
        "writer-oak,7,0.05,1,[1; 2]",
        "(none),3,0.05,NA,NA",
        flags=("--by", "generator_model", "--where", "phase=1", "--interval", "t"),
    )
    assert status == 1
    assert verdicts(report) == [
        "not_derivable", "not_derivable", "match", "match",
        "not_derivable", "not_derivable", "not_derivable", "not_derivable",
        "not_derivable", "not_derivable", "match", "match",
    ]  # fmt: skip
    assert report["cells"][8]["why"] == "NA in the ledger: only_invalid"
    assert report["missing_rows"] == [{"generator_model": "writer-birch"}]


@pytest.mark.parametrize(
    ("line", "status"),
    {
        "a group that nobody judged": ("writer-oak,,7,0.05", 1),
        "a number where only self-judged records are": ("writer-birch,writer-birch,9,0.05", 1),
        "no number where only self-judged records are": ("writer-birch,writer-birch,NA,0.05", 0),
        "no number at all": ("writer-birch,judge-cedar,high,0.05", 1),
        "a column that says no statistic": ("writer-birch,judge-cedar,7.58,0.05", 0),
    }.values(),
)
def test_a_number_that_the_ledger_does_not_give_does_not_follow(check, line, status):
    flags = ("--by", "generator_model,judge_model", "--where", "phase=1")
    assert check("generator_model,judge_model,total,p-value", line, flags=flags)[0] == status


def test_na_for_a_number_is_a_mismatch(check):
    assert check("generator_model,total", "writer-alder,NA")[0] == 1


def test_columns_of_other_names_can_be_explained(check):
    line = "writer-birch,8.00,\u22120.5"
    flags = ("--by", "generator_model", "--where", "phase=1", "--column", "Mean score=total.mean")
    status, report = check("generator_model,Mean score,bias", line, flags=flags)
    assert status == 0
    assert verdicts(report) == ["match", "not_derivable"]
    assert "--column" in check("generator_model,x", "a,1", flags=(*flags[:4], "--column", "x=median"))[1]
    assert "no column y" in check("generator_model,x", "a,1", flags=(*flags[:4], "--column", "y=n"))[1]


@pytest.mark.parametrize(
    ("lines", "words"),
    {
        "no key column": (["total", "9"], "has no column generator_model"),
        "a short row": (["generator_model,total", "writer-alder"], "line 2: 1 cells for 2 columns"),
        "a name twice": (["generator_model,total,total", "a,1,1"], "each once"),
        "nothing": ([], "each once"),
        "a broken quote": (["generator_model,total", '"a"b,1'], "line 2"),
    }.values(),
)
def test_a_table_that_cannot_be_read_is_refused_in_words(check, lines, words):
    status, said = check(*lines)
    assert status == 2
    assert words in said


def test_nearly_a_tie_is_no_tie(tmp_path, check):
    """What six places would take for a tie is told apart: 1/3 of 10^-7 above or below."""
    rubric = {
        "name": "fine",
        "dimensions": {"d": {"scale": {"kind": "decimals", "minimum": 0, "maximum": 9, "places": 8}}},
    }
    (tmp_path / "rubric.json").write_text(json.dumps(rubric))
    made = bundle({"file": "a", "scores": {"d": 7.25000001}}, rubric="fine")
    (tmp_path / "bundle.json").write_text(json.dumps(made))
    flags = ["--rubric", str(tmp_path / "rubric.json"), "--out", str(tmp_path / "own")]
    assert main(["normalize", str(tmp_path / "bundle.json"), *flags]) == 0
    _, report = check("total", "7.3", "7.2", flags=(), at=tmp_path / "own")
    assert verdicts(report) == ["match", "mismatch"]


def test_it_is_told_as_text_too(ledger, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("generator_model,total\nwriter-alder,9.9\nwriter-birch,8\n(none),NA\n")
    flags = ["--by", "generator_model", "--where", "phase=1"]
    assert main(["check", str(tmp_path / "t.csv"), str(ledger), *flags]) == 1
    said = capsys.readouterr().out
    assert "mismatch" in said
    assert "9.041666666667" in said
    assert "3 cells: 2 match, 0 rounding_tie, 1 mismatch, 0 not_derivable." in said
    assert main(["check", str(tmp_path / "t.csv"), str(ledger), *flags, "--all", "--format", "csv"]) == 1
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert [row[4] for row in rows[1:]] == ["mismatch", "match", "match"]
    assert Decimal(rows[1][3]) == Decimal("9.9")


def test_a_number_that_the_cell_calls_something_else_is_not_taken_for_the_statistic(ledger, check, capsys):
    flags = ("--by", "generator_model", "--where", "phase=1")
    capsys.readouterr()
    assert main(["aggregate", str(ledger), *flags, "--format", "json"]) == 0
    total = json.loads(capsys.readouterr().out)["rows"][0]["total"]
    mean, (low, high) = total["mean"], total["ci95"]
    wrong = [f"SE {mean}", f"SD {mean}", f"{mean} (SD)", f"{mean} (SD {low} to {high})", f"{mean} (SE {low} - {high})"]
    _, report = check("generator_model;total", *(f"writer-alder;{cell}" for cell in wrong), flags=flags)
    assert not {"match", "rounding_tie"} & set(verdicts(report))
    _, report = check("generator_model;95 % interval", f"writer-alder;SD {low} to {high}", flags=flags)
    assert verdicts(report) == ["not_derivable"]
    _, report = check("generator_model;95 % interval", f"writer-alder;95 % CI {low} to {high}", flags=flags)
    assert verdicts(report) == ["match"]
    _, report = check(
        "generator_model;sd", f"writer-alder;SD {total['sd']}", f"writer-alder;SE {total['sd']}", flags=flags
    )
    assert verdicts(report) == ["match", "not_derivable"]


def test_a_label_between_two_numbers_does_not_join_them(ledger, check, capsys):
    flags = ("--by", "generator_model", "--where", "phase=1")
    capsys.readouterr()
    assert main(["aggregate", str(ledger), *flags, "--format", "json"]) == 0
    total = json.loads(capsys.readouterr().out)["rows"][0]["total"]
    cells = [
        f"{total['mean']} SD {total['sd']}",
        f"{total['mean']}, SD = {total['sd']}",
        f"{total['mean']} SE {total['sd']}",
    ]
    _, report = check("generator_model;total", *(f"writer-alder;{cell}" for cell in cells), flags=flags)
    assert verdicts(report) == ["match", "match", "mismatch"]


def test_swapped_arguments_and_folders_are_called_what_they_are(ledger, tmp_path, capsys):
    (tmp_path / "table.csv").write_text("n\n1\n")
    capsys.readouterr()
    assert main(["check", str(ledger), str(tmp_path / "table.csv")]) == 2
    assert f"{ledger} is a ledger: the table comes first, then its ledgers" in capsys.readouterr().err
    assert main(["check", str(tmp_path), str(ledger)]) == 2
    assert "it is a folder, where a file is wanted" in capsys.readouterr().err
