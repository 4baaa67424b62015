"""Exports read back with the tools of others: nothing that a format can carry is lost."""

import csv
import io
import json
import os
import shutil
import subprocess
import uuid

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import normalizer
from normalizer.cli import main
from tests.support.bundles import DIMENSIONS
from tests.support.comparing import compared, drawn
from tests.support.labelling import bundle_of, labelled, noisy, truth


@pytest.fixture(scope="module")
def scores():
    real = truth(12, 1)
    return {"judge-a": real, "judge-b": noisy(real, 2, 0.4)}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory, scores):
    folder = tmp_path_factory.mktemp("export")
    bundles = [bundle_of(given, judge, factors={"topic": 'law, "=1+1"'}) for judge, given in scores.items()]
    bundles[0]["per_file_scores"].append({"file": "bad", "scores": {"A_structure": 7}})
    bundles[0]["per_file_scores"][0] |= {"notes": "line\nbreak, =SUM(A1)", "evidence": {"A_structure": "ümlaut"}}
    return labelled(folder, "ledger", *bundles)


def lines(ledger, kind="records"):
    return [json.loads(line) for line in (ledger / f"{kind}.jsonl").read_text().splitlines()]


def test_csv_has_every_record_and_every_score(ledger, capsys):
    assert main(["export", str(ledger), "--to", "csv"]) == 0
    caught = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(caught.out)))
    for row, record in zip(rows, lines(ledger), strict=True):
        assert row["record_id"] == record["record_id"]
        assert {name: float(row[f"score.{name}"]) for name in DIMENSIONS} == record["scores"]
        assert row["notes"] == record.get("notes", "")
        assert row["factor.topic"] == record["factors"]["topic"]
        assert row["evidence.A_structure"] == record.get("evidence", {}).get("A_structure", "")
    assert "not carried: how numbers were spelled" in caught.err


def test_parquet_is_read_by_pandas_polars_and_duckdb(ledger, tmp_path):
    path = tmp_path / "records.parquet"
    assert main(["export", str(ledger), "--to", "parquet", "--out", str(path)]) == 0
    records = lines(ledger)
    expected = [record["scores"]["A_structure"] for record in records]
    assert pd.read_parquet(path)["score.A_structure"].tolist() == expected
    assert pl.read_parquet(path)["score.A_structure"].to_list() == expected
    found = duckdb.connect().execute(f"SELECT record_id, \"index\" FROM '{path}'").fetchall()
    assert found == [(record["record_id"], record["source"]["index"]) for record in records]
    assert b"protocol_version" in pq.read_schema(path).metadata[b"normalizer"]
    other = tmp_path / "again.parquet"
    main(["export", str(ledger), "--to", "parquet", "--out", str(other)])
    assert other.read_bytes() == path.read_bytes()


def test_invalid_records_are_exported_only_when_asked_for(ledger, tmp_path):
    path = tmp_path / "all.parquet"
    assert main(["export", str(ledger), "--to", "parquet", "--out", str(path), "--invalid"]) == 0
    frame = pd.read_parquet(path)
    [bad] = frame[frame["status"] == "invalid"]["reasons"]
    assert {reason["code"] for reason in json.loads(bad)} == {"dimension_missing", "score_not_allowed"}
    assert len(frame) == len(lines(ledger)) + len(lines(ledger, "invalid"))


def test_json_lines_are_the_ledgers_own(ledger, tmp_path):
    out = tmp_path / "records.jsonl"
    assert main(["export", str(ledger), "--to", "jsonl", "--out", str(out)]) == 0
    assert out.read_bytes() == (ledger / "records.jsonl").read_bytes()
    assert pd.read_json(out, lines=True)["file"].tolist() == [record["file"] for record in lines(ledger)]


