"""Scores of other boards, counted by hand as their code counts them."""

import json
from fractions import Fraction
from typing import Any

import contract_spec as spec
import pytest

from normalizer.aggregate.recipes import Recipe, read_recipe
from normalizer.cli import main
from normalizer.errors import CannotRun
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.preferences.recipes import score_pairs
from normalizer.tables.formats import dumps
from tests.support.comparing import compared

GRADES = [1, 1, 1.25, 1.25, 1.5, 1.75, 2]
"""Preferences from 1 (A much better) to 2 (B much better)."""


def graded(verdicts):
    return [{"item": f"q{place}", "a": "x", "b": "base", "verdict": verdict} for place, verdict in enumerate(verdicts)]


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("alpaca-eval", 100 * sum(2 - grade for grade in GRADES) / 7),
        ("arena-hard", 100 * (3 * 2 + 2 + 0.5 + 0) / (3 * 3 + 4)),
        ("wildbench", (100 + 100 + 50 + 50 + 0 - 50 - 100) / 7),
    ],
)
def test_a_recipe_gives_the_score_of_its_board_and_names_its_source(tmp_path, recipe, expected):
    document = preferences(
        (compared(tmp_path, graded(GRADES)),), PreferenceOptions(recipe=Recipe(recipe), baseline="base")
    )
    assert spec.violations("eval/preferences.json", json.loads(dumps(document))) == []
    [pair] = document["groups"][0]["pairs"]
    assert float(pair["recipe"]["score"]) == pytest.approx(expected, abs=1e-5)
    low, high = map(float, pair["recipe"]["ci95"])
    assert low < expected < high
    assert "github.com" in document["recipe"]["source"]


def test_the_counts_that_wildbench_publishes_give_its_reward():
    """yi-large-preview against gpt-4-turbo, in leaderboard/data_dir/pairwise-gpt4t-K=-1.json of allenai/WildBench.

    76 of its 1,023 rows are in no count, but in the number that the sum is divided by, just as ties are.
    """
    counts = {"1": 80, "3/4": 341, "1/2": 148 + 76, "1/4": 303, "0": 75}
    shares = [Fraction(share) for share, count in counts.items() for _ in range(count)]
    found = score("wildbench", [verdict(f"q{place}", share) for place, share in enumerate(shares)])
    assert float(found["score"]) == pytest.approx(100 * 0.02346041055718475, abs=1e-6)


def score(name, comparisons, rows=()):
    return score_pairs(Recipe(name, tuple(rows)), {("x", "base"): comparisons})["x", "base"]


def test_the_counts_by_task_that_wildbench_publishes_give_its_macro_reward():
    """yi-large-preview against gpt-4-turbo, in the same file: much better, better, as good, worse and much worse."""
    counts = {
        "Information seeking": (35, 158, 63, 112, 17),
        "Reasoning": (44, 228, 99, 202, 46),
        "Coding & Debugging": (15, 49, 24, 72, 18),
        "Editing": (24, 141, 57, 108, 27),
        "Math": (24, 84, 26, 76, 28),
    }
    shares = [Fraction(quarter, 4) for quarter in (4, 3, 2, 1, 0)]
    verdicts: list[Comparison] = []
    rows: list[dict[str, Any]] = []
    for tag, numbers in counts.items():
        for share, number in zip(shares, numbers, strict=True):
            for _ in range(number):
                rows.append({"id": f"q{len(rows)}", "primary_tag": tag, "secondary_tags": []})
                verdicts.append(verdict(rows[-1]["id"], share))
    found = score("wildbench-macro", verdicts, rows)
    assert float(found["score"]) == pytest.approx(100 * 0.004034757341383196, abs=1e-6)
    with pytest.raises(CannotRun, match="no tags for item q0"):
        score("wildbench-macro", verdicts, rows[1:])
    with pytest.raises(CannotRun, match="needs all five groups"):
        score("wildbench-macro", verdicts[:10], rows)


