"""Drift between two versions of a judge: of the same artifacts only, and never from self-judged records alone."""

import csv

from normalizer.cli import main
from tests.support.bundles import DIMENSIONS, bundle, entry
from tests.support.studies import ledger_of


def of_version(version, generator, scores, **more):
    """A run that gives each file one and the same score in every dimension."""
    entries = [entry(file, scores=dict.fromkeys(DIMENSIONS, score)) for file, score in scores.items()]
    return bundle(*entries, generator_model=generator, judge_prompt_version=version, **more)


def drifts(tmp_path, *bundles):
    """The exported table's rows, and what the page says."""
    ledger, page, tables = ledger_of(tmp_path, bundles), tmp_path / "page.html", tmp_path / "tables"
    assert main(["report", str(ledger), "--out", str(page), "--tables", str(tables)]) == 0
    with (tables / "drift.csv").open() as file:
        return list(csv.DictReader(file)), page.read_text()


def test_files_of_two_generators_are_two_artifacts_whatever_their_names(tmp_path):
    (row,), _ = drifts(
        tmp_path,
        of_version("v1", "one", {"a": 2, "b": 2}),
        of_version("v2", "one", {"a": 1}),
        of_version("v2", "two", {"a": 0, "b": 0}),
    )
    assert (row["n"], row["difference"], row["A_structure"]) == ("1", "-5", "-1")


def test_self_judged_records_alone_give_no_drift(tmp_path):
    own = {"judge_model": "one", "self_judged": True}
    (row,), page = drifts(
        tmp_path,
        of_version("v1", "one", {"a": 2}, **own),
        of_version("v2", "one", {"a": 1}, **own),
        of_version("v1", "one", {"a": 1}),
    )
    assert (row["judge"], row["n"], row["difference"], row["p"], row["A_structure"]) == ("one", "0", "NA", "NA", "NA")
    assert "all valid records are self-judged" in page.partition('id="drift"')[2].partition("</section>")[0]


def test_self_judged_records_count_beside_others(tmp_path):
    (row,), _ = drifts(
        tmp_path,
        of_version("v1", "one", {"a": 2}, judge_model="one", self_judged=True),
        of_version("v2", "one", {"a": 1}, judge_model="one", self_judged=True),
        of_version("v1", "two", {"a": 2}, judge_model="one"),
        of_version("v2", "two", {"a": 2}, judge_model="one"),
    )
    assert (row["n"], row["difference"], row["equal"]) == ("2", "-2.5", "0.5")
