"""Rows that hold comparisons: every byte comes back, and outcomes are those of a bundle that says the same."""

import json
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.documents.lossless import parse, to_builtin
from normalizer.documents.settings import load
from normalizer.errors import UnusableDocument
from normalizer.screening.pipeline import normalize
from normalizer.screening.raw_rows import rebuild_text

COMPARISON: dict[str, Any] = {
    "item": {"at": "/q"},
    "a": {"at": "/left"},
    "b": {"at": "/right"},
    "verdict": {"at": "/v", "words": {"L": "a", "R": "b", "T": "draw"}, "failed": ["error", None], "absent": "failed"},
    "verdict_about": "positions",
    "order": {"at": "/o", "words": {"left first": "ab", "right first": "ba"}},
    "repeat": {"at": "/n"},
    "judge": {"at": "/j"},
}
MEANT = {"L": "a", "R": "b", "T": "draw", "left first": "ab", "right first": "ba"}
NAMES = {"q": "item", "left": "a", "right": "b", "v": "verdict", "o": "order", "n": "repeat", "j": "judge"}


def dialect(comparison=None, **changes):
    declared = {"name": "d", "kind": "comparison", "container": [{"kind": "jsonl"}]}
    return {**declared, "comparison": COMPARISON if comparison is None else comparison, **changes}


def under(document, **documents):
    return load(dialect=json.dumps(document).encode(), **{k: json.dumps(v).encode() for k, v in documents.items()})


def lines(text):
    return [parse(line.encode(), 300) for line in text.splitlines()]


def reasons(outcome):
    return {int(r["source"]["index"]): [reason["code"] for reason in r["reasons"]] for r in lines(outcome.invalid)}


ROWS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"q": st.sampled_from(["1", "2"]), "left": st.sampled_from(["x", "y"])},
    optional={
        "right": st.sampled_from(["y", "z"]),
        "v": st.sampled_from(["L", "R", "T", 1.25, 1.5, 2, 3, {"a": 3, "b": 4}, "error", None]),
        "o": st.sampled_from(["left first", "right first", "unknown"]),
        "n": st.sampled_from([0, 1, -1]),
        "j": st.sampled_from(["judge", "x"]),
    },
)


def as_entry(row):
    """The row in the terms of a comparison bundle."""
    entry = {NAMES[key]: MEANT.get(value, value) if isinstance(value, str) else value for key, value in row.items()}
    return {**entry, "verdict_about": "positions"}


@settings(max_examples=200)
@given(st.lists(ROWS, min_size=1, max_size=6))
def test_rows_have_the_outcomes_of_a_bundle_that_says_the_same(rows):
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    outcome = normalize(data, under(dialect(), stated={"baseline": "z"}))
    bundle = normalize(json.dumps({"baseline": "z", "per_comparison": [*map(as_entry, rows)]}).encode(), load())
    expected = {int(record["source"]["index"]): record["outcome"] for record in lines(bundle.records)}
    failed = {index for index, row in enumerate(rows) if row.get("v") in ("error", None)}
    found = {int(record["source"]["index"]): record["outcome"] for record in lines(outcome.records)}
    assert found == {index: told for index, told in expected.items() if index not in failed}
    assert all("judge_failed" in codes for index, codes in reasons(outcome).items() if index in failed)
    [header] = lines(outcome.header)
    assert rebuild_text(header, lines(outcome.records) + lines(outcome.invalid)) == data
    for kind, text in (("comparison_record", outcome.records), ("invalid_comparison", outcome.invalid)):
        for record in lines(text):
            assert spec.violations(f"eval/{kind}.json", to_builtin(record)) == []


def row(**changes):
    return {"q": "1", "left": "x", "right": "y", "v": "L", "o": "left first", "j": "judge", **changes}


def run(*rows, comparison=None, **documents):
    data = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in rows).encode()
    return normalize(data, under(dialect(comparison), **documents))


def test_a_row_to_blame_costs_its_neighbours_nothing():
    outcome = run(row(), "{", row(q="2", v="error"), row(q="3"))
    assert (outcome.valid_count, outcome.invalid_count, outcome.unreadable_count) == (2, 2, 1)
    assert reasons(outcome) == {1: ["row_unreadable"], 2: ["judge_failed"]}


def test_a_verdict_or_order_that_no_word_covers_is_invalid_and_the_reason_names_the_declaration():
    outcome = run(row(v="left, clearly"), row(q="2", o="either"))
    [verdict], [order] = (record["reasons"] for record in lines(outcome.invalid))
    assert (verdict["code"], verdict["pointer"]) == ("not_declared", "/0/v")
    assert (order["code"], order["pointer"]) == ("not_declared", "/1/o")
    assert '"words"' in verdict["message"]
    assert '"words"' in order["message"]


def test_a_verdict_about_positions_without_an_order_is_invalid():
    assert reasons(run(row(o="unknown"), row(q="2", o="unknown", v="T"))) == {0: ["order_unknown"]}


def test_a_pair_is_given_by_its_names_or_by_the_stated_baseline():
    bare = {key: value for key, value in row().items() if key != "right"}
    assert reasons(run(bare)) == {0: ["generator_model_missing"]}
    [record] = lines(run(bare, stated={"baseline": "base"}).records)
    assert (record["outcome"]["a"], record["outcome"]["b"]) == ("x", "base")
    assert reasons(run(row(right="x"))) == {0: ["generators_equal"]}


