"""Claims of judges against their records: understood by their names alone, or told as not derivable."""

import json

import contract_spec as spec
import pytest

from normalizer.checks.claims import Meaning, meaning
from normalizer.cli import main
from tests.support.bundles import DIMENSIONS, bundle, entry
from tests.support.comparing import compared
from tests.support.studies import ledger_of, output

UNDERSTOOD = {
    "mean_total": Meaning("mean", "total"),
    "average_score": Meaning("mean", "total"),
    "total/mean": Meaning("mean", "total"),
    "totalAvg": Meaning("mean", "total"),
    "max_total": Meaning("max", "total"),
    "overall/lowest": Meaning("min", "total"),
    "sum_of_totals": Meaning("sum", "total"),
    "A_structure/mean": Meaning("mean", "A_structure"),
    "mean/A_structure": Meaning("mean", "A_structure"),
    "avg_A_structure": Meaning("mean", "A_structure"),
    "per_dimension/A_structure/max": Meaning("max", "A_structure"),
    "dimension_means/A_structure": None,
    "n_files": Meaning("count", None),
    "number_of_entries": Meaning("count", None),
    "count": Meaning("count", None),
    "mean_total_without_outliers": None,
    "median_total": None,
    "A_structure": None,
    "mean_total_q1": None,
    "mean": None,
    "writer-small/mean_total": None,
    "mean_max_total": None,
    "A_structure/B_snapshot_constraint/mean": None,
    "n_files_failed": None,
}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_a_name_means_what_its_words_say_and_nothing_more(name):
    assert meaning(name.split("/"), list(DIMENSIONS)) == UNDERSTOOD[name]


@pytest.mark.parametrize("name", ["mean_total", "total/mean", "totalAvg", "sum_of_total"])
def test_a_claim_about_total_means_nothing_certain_where_a_dimension_has_that_name(name):
    assert meaning(name.split("/"), ["total", "other"]) is None
    assert meaning(["overall_mean"], ["total", "other"]) == Meaning("mean", "total")


@pytest.fixture
def ledger(tmp_path):
    entries = [entry("a", total=5), entry("b", total=6), entry("c")]
    entries[2]["scores"]["A_structure"] = 2
    lost = entry("d", surplus=1)
    text = {
        "mean_total": 5.33,
        "total": {"mean": 5.4, "max": 6},
        "by_dimension": {"A_structure": {"mean": 1.3333, "sum": 5}},
        "n_files": 4,
        "verdict": "good",
        "median_total": 5,
    }
    return ledger_of(tmp_path, [bundle(*entries, lost, aggregates=text), bundle(entry("z"))])


def test_every_claim_gets_a_verdict(ledger, capsys):
    report = output(capsys, "audit", "--claims", str(ledger), "--all", status=1)
    assert spec.violations("eval/claims.json", report) == []
    found = {claim["pointer"]: (claim["claimed"], claim["recomputed"], claim["verdict"]) for claim in report["claims"]}
    assert found == {
        "/aggregates/mean_total": ("5.33", 5.333333, "rounded"),
        "/aggregates/total/mean": ("5.4", 5.333333, "mismatch"),
        "/aggregates/total/max": ("6", 6, "match"),
        "/aggregates/by_dimension/A_structure/mean": ("1.3333", 1.333333, "rounded"),
        "/aggregates/by_dimension/A_structure/sum": ("5", 4, "mismatch"),
        "/aggregates/n_files": ("4", 3, "mismatch"),
        "/aggregates/median_total": ("5", None, "not_derivable"),
        "/per_file_scores/0/total": ("5", 5, "match"),
        "/per_file_scores/1/total": ("6", 5, "mismatch"),
    }
    assert report["counts"] == {"match": 2, "rounded": 2, "mismatch": 4, "not_derivable": 1}
    assert {claim["invalid"] for claim in report["claims"]} == {1}


def test_without_every_only_what_does_not_hold_is_listed(ledger, capsys):
    assert main(["audit", "--claims", str(ledger)]) == 1
    said = capsys.readouterr().out
    assert said.count("mismatch") == 5
    assert "match 2, rounded 2, mismatch 4, not_derivable 1" in said


def test_claims_of_a_dialect_point_into_the_bundle_as_it_was_written(tmp_path, capsys):
    dialect = {"name": "d", "bundle": [{"take": "/summary", "put": "/aggregates"}]}
    ledger = ledger_of(tmp_path, [bundle(entry("a"), summary={"mean_total": 5})], dialect=dialect)
    (claim,) = output(capsys, "audit", "--claims", str(ledger), "--all")["claims"]
    assert (claim["pointer"], claim["verdict"]) == ("/summary/mean_total", "match")


def test_a_ledger_of_comparisons_has_no_scores_to_derive_claims_from(tmp_path, capsys):
    pair = {"item": "q1", "a": "one", "b": "two", "verdict": "a", "order": "ab"}
    ledger = compared(tmp_path, [pair], aggregates={"mean_total": 3})
    capsys.readouterr()
    assert main(["audit", "--claims", str(ledger), "--format", "json"]) == 0
    assert [claim["verdict"] for claim in json.loads(capsys.readouterr().out)["claims"]] == ["not_derivable"]
