"""A published table of comparisons is compared with the ledger, by rates and by the recipes of boards."""

import json

import pytest

from normalizer.cli import main
from tests.support.comparing import compared, drawn

GRADES = {"a": 1, "b": 2, "draw": 1.5}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    entries = drawn({"base": 0.0, "large": 1.0, "small": -0.5}, 20, 7)
    graded = [{**one, "verdict": GRADES[one["verdict"]]} for one in entries]
    return compared(tmp_path_factory.mktemp("boards"), graded)


def board(ledger, capsys, *flags):
    assert main(["preferences", str(ledger), *flags, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def check(ledger, tmp_path, *lines, flags):
    (tmp_path / "table.csv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return main(["check", str(tmp_path / "table.csv"), str(ledger), *flags])


def test_our_own_table_of_pairs_matches_in_every_cell(ledger, tmp_path, capsys):
    assert main(["preferences", str(ledger), "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert check(ledger, tmp_path, *lines, flags=("--by", "generator,against")) == 0
    assert " 0 mismatch" in capsys.readouterr().out


def test_a_leaderboard_follows_by_its_recipe_and_one_wrong_cell_is_found(ledger, tmp_path, capsys):
    pairs = board(ledger, capsys, "--baseline", "base", "--recipe", "alpaca-eval")["groups"][0]["pairs"]
    rows = [f"{pair['a']},{pair['recipe']['score']:.2f},{pair['items']}" for pair in pairs]
    named = ("--by", "generator", "--column", "Model=generator", "--column", "LC=score.mean")
    flags = (*named, "--baseline", "base", "--recipe", "alpaca-eval")
    assert check(ledger, tmp_path, "Model,LC,items", *rows, flags=flags) == 0
    wrong = rows[0].replace(f"{pairs[0]['recipe']['score']:.2f}", "12.34")
    assert check(ledger, tmp_path, "Model,LC,items", wrong, *rows[1:], flags=flags) == 1
    assert "12.34" in capsys.readouterr().out


def test_rates_against_all_others_are_a_table_of_generators(ledger, tmp_path, capsys):
    group = board(ledger, capsys)["groups"][0]
    ratings = {row["generator"]: row["rating"] for row in group["ratings"]["rows"]}
    rows = [f"{row['generator']},{row['rate']:.3f},{ratings[row['generator']]:.2f}" for row in group["overall"]]
    assert check(ledger, tmp_path, "generator,rate,rating", *rows, flags=("--by", "generator")) == 0


def test_a_statement_about_a_leaderboard_names_its_recipe_and_is_made_again(ledger, tmp_path, capsys):
    pairs = board(ledger, capsys, "--baseline", "base", "--recipe", "arena-hard")["groups"][0]["pairs"]
    lines = ["generator,score", *(f"{pair['a']},{pair['recipe']['score']:.1f}" for pair in pairs)]
    stated = str(tmp_path / "statement.json")
    flags = ("--by", "generator", "--baseline", "base", "--recipe", "arena-hard", "--attest", stated)
    assert check(ledger, tmp_path, *lines, flags=flags) == 0
    predicate = json.loads((tmp_path / "statement.json").read_text())["predicate"]
    assert predicate["recipe"] == {"name": "arena-hard", "files": []}
    assert predicate["options"]["baseline"] == "base"
    assert check(ledger, tmp_path, *lines, flags=("--attested", stated)) == 0
    assert check(ledger, tmp_path, *lines, "base,50.0", flags=("--attested", stated)) == 1


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ((), "name their column with --by generator"),
        (("--by", "generator", "--recipe", "wildbench"), "name it with --baseline"),
        (("--by", "generator", "--column", "rate=total.mean"), "write wins, rate.mean, score.mean"),
    ],
)
def test_what_is_lacking_is_said(flags, says, ledger, tmp_path, capsys):
    assert check(ledger, tmp_path, "generator,rate", "large,0.5", flags=flags) == 2
    assert says in capsys.readouterr().err
