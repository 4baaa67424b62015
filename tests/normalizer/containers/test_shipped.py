"""The dialects that come with the program, each on a small file written as its tool writes it.

Rows in are entries plus rows without an entry; entries are valid, invalid or unreadable; the bytes come back; and where
a tool publishes a mean of its own, the valid records have that mean.
"""

import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path

import contract_spec as spec
import pytest

from normalizer.containers import shipped
from normalizer.documents.lossless import parse, plain
from normalizer.documents.settings import load
from normalizer.screening.pipeline import normalize
from normalizer.screening.rebuild import rebuild_text

FOLDER = Path(__file__).parents[2] / "support" / "dialects"
STATED = {"phase": 1, "protocol_version": "p-1"}
# name: valid, invalid, unreadable, rows or parts without an entry, what --set must state
CASES = {
    "mt-bench": (3, 1, 1, 0, ()),
    "mt-bench-pair": (6, 2, 1, 0, ()),
    "inspect": (3, 2, 0, 0, ("judge_model",)),
    "promptfoo": (3, 2, 0, 0, ("judge_model",)),
    "deepeval": (4, 1, 0, 0, ("generator_model",)),
    "openai-evals": (3, 0, 0, 2, ("judge_model",)),
    "lm-eval": (5, 1, 0, 0, ("generator_model", "judge_model")),
    "arena-hard": (7, 1, 0, 0, ("baseline",)),
    "wildbench": (2, 1, 0, 0, ()),
    "alpaca-eval": (4, 1, 0, 0, ()),
    "prometheus": (3, 1, 0, 0, ("judge_model",)),
    "judgebench": (5, 1, 0, 0, ()),
    "mlflow": (3, 1, 0, 3, ("generator_model",)),
    "langfuse": (5, 1, 0, 0, ("generator_model", "judge_model")),
    "otel": (2, 1, 0, 2, ("generator_model", "judge_model")),
    "otel-spans": (2, 1, 0, 1, ("judge_model",)),
    "wildbench-pair": (3, 1, 0, 0, ("judge_model",)),
}


def fixture(name: str) -> bytes:
    [path] = FOLDER.glob(f"{name}.*")
    return path.read_bytes()


def run(name: str, data: bytes):
    stated = {**STATED, **{field: f"stated-{field}" for field in CASES[name][4]}}
    return normalize(data, load(dialect=shipped.given(name), stated=json.dumps(stated).encode()))


def lines(text: str):
    return [parse(line.encode(), 300) for line in text.splitlines()]


def test_every_shipped_dialect_is_here():
    assert sorted(CASES) == list(shipped.names())


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_shipped_dialect_fits_its_schema_and_its_rubric_is_usable(name):
    load(dialect=shipped.given(name))
    assert shipped.dialect_named(name)["name"] == name


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_row_is_accounted_for(name):
    outcome = run(name, fixture(name))
    counts = (outcome.valid_count, outcome.invalid_count - outcome.unreadable_count, outcome.unreadable_count)
    assert (*counts, outcome.unselected_count) == CASES[name][:4], outcome.reasons
    assert {reason["code"] for record in lines(outcome.invalid) for reason in record["reasons"]} <= {
        "judge_failed",
        "row_unreadable",
        *(["judge_model_missing"] if name == "judgebench" else []),  # a judgment that failed names no judge
    }


@pytest.mark.parametrize("name", sorted(CASES))
def test_records_and_header_give_back_the_bytes(name):
    data = fixture(name)
    outcome = run(name, data)
    [header] = lines(outcome.header)
    assert rebuild_text(header, lines(outcome.records) + lines(outcome.invalid)) == data


@pytest.mark.parametrize("name", sorted(CASES))
def test_lines_are_what_their_schemas_say(name):
    outcome = run(name, fixture(name))
    compares = shipped.dialect_named(name).get("kind") == "comparison"
    records, invalid = ("comparison_record", "invalid_comparison") if compares else ("eval_record", "invalid_record")
    kinds = {records: outcome.records, invalid: outcome.invalid, "bundle_header": outcome.header}
    for kind, text in kinds.items():
        for line in lines(text):
            assert spec.violations(f"eval/{kind}.json", plain(line)) == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_output_is_the_same_every_time(name):
    assert run(name, fixture(name)) == run(name, fixture(name))


def mean(outcome, **factors):
    scores = [
        Decimal(score)
        for record in lines(outcome.records)
        for score in record["scores"].values()
        if factors.items() <= record.get("factors", {}).items()
    ]
    return sum(scores) / len(scores)


def test_the_means_that_tools_publish_are_those_of_the_records():
    inspect = json.loads(fixture("inspect"))["results"]["scores"][0]
    assert float(mean(run("inspect", fixture("inspect")), scorer=inspect["name"])) == 0.75
    assert inspect["metrics"]["accuracy"]["value"] == 0.75
    metrics = json.loads(fixture("promptfoo"))["results"]["prompts"][0]["metrics"]
    named = metrics["namedScores"]["accuracy"] / metrics["namedScoresCount"]["accuracy"]
    assert float(mean(run("promptfoo", fixture("promptfoo")), metric="accuracy")) == pytest.approx(named, abs=1e-12)
    deepeval = json.loads(fixture("deepeval"))["metricsScores"]
    for published in deepeval:
        found = float(mean(run("deepeval", fixture("deepeval")), metric=published["metric"]))
        assert found == pytest.approx(sum(published["scores"]) / len(published["scores"]), abs=1e-12)
    report = json.loads(fixture("openai-evals").splitlines()[-1])["final_report"]
    found = float(mean(run("openai-evals", fixture("openai-evals"))))
    assert found == pytest.approx(report["accuracy"], abs=1e-12)