def test_comparisons_are_exported_with_their_outcome(tmp_path, capsys):
    ledger = compared(tmp_path, drawn({"x": 0.5, "y": 0.0}, 6, 1))
    assert main(["export", str(ledger), "--to", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["outcome.winner"] for row in rows] == [record["outcome"]["winner"] for record in lines(ledger)]
    assert [float(row["length.a"]) for row in rows] == [record["length"]["a"] for record in lines(ledger)]


def test_inspect_reads_the_logs(ledger, tmp_path, scores):
    log = pytest.importorskip("inspect_ai.log")
    out = tmp_path / "logs"
    assert main(["export", str(ledger), "--to", "inspect", "--out", str(out)]) == 0
    [listed] = log.list_eval_logs(str(out))  # Inspect lists and views no file with another kind of name
    read = log.read_eval_log(listed)
    assert (read.status, read.eval.model, len(read.samples)) == ("success", "writer", 12)
    for sample in read.samples:
        for judge, given in scores.items():
            assert sample.scores[judge].value == given[sample.id]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Inspect's own use of pandas
def test_frames_of_inspect_have_every_log_and_sample_once(tmp_path):
    analysis = pytest.importorskip("inspect_ai.analysis")
    bundles = [bundle_of(truth(6, 1), "judge-a", generator_model=name) for name in ("w/1", "w-1")]
    ledger = labelled(tmp_path, "ledger", *bundles)
    assert main(["export", str(ledger), "--to", "inspect", "--out", str(tmp_path / "logs")]) == 0
    assert sorted(analysis.evals_df(str(tmp_path / "logs"), quiet=True)["model"]) == ["w-1", "w/1"]
    samples = analysis.samples_df(str(tmp_path / "logs"), quiet=True)
    assert (len(samples), samples["sample_id"].nunique()) == (12, 12)


def test_every_eval_ever_documents_fit_the_fields_that_its_schema_requires(ledger, tmp_path, capsys):
    out = tmp_path / "eee"
    assert main(["export", str(ledger), "--to", "eee", "--out", str(out)]) == 2
    assert "--organization" in capsys.readouterr().err
    told = ["--organization", "us", "--retrieved", "1700000000"]
    assert main(["export", str(ledger), "--to", "eee", "--out", str(out), *told]) == 2
    assert "--developer 'writer=NAME'" in capsys.readouterr().err
    assert main(["export", str(ledger), "--to", "eee", "--out", str(out), *told, "--developer", "Us"]) == 0
    [path] = out.rglob("*.json")
    assert path.parent == out / "data" / "prompt-drift-v1" / "Us" / "writer"
    assert str(uuid.UUID(path.stem)) == path.stem
    assert uuid.UUID(path.stem).version == 4
    document = json.loads(path.read_text())
    required = {"schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info"}
    assert document.keys() == required | {"eval_library", "evaluation_results"}
    total = document["evaluation_results"][0]
    assert total.keys() == {"evaluation_name", "source_data", "metric_config", "score_details"}
    means = [sum(record["scores"].values()) for record in lines(ledger)]
    assert total["score_details"]["score"] == pytest.approx(sum(means) / len(means), abs=1e-6)
    assert [judge["model_info"]["id"] for judge in total["metric_config"]["llm_scoring"]["judges"]] == [
        "judge-a",
        "judge-b",
    ]
    assert all(isinstance(value, str) for value in total["score_details"]["details"].values())
    models = [
        document["model_info"],
        *(judge["model_info"] for judge in total["metric_config"]["llm_scoring"]["judges"]),
    ]
    for model in models:
        assert model["additional_details"] == {"deployment_type": "unknown", "model_availability": "unknown"}
    assert document["model_info"]["developer"] == "Us"


def eee_of(folder, bundle, *options):
    """The documents that the records of a bundle give, by path."""
    out = folder / "eee"
    told = ["--organization", "us", "--retrieved", "1700000000", "--out", str(out), *options]
    assert main(["export", str(labelled(folder, "ledger", bundle)), "--to", "eee", *told]) == 0
    return {str(path.relative_to(out)): json.loads(path.read_text()) for path in sorted(out.rglob("*.json"))}


def test_a_generator_named_with_its_developer_needs_no_other_word(tmp_path):
    bundle = bundle_of(truth(12, 1), "judge-a", generator_model="meta-llama/Llama-3:8b")
    [(path, document)] = eee_of(tmp_path, bundle).items()
    assert path.startswith("data/prompt-drift-v1/meta-llama/Llama-3_8b/")
    assert document["model_info"]["id"] == "meta-llama/Llama-3:8b"
    assert "developer" not in document["model_info"]


def test_a_developer_can_be_named_for_one_generator(tmp_path):
    given = ["--developer", "writer=Us", "--developer", "Them"]
    [path] = eee_of(tmp_path, bundle_of(truth(12, 1), "judge-a"), *given)
    assert path.startswith("data/prompt-drift-v1/Us/writer/")


def test_the_validator_of_every_eval_ever_accepts_the_documents(tmp_path):
    program = os.environ.get("EVERY_EVAL_EVER") or shutil.which("every_eval_ever")
    if program is None:
        pytest.skip("needs every_eval_ever (PyPI, Python 3.12), whose dependencies conflict with those of the tests")
    eee_of(tmp_path, bundle_of(truth(12, 1), "judge-a"), "--developer", "Us")
    command = [*program.split(), "validate", "--format", "json", "data/**/*.json"]
    done = subprocess.run(command, cwd=tmp_path / "eee", capture_output=True, text=True)
    [report] = json.loads(done.stdout)
    assert (report["valid"], report["errors"], report["warnings"]) == (True, [], [])


def test_records_of_two_phases_are_chosen_by_where_or_mixed_on_request(tmp_path, capsys):
    ledger = labelled(tmp_path, "ledger", bundle_of(truth(12, 1), "j"), {**bundle_of(truth(12, 2), "k"), "phase": 0})
    phase_2 = tmp_path / "2.json"
    evidence = dict.fromkeys(DIMENSIONS, "a word")
    bundle = {**bundle_of(truth(12, 3), "j"), "phase": 2, "run_id": "second"}
    for entry in bundle["per_file_scores"]:
        entry["evidence"] = evidence
    phase_2.write_text(json.dumps(bundle))
    assert main(["normalize", str(phase_2), "--out", str(ledger)]) == 0
    told = ["--organization", "us", "--retrieved", "1", "--developer", "us", "--out", str(tmp_path / "eee")]
    capsys.readouterr()
    assert main(["export", str(ledger), "--to", "eee", *told]) == 2
    assert "--where phase=2" in capsys.readouterr().err
    counts = {}
    for chosen in (["--where", "phase=2"], ["--mix", "phase"]):
        assert main(["export", str(ledger), "--to", "eee", *told, *chosen]) == 0
        for path in (tmp_path / "eee").rglob("*.json"):
            [result, *_] = json.loads(path.read_text())["evaluation_results"]
            counts[chosen[0]] = result["score_details"]["details"]["n_records"]
            path.unlink()
    assert counts == {"--where": "12", "--mix": "24"}
    capsys.readouterr()
    assert main(["export", str(ledger), "--to", "csv", "--where", "phase=2"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["phase"] for row in rows] == ["2"] * 12
    assert main(["export", str(ledger), "--to", "jsonl", "--where", "judge_model=k"]) == 0
    assert [json.loads(line)["judge_model"] for line in capsys.readouterr().out.splitlines()] == ["k"] * 12


@pytest.mark.parametrize(("arguments", "said"), [
    (["--to", "parquet"], "needs --out"),
    (["--to", "inspect", "--out", "x", "--invalid"], "no place for INVALID"),
    (["--to", "csv", "--mix", "phase"], "omit --mix"),
    (["--to", "eee", "--out", "x", "--organization", "u", "--retrieved", "1", "--developer", "a="], "no developer"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(ledger, capsys, arguments, said):
    assert main(["export", str(ledger), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_nothing_is_written_into_a_ledger(ledger, capsys):
    assert main(["export", str(ledger), "--to", "csv", "--out", str(ledger / "x.csv")]) == 2
    assert "only normalize writes" in capsys.readouterr().err


def test_datasets_of_hugging_face_reads_parquet_csv_and_json_lines(ledger, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    records = lines(ledger)
    expected = [record["scores"]["A_structure"] for record in records]
    for form, builder in {"parquet": "parquet", "csv": "csv", "jsonl": "json"}.items():
        path = tmp_path / f"records.{form}"
        assert main(["export", str(ledger), "--to", form, "--out", str(path)]) == 0
        found = datasets.load_dataset(builder, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
        assert found["record_id"][:] == [record["record_id"] for record in records]
        scores = [row["A_structure"] for row in found["scores"]] if form == "jsonl" else found["score.A_structure"][:]
        assert scores == expected


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_bundle_that_two_ledgers_have_is_written_once(ledger, tmp_path, form):
    copy = tmp_path / "copy"
    shutil.copytree(ledger, copy)
    one, two = tmp_path / "one", tmp_path / "two"
    assert main(["export", str(ledger), "--to", form, "--invalid", "--out", str(one)]) == 0
    assert main(["export", str(ledger), str(copy), "--to", form, "--invalid", "--out", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert len(list(normalizer.open(ledger, copy).records())) == len(list(normalizer.open(ledger).records()))


def test_every_eval_ever_names_only_the_judges_of_its_generator(tmp_path):
    real = truth(12, 3)
    both = labelled(
        tmp_path,
        "apart",
        bundle_of(real, "judge-a", generator_model="w-1"),
        bundle_of(real, "judge-b", generator_model="w-2"),
    )
    out = tmp_path / "eee"
    told = ["--organization", "us", "--retrieved", "1700000000"]
    assert main(["export", str(both), "--to", "eee", "--out", str(out), *told, "--developer", "us"]) == 0
    named = {}
    for path in out.rglob("*.json"):
        document = json.loads(path.read_text())
        scoring = document["evaluation_results"][0]["metric_config"]["llm_scoring"]
        named[document["model_info"]["id"]] = [judge["model_info"]["id"] for judge in scoring["judges"]]
    assert named == {"w-1": ["judge-a"], "w-2": ["judge-b"]}
