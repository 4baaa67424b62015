"""One name of a file for several answers is refused, not counted as one answer."""

import pytest

from tests.support.bundles import entry
from tests.support.studies import ledger_of, output, refusal


def answers(*factors, file="answer.pdf"):
    run = {"phase": 1, "protocol_version": "p", "judge_model": "j", "generator_model": "g"}
    return [
        {**run, "run_id": f"r{number}", "factors": given, "per_file_scores": [entry(file)]}
        for number, given in enumerate(factors)
    ]


QUESTIONS = [{"question_id": f"q{number:02}"} for number in range(12)]


@pytest.mark.parametrize("command", ["aggregate", "agreement"])
def test_twelve_answers_that_share_the_name_of_a_file_are_not_one_unit(tmp_path, capsys, command):
    ledger = ledger_of(tmp_path, answers(*QUESTIONS))
    said = refusal(capsys, command, str(ledger))
    assert 'the file "answer.pdf" differ in factors.question_id (q00 and q01)' in said
    assert "--where factors.question_id=q01, or give each answer its own artifact in a manifest" in said


def test_grouped_or_selected_by_the_factor_they_are_counted(tmp_path, capsys):
    ledger = ledger_of(tmp_path, answers(*QUESTIONS))
    rows = output(capsys, "aggregate", str(ledger), "--by", "factors.question_id")["rows"]
    assert [row["n"] for row in rows] == [1] * 12
    [row] = output(capsys, "aggregate", str(ledger), "--where", "factors.question_id=q07")["rows"]
    assert row["n"] == 1
    [row] = output(capsys, "aggregate", str(ledger), "--unit", "record")["rows"]
    assert row["n"] == 12


def test_artifacts_of_a_manifest_are_taken_as_they_are_named(tmp_path, capsys):
    for number, factors in enumerate(QUESTIONS):
        (tmp_path / str(number)).mkdir()
        manifest = {"files": [{"file": "answer.pdf", "artifact": f"answer to {factors['question_id']}"}]}
        ledger_of(tmp_path / str(number), answers(factors), manifest=manifest)
    ledgers = [str(tmp_path / str(number) / "ledger") for number in range(12)]
    [row] = output(capsys, "aggregate", *ledgers)["rows"]
    assert row["n"] == 12


def test_a_factor_that_only_some_records_have_or_all_share_is_no_difference(tmp_path, capsys):
    given = [{"style": "short"}, {"style": "short", "length": "9"}, {}, {"length": "9", "style": "short"}]
    [row] = output(capsys, "aggregate", str(ledger_of(tmp_path, answers(*given))))["rows"]
    assert (row["n"], row["n_records"]) == (1, 4)


def test_the_order_of_factors_is_no_difference_and_the_first_in_order_is_named(tmp_path, capsys):
    same = [{"style": "short", "length": "9"}, {"length": "9", "style": "short"}]
    [row] = output(capsys, "aggregate", str(ledger_of(tmp_path, answers(*same))))["rows"]
    assert (row["n"], row["n_records"]) == (1, 2)
    (tmp_path / "other").mkdir()
    differing = [{"style": "long", "length": "9"}, {"length": "8", "style": "short"}]
    said = refusal(capsys, "aggregate", str(ledger_of(tmp_path / "other", answers(*differing))))
    assert "differ in factors.length (8 and 9)" in said


def test_records_that_are_left_out_do_not_matter(tmp_path, capsys):
    documents = answers({"question_id": "a"}, {"question_id": "b"})
    documents[1]["phase"] = 0
    [row] = output(capsys, "aggregate", str(ledger_of(tmp_path, documents)))["rows"]
    assert row["n"] == 1


@pytest.mark.parametrize("same_file", [True, False], ids=["one file", "two files"])
def test_a_plan_takes_levels_of_a_factor_for_repeats_only_if_told(tmp_path, capsys, same_file):
    """Twelve answers to twelve questions are no repeats of one answer; labels with a seed each are, if that is said."""
    documents = answers(*QUESTIONS)
    documents += [] if same_file else answers(*QUESTIONS, file="other.pdf")
    ledger = str(ledger_of(tmp_path, documents))
    said = refusal(capsys, "plan", ledger)
    assert 'labels of the file "answer.pdf" differ in factors.question_id (q00 and q01)' in said
    assert "say --repeats factors.question_id" in said
    told = output(capsys, "plan", ledger, "--repeats", "factors.question_id")["results"]
    assert {(row["repeated_items"], row["labels"]) for row in told} == ({(1, 12)} if same_file else {(2, 24)})


def test_repeats_by_runs_need_no_word(tmp_path, capsys):
    ledger = ledger_of(tmp_path, answers({"style": "short"}, {"style": "short"}, {"style": "short", "length": "9"}))
    assert {row["labels"] for row in output(capsys, "plan", str(ledger))["results"]} == {3}
