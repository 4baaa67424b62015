"""The worked example's figures, worked out here from the raw bundles by hand, without a line of the program."""

import json
import statistics as plain
from collections import Counter
from pathlib import Path

import pytest

from normalizer.cli import main
from tests.support.bundles import DIMENSIONS
from tests.support.studies import output

RUNS = Path(__file__).parents[2] / "docs" / "example-study" / "runs"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "ledger"
    for run in sorted(RUNS.iterdir()):
        options = [f"--{kind}={run / kind}.json" for kind in ("manifest", "dialect") if (run / f"{kind}.json").exists()]
        assert main(["normalize", str(run / "bundle.json"), "--out", str(out), *options]) in (0, 1)
    return str(out)


@pytest.fixture(scope="module")
def totals():
    """The totals of phase 1 by judge, generator and artifact: what is on the scale, judged once, and on the list."""
    found: dict[tuple[str, str, str], int] = {}
    for run, judge, entries, name in (
        ("cedar-1", "judge-cedar", "per_file_scores", "file"),
        ("birch-1", "writer-birch", "results", "file_name"),
    ):
        bundle = json.loads((RUNS / run / "bundle.json").read_bytes())
        manifest = json.loads((RUNS / run / "manifest.json").read_bytes())
        files = {item["file"]: item for item in manifest["files"]}
        often = Counter(entry[name] for entry in bundle[entries])
        for entry in bundle[entries]:
            scores = {key: value for key, value in entry["scores"].items() if key != "total"}
            sound = scores.keys() == set(DIMENSIONS) and all(value in (0, 1, 2) for value in scores.values())
            if sound and often[entry[name]] == 1 and entry[name] in files:
                item = files[entry[name]]
                found[judge, item["generator_model"], item["artifact"]] = sum(scores.values())
    return found


def of(totals, judge=None, generator=None):
    return [total for (by, author, _), total in totals.items() if judge in (None, by) and generator in (None, author)]


def test_the_table_by_judge_and_generator(ledger, totals, capsys):
    summary = output(capsys, "aggregate", ledger, "--by", "judge_model,generator_model", "--where", "phase=1")
    rows = {(row["key"]["judge_model"], row["key"]["generator_model"]): row for row in summary["rows"]}
    for (judge, generator), row in rows.items():
        expected = of(totals, judge, generator) if generator else []
        if judge == generator or not expected:
            assert row["n"] == 0
            assert row["total"]["mean"] is None
            continue
        assert row["n"] == row["n_records"] == len(expected)
        assert row["total"]["mean"] == pytest.approx(plain.mean(expected), abs=5e-7)
        assert row["total"]["sd"] == pytest.approx(plain.stdev(expected), abs=5e-7)
        assert (row["total"]["min"], row["total"]["max"]) == (min(expected), max(expected))
        assert (row["at_min"], row["at_max"]) == (expected.count(0), expected.count(10))
    assert rows["writer-birch", "writer-birch"]["flags"] == ["only_self_judged"]
    assert summary["left_out"]["self_judged"] == len(of(totals, "writer-birch", "writer-birch")) == 11
    assert sorted(key for key, row in rows.items() if row["n"]) == [
        ("judge-cedar", "writer-alder"), ("judge-cedar", "writer-birch"), ("writer-birch", "writer-alder"),
    ]  # fmt: skip


def test_the_headline_averages_the_judges_of_each_artifact(ledger, totals, capsys):
    artifacts: dict[tuple[str, str], list[int]] = {}
    for (_, generator, artifact), total in totals.items():
        artifacts.setdefault((generator, artifact), []).append(total)
    summary = output(capsys, "aggregate", ledger, "--by", "generator_model", "--where", "phase=1")
    for row in summary["rows"]:
        generator = row["key"]["generator_model"]
        expected = [plain.mean(each) for (by, _), each in artifacts.items() if by == generator]
        assert row["n"] == len(expected)
        if expected:
            assert row["total"]["mean"] == pytest.approx(plain.mean(expected), abs=5e-7)
            assert row["total"]["sd"] == pytest.approx(plain.stdev(expected), abs=5e-7)


def test_the_judges_agree_as_far_as_they_do(ledger, totals, capsys):
    (pair,) = output(capsys, "agreement", ledger, "--where", "phase=1")["pairs"]
    cedar, birch = (
        {artifact: total for (judge, _, artifact), total in totals.items() if judge == name}
        for name in ("judge-cedar", "writer-birch")
    )
    gaps = [cedar[artifact] - birch[artifact] for artifact in cedar.keys() & birch.keys()]
    assert pair["n"] == len(gaps) == 17
    assert pair["total"]["mae"] == pytest.approx(plain.mean(map(abs, gaps)), abs=5e-7)
    assert pair["total"]["bias"] == pytest.approx(plain.mean(gaps), abs=5e-7)
    assert pair["total"]["exact"] == pytest.approx(gaps.count(0) / len(gaps), abs=5e-7)


def test_the_judges_own_numbers_do_not_hold(ledger, totals, capsys):
    report = output(capsys, "audit", "--claims", ledger, status=1)
    claims = {(claim["pointer"], claim["claimed"]): claim["recomputed"] for claim in report["claims"]}
    assert claims == {
        ("/summary/mean_total", "9.4"): pytest.approx(plain.mean(of(totals, "writer-birch")), abs=5e-7),
        ("/aggregates/mean_total", "8.22"): pytest.approx(plain.mean(of(totals, "judge-cedar")), abs=5e-7),
        ("/aggregates/n", "24"): len(of(totals, "judge-cedar")),
    }


def test_phases_1_and_2_and_the_trial_are_kept_apart(ledger, capsys):
    summary = output(capsys, "aggregate", ledger, "--by", "phase", "--diagnostic")
    assert [(row["key"]["phase"], row["n_records"]) for row in summary["rows"]] == [(0, 5), (1, 41), (2, 22)]
    assert summary["left_out"]["off_scale"] == 1
