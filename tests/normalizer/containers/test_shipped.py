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
from normalizer.documents.lossless import parse, to_builtin
from normalizer.documents.settings import load
from normalizer.screening.pipeline import normalize
from normalizer.screening.raw_rows import rebuild_text

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
    return normalize(data, load(dialect=shipped.read_dialect(name), stated=json.dumps(stated).encode()))


def lines(text: str):
    return [parse(line.encode(), 300) for line in text.splitlines()]


def test_every_shipped_dialect_is_here():
    assert sorted(CASES) == list(shipped.names())


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_shipped_dialect_fits_its_schema_and_its_rubric_is_usable(name):
    load(dialect=shipped.read_dialect(name))
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
            assert spec.violations(f"eval/{kind}.json", to_builtin(line)) == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_output_is_the_same_every_time(name):
    assert run(name, fixture(name)) == run(name, fixture(name))


@pytest.mark.parametrize("name", sorted(CASES))
def test_an_artifact_is_the_same_whichever_generator_answered(name):
    """Else no two generators have an artifact in common, and `compare` finds no pair."""
    data = fixture(name)
    records = [record for record in lines(run(name, data).records) if "file" in record]
    renamed = data
    for generator in {record["generator_model"] for record in records}:
        renamed = renamed.replace(str(generator).encode(), b"another-model")
    assert [record["artifact"] for record in lines(run(name, renamed).records) if "file" in record] == [
        record["artifact"] for record in records
    ]


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
    assert to_builtin(first["length"]) == {"a": 2, "b": 4}


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
    settings = load(dialect=shipped.read_dialect("arena-hard"), stated=json.dumps(STATED).encode())
    outcome = normalize(json.dumps(row).encode(), settings)
    [record], [failed] = lines(outcome.records), lines(outcome.invalid)
    assert (record["verdict"], record["order"], record["outcome"]["winner"]) == ("1.75", "ba", "a")
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
    settings = load(dialect=shipped.read_dialect("wildbench"), stated=json.dumps(stated).encode())
    [record] = lines(normalize(json.dumps([row]).encode(), settings).records)
    assert (record["generator_model"], record["judge_model"], record["scores"]) == (
        "org/writer",
        "judge-large",
        {"score": "7"},
    )


def test_a_prometheus_evaluation_names_its_judge():
    row = {"id": "t_0", "response_model_name": "writer-a", "score": 5, "eval_model_name": "prometheus-7b"}
    settings = load(dialect=shipped.read_dialect("prometheus"), stated=json.dumps(STATED).encode())
    [record] = lines(normalize(json.dumps({"t_0": row}).encode(), settings).records)
    assert record["judge_model"] == "prometheus-7b"


def counted(name: str, data: str | bytes, **stated: str):
    """Valid, invalid and unreadable entries of a file, after a check that records and header give back its bytes."""
    given = data if isinstance(data, bytes) else data.encode()
    outcome = normalize(
        given, load(dialect=shipped.read_dialect(name), stated=json.dumps({**STATED, **stated}).encode())
    )
    [header] = lines(outcome.header)
    assert rebuild_text(header, lines(outcome.records) + lines(outcome.invalid)) == given
    return (outcome.valid_count, outcome.invalid_count - outcome.unreadable_count, outcome.unreadable_count), outcome


def rows_of(name: str):
    """The rows of a fixture, without a line that cannot be read."""
    data = fixture(name)
    return json.loads(data) if data.lstrip()[:1] == b"[" else [json.loads(row) for row in data.splitlines()]


@pytest.mark.parametrize(
    "name", ["arena-hard", "judgebench", "langfuse", "lm-eval", "mlflow", "alpaca-eval", "wildbench", "wildbench-pair"]
)
def test_rows_count_the_same_in_a_list_on_several_lines_and_in_lines(name):
    rows = rows_of(name)
    stated = {field: f"stated-{field}" for field in CASES[name][4]}
    layouts = [json.dumps(rows), json.dumps(rows, indent=2), "\ufeff" + json.dumps(rows, indent=1)]
    layouts.append("".join(json.dumps(row) + "\r\n" for row in rows))
    assert [counted(name, data, **stated)[0] for data in layouts] == [CASES[name][:3]] * len(layouts)