def test_rows_for_one_comparison_are_told_apart_by_repeat():
    assert reasons(run(row(), row())) == {0: ["comparison_duplicated"], 1: ["comparison_duplicated"]}
    assert run(row(), row(n=1), row(o="right first")).valid_count == 3
    swapped = row(left="y", right="x", o="right first")
    assert reasons(run(row(), swapped)) == {0: ["comparison_duplicated"], 1: ["comparison_duplicated"]}


def test_a_judge_that_made_an_answer_must_be_labelled():
    assert reasons(run(row(j="y"))) == {0: ["self_judging_unlabelled"]}
    assert run(row(j="y"), stated={"self_judged": True}).valid_count == 1


def test_a_row_that_contradicts_what_was_stated_is_invalid():
    outcome = run(row(), row(q="2", j="other"), stated={"judge_model": "judge"})
    assert reasons(outcome) == {1: ["manifest_contradiction"]}
    assert lines(outcome.invalid)[0]["reasons"][0]["pointer"] == "/1/j"


def test_items_of_a_manifest_without_a_row_are_told():
    manifest = {"files": [{"file": "1", "artifact": "one"}, {"file": "2"}]}
    outcome = run(row(), manifest=manifest)
    assert lines(outcome.records)[0]["artifact"] == "one"
    assert [reason["code"] for reason in lines(outcome.header)[0]["reasons"]] == ["file_without_entry"]


def test_two_scores_are_a_verdict():
    scored = {key: value for key, value in COMPARISON.items() if key not in ("verdict", "verdict_about")}
    score = {"number": ["plain"], "failed": [-1]}
    scored["scores"] = {"a": {"at": "/s/0", **score}, "b": {"at": "/s/1", **score}}
    outcome = run(row(s=[7, "8"]), row(q="2", s=[7, 7]), row(q="3", s=[-1, 7]), comparison=scored)
    assert [(r["verdict"], r["outcome"]["winner"]) for r in lines(outcome.records)] == [
        ({"a": "7", "b": "8"}, "b"),
        ({"a": "7", "b": "7"}, "draw"),
    ]
    assert reasons(outcome) == {2: ["judge_failed"]}


def test_parts_are_one_entry_each_even_where_nothing_is_there():
    parts = {**COMPARISON, "verdict": {"of": "part", "at": "", "words": {"L": "a"}, "absent": "failed"}}
    parts["order"] = {"key": True, "words": {"g1": "ab", "g2": "ba"}}
    document = dialect(parts, parts=["/g1", "/g2"])
    outcome = normalize(json.dumps({**row(), "g1": "L"}).encode(), under(document))
    assert (outcome.valid_count, reasons(outcome)) == (1, {1: ["judge_failed"]})
    assert lines(outcome.invalid)[0]["source"]["pointer"] == "/0/g2"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kind": "scores"}, "comparison"),
        ({"comparison": {**COMPARISON, "scores": {"a": {"at": "/s"}, "b": {"at": "/t"}}}}, "exactly one of verdict"),
        ({"comparison": {k: v for k, v in COMPARISON.items() if k != "verdict"}}, "exactly one of verdict"),
        ({"key": ["file"]}, "no key"),
        ({"split": "/x/*", "parts": ["/y"]}, "split or parts"),
        ({"fields": {"file": {"at": "/f"}, "scores": {"s": {"at": "/s"}}}}, "has fields"),
    ],
)
def test_a_dialect_that_contradicts_its_kind_is_refused(changes, says):
    with pytest.raises(UnusableDocument, match=says):
        under(dialect(**changes))


def test_a_stated_baseline_is_for_rows_of_comparisons_only():
    with pytest.raises(UnusableDocument, match="--set baseline"):
        load(stated=b'{"baseline": "x"}')


@given(
    rows=st.lists(
        st.fixed_dictionaries({"l": st.sampled_from(["x", "y"]), "w": st.sampled_from(["x", "y", "tie", "z"])}),
        min_size=1,
        max_size=4,
    )
)
def test_a_winner_given_by_name_is_the_side_of_that_name(rows):
    declared = {
        "item": {"template": "{index}"},
        "a": {"at": "/l"},
        "b": {"text": "x"},
        "winner": {"at": "/w", "words": {"tie": "draw"}},
        "judge": {"text": "judge"},
    }
    data = "\n".join(json.dumps(row) for row in rows).encode()
    outcome = normalize(data, under(dialect(declared)))
    verdicts = {int(r["source"]["index"]): r["verdict"] for r in lines(outcome.records)}
    wanted = {"tie": "draw", "y": "a", "x": "b"}
    assert verdicts == {
        number: wanted[row["w"]] for number, row in enumerate(rows) if row["l"] == "y" and row["w"] in wanted
    }
    for record in lines(outcome.records):
        if record["verdict"] != "draw":
            steps = {step["put"]: step.get("as") for step in record["source"]["dialect"]["steps"]}
            assert steps["/verdict"] == "name"
    assert rebuild_text(lines(outcome.header)[0], lines(outcome.records + outcome.invalid)) == data


def test_words_stand_for_booleans_by_their_spelling():
    declared = {**COMPARISON, "verdict": {"at": "/v", "words": {"true": "a", "false": "b"}}}
    rows = [{"q": str(n), "left": "x", "right": "y", "v": bool(n), "o": "left first", "j": "j"} for n in (0, 1)]
    outcome = normalize("\n".join(map(json.dumps, rows)).encode(), under(dialect(declared)))
    assert [record["verdict"] for record in lines(outcome.records)] == ["b", "a"]
