"""Pairwise files of other tools through the command line: into a ledger, out of it again, and as win rates.

The expected numbers are worked out by hand from the files under `tests/support/dialects/`.
"""

import hashlib
import json

import pytest

from normalizer.cli import main
from tests.normalizer.containers.test_shipped import FOLDER

STATED = ("--set", "phase=1", "--set", "protocol_version=p-1")
PAIRS = ("alpaca-eval", "arena-hard", "judgebench", "mt-bench-pair")


@pytest.fixture
def run(tmp_path, capsysbinary):
    """Runs a command and returns what it prints."""

    def run(*argv, status=0):
        capsysbinary.readouterr()
        assert main([str(part) for part in argv]) == status, argv
        return capsysbinary.readouterr()

    return run


@pytest.fixture
def taken(tmp_path, run):
    """Normalizes the file of a dialect and returns its path, the ledger and the words about entries."""

    def taken(name, *more):
        [path] = FOLDER.glob(f"{name}.*")
        ledger = tmp_path / name
        said = run("normalize", path, "--dialect", name, *STATED, *more, "--out", ledger, status=1).err.decode()
        [entries] = [line for line in said.splitlines() if line.startswith("entries:")]
        return path, ledger, entries

    return taken


def pair_of(run, ledger, *more):
    """The only pair of the ledger's preferences."""
    document = json.loads(run("preferences", ledger, "--format", "json", *more).out)
    [pair] = document["groups"][0]["pairs"]
    return pair, document


def counts(pair):
    return tuple(pair[name] for name in ("a", "b", "wins", "losses", "draws", "items"))


def test_arena_hard_verdicts_are_turned_back_once(taken, run):
    _, ledger, entries = taken("arena-hard", "--set", "baseline=base-b")
    assert entries == "entries: 8 in = 7 valid + 1 invalid + 0 unreadable"
    # The model's games, the baseline shown first in game 0:
    #   q1: A>>B lost, B>A lost. q2: A=B draw, no verdict. q3: B>A won, A>B won. q4: B>>A won, A=B draw.
    # By item 0, 1/2, 1 and 3/4, of which the mean is 9/16.
    pair, document = pair_of(run, ledger, "--baseline", "base-b")
    assert counts(pair) == ("writer-a", "base-b", 3, 2, 2, 4)
    assert pair["rate"] == 0.5625
    assert document["left_out"]["invalid"] == 1
    assert "order_unknown" not in pair["flags"]
    # The answer shown first won game 0 of q1 and game 1 of q3.
    assert [document["groups"][0]["order"]["first_shown"][name] for name in ("wins", "losses", "draws")] == [2, 3, 2]
    strong, _ = pair_of(run, ledger, "--baseline", "base-b", "--where", "factors.verdict=A>>B")
    assert counts(strong) == ("writer-a", "base-b", 0, 1, 0, 1)


def test_arena_hard_rows_without_a_baseline_are_invalid_and_the_others_count(taken, run):
    _, ledger, entries = taken("arena-hard")
    assert entries == "entries: 8 in = 4 valid + 4 invalid + 0 unreadable"
    pair, _ = pair_of(run, ledger, "--baseline", "base-b")
    assert (counts(pair), pair["rate"]) == (("writer-a", "base-b", 3, 0, 1, 2), 0.875)


def test_judgebench_decisions_are_turned_back_and_stand_beside_their_gold_label(taken, run):
    _, ledger, entries = taken("judgebench")
    assert entries == "entries: 6 in = 5 valid + 1 invalid + 0 unreadable"
    # A: p1 won, won. p2 won, no decision. p3, of which B is right, won and, shown second, lost.
    pair, document = pair_of(run, ledger)
    assert counts(pair) == ("writer-a/A", "writer-a/B", 4, 1, 0, 3)
    assert pair["rate"] == pytest.approx(2.5 / 3, abs=1e-6)
    both = document["groups"][0]["order"]["swapped"]
    assert (both["decided"], both["consistent"]) == (2, 1)
    wrong, _ = pair_of(run, ledger, "--where", "factors.label=B>A")
    assert (counts(wrong)[2:], wrong["rate"]) == ((1, 1, 0, 1), 0.5)


def test_alpaca_eval_preferences_are_about_outputs_and_their_order_is_flagged_as_unknown(taken, run):
    path, ledger, entries = taken("alpaca-eval")
    assert entries == "entries: 5 in = 4 valid + 1 invalid + 0 unreadable"
    # Preferences 1.9999872505, 1, 1.25, none and 1.5: writer-a, the second, wins once, loses twice, draws once.
    pair, _ = pair_of(run, ledger, "--baseline", "base-b")
    assert counts(pair) == ("writer-a", "base-b", 1, 2, 1, 4)
    assert pair["rate"] == 0.375
    assert pair["flags"] == ["order_unknown"]
    written = [row["preference"] for row in json.loads(path.read_text()) if row["preference"] is not None]
    published = sum(written) / len(written) - 1  # AlpacaEval's win rate
    assert pair["share"] == pytest.approx(published, abs=1e-6)


def test_mt_bench_pairs_name_their_winners(taken, run):
    _, ledger, entries = taken("mt-bench-pair")
    assert entries == "entries: 9 in = 6 valid + 2 invalid + 1 unreadable"
    # writer-a: 81/1 won, won. 81/2 draw, error. 82/1 lost, won. 82/2 draw, nothing there.
    pair, document = pair_of(run, ledger)
    assert counts(pair) == ("writer-a", "writer-b", 3, 1, 2, 4)
    assert pair["rate"] == 0.625
    assert [document["groups"][0]["order"]["first_shown"][name] for name in ("wins", "losses", "draws")] == [1, 3, 2]


@pytest.mark.parametrize("name", PAIRS)
def test_bytes_come_back_and_the_ledger_verifies(name, taken, run):
    path, ledger, _ = taken(name)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert run("restore", ledger, digest).out == path.read_bytes()
    assert run("restore", ledger, digest, "--from-records").out == path.read_bytes()
    run("audit", ledger)
    # Each list begins with the names of its columns.
    assert run("list", ledger).out.count(b"\n") - 1 == sum(
        len(run("list", ledger, kind).out.splitlines()) - 1 for kind in ("--valid", "--invalid")
    )


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_dialect_is_proposed_with_its_verdicts(name, run):
    [path] = FOLDER.glob(f"{name}.*")
    said = run("guess", path).out.decode()
    assert said.startswith(f"The shipped dialect {name} reads it.")
    assert '"verdict":' in said


def test_scores_and_comparisons_do_not_go_into_one_ledger(taken, run):
    _, ledger, _ = taken("alpaca-eval")
    [single] = FOLDER.glob("mt-bench.*")
    said = run("normalize", single, "--dialect", "mt-bench", *STATED, "--out", ledger, status=2).err.decode()
    assert "never mixed" in said