@pytest.mark.parametrize("key", ["data", "scores"])
def test_a_page_of_the_langfuse_api_and_a_table_of_cells_are_read_like_lines(key):
    stated = {"generator_model": "g", "judge_model": "j"}
    rows = [row for row in rows_of("langfuse") if "traceId" in row or "trace_id" in row]
    expected = (3, 1, 0)
    for indent in (None, 2):
        assert counted("langfuse", json.dumps({key: rows, "meta": {"page": 1}}, indent=indent), **stated)[0] == expected
    names = ["trace_id", "observation_id", "name", "source", "value"]
    given = [[row.get(name) or "" for name in names] for row in rows if "trace_id" in row]
    cells = "\r\n".join(",".join(map(str, row)) for row in [names, *given])
    found, outcome = counted("langfuse", cells, **stated)
    assert found == (2, 1, 0)
    assert [record["file"] for record in lines(outcome.records)] == ["t1", "t2"]


def test_every_layout_of_a_deepeval_run_gives_the_same_scores():
    run = json.loads(fixture("deepeval"))
    snake = {"metricsData": "metrics_data", "evaluationModel": "evaluation_model", "actualOutput": "actual_output"}

    def renamed(value):
        if isinstance(value, list):
            return [renamed(item) for item in value]
        if isinstance(value, dict):
            return {snake.get(key, key): renamed(inner) for key, inner in value.items()}
        return value

    old = json.dumps(run).replace('"metricsData"', '"metricsMetadata"')
    layouts = [run, {"testRunData": run}, {"test_results": renamed(run["testCases"])}, json.loads(old)]
    for layout in layouts:
        found, outcome = counted("deepeval", json.dumps(layout), generator_model="g")
        assert found == (4, 1, 0)
        assert {record["judge_model"] for record in lines(outcome.records)} == {
            metric["evaluationModel"] for case in run["testCases"] for metric in case["metricsData"]
        }


def test_conversations_of_a_deepeval_run_are_entries_beside_its_other_test_cases():
    run = json.loads(fixture("deepeval"))
    metric = {"name": "Role", "score": 1.0, "evaluationModel": "j"}
    run["conversationalTestCases"] = [{"name": "talk", "turns": [], "metricsData": [metric]}]
    found, outcome = counted("deepeval", json.dumps(run), generator_model="g")
    assert found == (5, 1, 0)
    assert "talk/0" in [record["file"] for record in lines(outcome.records)]


def test_promptfoo_results_are_read_from_every_place_and_without_the_numbers_of_tests():
    document = json.loads(fixture("promptfoo"))
    results = document["results"]["results"]
    bare = [{key: value for key, value in row.items() if key not in ("testIdx", "promptIdx")} for row in results]
    assert counted("promptfoo", "".join(json.dumps(row) + "\n" for row in results), judge_model="j")[0] == (3, 2, 0)
    for layout in ({"version": 2, "results": bare}, {"evalId": "e", "results": {"version": 2, "results": bare}}):
        found, outcome = counted("promptfoo", json.dumps(layout, indent=2), judge_model="j")
        assert found == (3, 2, 0)
        assert all(record["file"].startswith("result-") for record in lines(outcome.records))


def test_metrics_of_lm_eval_rows_that_do_not_list_them_are_the_members_that_describe_no_document():
    row = {"doc_id": 0, "doc": {"q": "?"}, "target": "1", "arguments": [["a", {}]], "resps": [["x"]], "doc_hash": "h"}
    data = json.dumps({**row, "filtered_resps": ["x"], "acc": 1.0, "acc_norm": True, "brier": None})
    found, outcome = counted("lm-eval", data, judge_model="j", generator_model="g")
    assert found == (2, 1, 0)
    assert [(one["factors"]["metric"], one["scores"]) for one in lines(outcome.records)] == [
        ("acc", {"score": "1.0"}),
        ("acc_norm", {"score": "1"}),
    ]
    assert [one["source"]["pointer"] for one in lines(outcome.records)] == ["/0/acc", "/0/acc_norm"]