def test_an_item_with_tags_of_two_groups_counts_in_both():
    tags = {
        "q0": ("Math", ["Reasoning"]),
        "q1": ("Reasoning", []),
        "q2": ("Editing", []),
        "q3": ("Advice seeking", ["Information seeking"]),
        "q4": ("Coding & Debugging", []),
    }
    rows = [{"session_id": item, "primary_tag": one, "secondary_tags": more} for item, (one, more) in tags.items()]
    verdicts = [verdict(f"q{place}", Fraction(share, 4)) for place, share in enumerate((4, 3, 2, 1, 0))]
    expected = (1 * 100 + 1.25 * (100 + 50) / 2 + 0.5 * 0 + 0.75 * -50 + 1.25 * -100) / 4.75
    assert float(score("wildbench-macro", verdicts, rows)["score"]) == pytest.approx(expected, abs=1e-6)


def verdict(item, share):
    half = Fraction(1, 2)
    winner = "draw" if share == half else "a" if share > half else "b"
    return Comparison(item, "x", "base", winner, share, "a", "judge", 0, None, None, False)


def test_a_draw_in_words_is_a_preference_in_the_middle(tmp_path):
    """AlpacaEval reads 0, which older versions wrote for a draw, as 1.5."""
    entries = graded([1, "draw"])
    document = preferences(
        (compared(tmp_path, entries),), PreferenceOptions(recipe=Recipe("alpaca-eval"), baseline="base")
    )
    assert float(document["groups"][0]["pairs"][0]["recipe"]["score"]) == 75


def test_turning_the_names_of_a_pair_turns_its_score(tmp_path):
    entries = graded(GRADES)
    turned = [{**entry, "a": "base", "b": "x", "verdict": 3 - entry["verdict"]} for entry in entries]
    asked = PreferenceOptions(recipe=Recipe("arena-hard"), baseline="base")
    one, other = (
        preferences((compared(tmp_path, each, name),), asked) for name, each in (("n", entries), ("t", turned))
    )
    assert one["groups"][0]["pairs"] == other["groups"][0]["pairs"]


def test_verdicts_without_the_grades_of_a_recipe_are_refused(tmp_path):
    plain = compared(tmp_path, [{"item": "q", "a": "x", "b": "base", "verdict": "a"}], "plain")
    with pytest.raises(CannotRun, match="needs graded verdicts, and item q has none"):
        preferences((plain,), PreferenceOptions(recipe=Recipe("alpaca-eval")))
    fine = compared(tmp_path, graded([1.1]), "fine")
    with pytest.raises(CannotRun, match=r"a preference of 1\.1"):
        preferences((fine,), PreferenceOptions(recipe=Recipe("arena-hard"), baseline="base"))


def test_a_recipe_takes_the_files_that_it_needs_and_no_other(tmp_path):
    table = tmp_path / "tags.csv"
    table.write_text("id,primary_tag\nq0,Math\n")
    with pytest.raises(CannotRun, match="goes with --recipe"):
        read_recipe(None, (table,))
    with pytest.raises(CannotRun, match="needs no file"):
        read_recipe("arena-hard", (table,))
    with pytest.raises(CannotRun, match="needs --recipe-file"):
        read_recipe("wildbench-macro", ())
    broken = tmp_path / "tags.jsonl"
    broken.write_text("[1]\n")
    with pytest.raises(CannotRun, match="has no rows"):
        read_recipe("wildbench-macro", (broken,))
    read = read_recipe("wildbench-macro", (table,))
    assert read is not None
    assert read.rows == ({"id": "q0", "primary_tag": "Math"},)
    assert [file["name"] for file in read.files] == ["tags.csv"]


def test_the_command_prints_the_score_with_formula_and_source(tmp_path, capsys):
    ledger = compared(tmp_path, graded(GRADES))
    capsys.readouterr()
    assert main(["preferences", str(ledger), "--baseline", "base", "--recipe", "arena-hard"]) == 0
    printed = capsys.readouterr().out
    assert "65.384615" in printed
    assert "github.com/lmarena/arena-hard-auto" in printed