def test_the_lengths_of_alpaca_eval_are_those_that_it_counts():
    rows = json.loads(fixture("alpaca-eval"))
    rows[0] |= {"output_1": "é\N{GRINNING FACE}", "output_2": "four"}
    [first, *_] = lines(run("alpaca-eval", json.dumps(rows).encode()).records)
    assert plain(first["length"]) == {"a": 2, "b": 4}


def test_scores_of_every_langfuse_layout_name_their_trace():
    files = [record["file"] for record in lines(run("langfuse", fixture("langfuse")).records)]
    assert files == ["t1", "t2", "t4/o4", "t5/o5", "t6"]


def archived(data: bytes) -> bytes:
    """An Inspect log in its .eval form: a member for each sample, and one for the rest."""
    log = json.loads(data)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": log["eval"]}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps({k: v for k, v in log.items() if k != "samples"}))
    return out.getvalue()


def test_both_forms_of_an_inspect_log_give_the_same_scores():
    def told(outcome):
        fields = ("file", "scores", "factors", "generator_model", "run_id", "created_at")
        return [{field: record[field] for field in fields} for record in lines(outcome.records)]

    data = fixture("inspect")
    assert told(run("inspect", archived(data))) == told(run("inspect", data))


def test_each_value_of_an_inspect_scorer_is_an_entry_with_the_scorers_explanation():
    outcome = run("inspect", fixture("inspect"))
    [record] = [one for one in lines(outcome.records) if one["factors"]["scorer"] == "style"]
    assert (record["factors"]["value"], record["scores"], record["notes"]) == ("clarity", {"score": "0.5"}, "short")
    plain_ones = [one for one in lines(outcome.records) if one["factors"]["scorer"] == "graded"]
    assert all("value" not in one["factors"] for one in plain_ones)
    [failed, no_scores] = [one["reasons"] for one in lines(outcome.invalid)]
    assert [reason["pointer"] for reason in failed] == ["/samples/2/scores/style/value/depth"]
    assert [reason["code"] for reason in no_scores] == ["judge_failed"]


def test_a_failed_grader_of_promptfoo_is_no_score_of_zero():
    invalid = lines(run("promptfoo", fixture("promptfoo")).invalid)
    [reason] = next(one["reasons"] for one in invalid if one.get("factors", {}).get("metric") == "style")
    assert (reason["code"], "graderError is true" in reason["message"]) == ("judge_failed", True)


def test_an_empty_label_of_a_promptfoo_provider_is_no_name():
    generators = {one["generator_model"] for one in lines(run("promptfoo", fixture("promptfoo")).records)}
    assert generators == {"writer-a", "echo"}


def test_a_preference_of_zero_is_a_draw_as_older_alpaca_eval_files_write_it():
    rows = json.loads(fixture("alpaca-eval"))
    rows[0]["preference"] = 0
    records = lines(run("alpaca-eval", json.dumps(rows).encode()).records)
    assert records[0]["verdict"] == "draw"


def test_arena_hard_labels_with_a_less_than_sign_are_wins_of_the_other_answer_and_a_null_game_is_a_failure():
    row = {"uid": "q5", "judge": "j", "model": "m", "baseline": "b", "games": [{"score": "A<B"}, None]}
    settings = load(dialect=shipped.given("arena-hard"), stated=json.dumps(STATED).encode())
    outcome = normalize(json.dumps(row).encode(), settings)
    [record], [failed] = lines(outcome.records), lines(outcome.invalid)
    assert (record["verdict"], record["order"], record["outcome"]["winner"]) == ("b", "ba", "a")
    assert [reason["code"] for reason in failed["reasons"]] == ["judge_failed"]


def test_the_generator_of_an_evaluated_span_is_its_model():
    records = lines(run("otel-spans", fixture("otel-spans")).records)
    assert {(one["generator_model"], one["factors"]["evaluation"]) for one in records} == {
        ("writer-a", "Relevance"),
        ("writer-a", "Safety"),
    }


def test_published_wildbench_scores_name_their_model_and_not_their_judge():
    row = {"session_id": "s1", "parsed_result": {"score": "7"}, "model_test": "org/writer", "score": "7"}
    stated = {**STATED, "judge_model": "judge-large"}
    settings = load(dialect=shipped.given("wildbench"), stated=json.dumps(stated).encode())
    [record] = lines(normalize(json.dumps([row]).encode(), settings).records)
    assert (record["generator_model"], record["judge_model"], record["scores"]) == (
        "org/writer",
        "judge-large",
        {"score": "7"},
    )


def test_a_prometheus_evaluation_names_its_judge():
    row = {"id": "t_0", "response_model_name": "writer-a", "score": 5, "eval_model_name": "prometheus-7b"}
    settings = load(dialect=shipped.given("prometheus"), stated=json.dumps(STATED).encode())
    [record] = lines(normalize(json.dumps({"t_0": row}).encode(), settings).records)
    assert record["judge_model"] == "prometheus-7b"