def test_assessments_of_an_mlflow_data_frame_are_those_of_its_traces():
    rows = [
        {"trace_id": row["info"]["trace_id"], "assessments": row["info"]["assessments"]} for row in rows_of("mlflow")
    ]
    for data in (json.dumps(rows), "".join(json.dumps(row) + "\n" for row in rows), json.dumps({"traces": rows})):
        assert counted("mlflow", data, generator_model="g")[0] == CASES["mlflow"][:3]


def test_a_model_graded_openai_eval_has_the_mean_of_its_final_report():
    graded = [("A", 1.0), ("B", 0.5), ("A", 1.0), ("C", 0.0)]
    events = [
        {
            "run_id": "r",
            "event_id": n,
            "sample_id": f"s.{n}",
            "type": "metrics",
            "data": {"choice": choice, "score": score},
        }
        for n, (choice, score) in enumerate(graded)
    ]
    events.insert(0, {"spec": {"completion_fns": ["writer", "judge"], "eval_name": "e"}})
    events.append(
        {
            "run_id": "r",
            "event_id": 9,
            "sample_id": "s.9",
            "type": "metrics",
            "data": {"choice": "__invalid__", "score": 0.0},
        }
    )
    events.append({"final_report": {"score": 0.625}})
    found, outcome = counted("openai-evals", "".join(json.dumps(event) + "\n" for event in events), judge_model="judge")
    assert (found, outcome.unselected_count) == ((4, 1, 0), 1)
    assert float(mean(outcome)) == 0.625
    [failed] = lines(outcome.invalid)
    assert [reason["code"] for reason in failed["reasons"]] == ["judge_failed"]


NAN = float("nan")


@pytest.mark.parametrize(
    ("name", "row", "bad"),
    [
        ("mt-bench", {"question_id": 1, "model": "m", "judge": ["j", "v"], "turn": 1, "score": 7}, {"score": NAN}),
        (
            "wildbench",
            {"session_id": "s", "generator": "m", "parsed_result": {"score": "7"}},
            {"parsed_result": {"score": NAN}},
        ),
        ("prometheus", {"id": "a", "response_model_name": "m", "score": 3}, {"score": NAN}),
        (
            "deepeval",
            {"name": "t", "metricsData": [{"name": "m", "score": 0.5}]},
            {"metricsData": [{"name": "m", "score": NAN}]},
        ),
    ],
)
def test_nan_is_a_failure_and_costs_no_other_row(name, row, bad):
    other = {**row, **bad} | {key: "other" for key in ("question_id", "session_id", "id", "name") if key in row}
    rows = {"testCases": [row, other]} if name == "deepeval" else [row, other]
    stated = {"generator_model": "g"} if name == "deepeval" else {}
    found, outcome = counted(name, json.dumps(rows), judge_model="j", **stated)
    assert found == (1, 1, 0)
    assert [reason["code"] for reason in lines(outcome.invalid)[0]["reasons"]] == ["judge_failed"]


def test_an_otel_event_with_a_label_and_no_number_says_what_to_declare():
    event = json.loads(fixture("otel").splitlines()[0])
    [record, *_] = event["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    label = {"key": "gen_ai.evaluation.score.label", "value": {"stringValue": "relevant"}}
    record["attributes"] = [one for one in record["attributes"] if "score" not in one["key"]] + [label]
    record["eventName"] = "gen_ai.evaluation.result"
    event["resourceLogs"] = [{"scopeLogs": [{"logRecords": [record]}]}]
    found, outcome = counted("otel", json.dumps(event, indent=2), judge_model="j", generator_model="g")
    assert found == (0, 1, 0)
    [reason] = lines(outcome.invalid)[0]["reasons"]
    assert (reason["code"], 'declare "labels"' in reason["message"]) == ("not_declared", True)
