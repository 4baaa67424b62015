"""Intervals of the means of groups: items are clusters, and the ends of the scale are never left."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from normalizer.aggregate import intervals
from normalizer.aggregate.intervals import Method, draw_blocks, middle_places
from normalizer.aggregate.summary import Options, aggregate
from normalizer.cli import main
from normalizer.estimation.clusters import gather
from normalizer.estimation.intervals import mean_interval
from tests.support.labelling import bundle_of, labelled, truth
from tests.support.studies import Verdict, bundles_of, ledger_of, output


@pytest.mark.parametrize(("n", "resamples"), [(2, 2000), (10, 2000), (20, 400), (50, 2000), (100_000, 2000)])
def test_the_points_are_hesterbergs(n, resamples):
    share = stats.norm.cdf(np.sqrt(n / (n - 1)) * stats.t.ppf(0.025, n - 1))
    cut = int(resamples * share)
    assert middle_places(resamples, n) == (cut, resamples - 1 - cut)
    assert cut <= resamples * 25 // 1000


def test_t_intervals_of_independent_units_are_those_of_scipy(tmp_path):
    study = [Verdict(f"j{n % 2}", f"g{n % 3}", f"a{n}", (n // 6 % 3, 1, n // 12 % 2, 1, 1)) for n in range(60)]
    options = Options(by=("judge_model", "generator_model"), interval=Method(student=True))
    summary = aggregate((ledger_of(tmp_path, bundles_of(study)),), options)
    assert summary["interval"] == {"method": "t", "cluster": None}
    for row in summary["rows"]:
        total = row["total"]
        error = float(total["sd"]) / math.sqrt(row["n"])
        expected = stats.t.interval(0.95, row["n"] - 1, loc=float(total["mean"]), scale=error)
        assert [float(end) for end in total["ci95"]] == pytest.approx(expected, abs=2e-6)


def test_five_equal_scores_have_an_interval_with_a_width_on_the_scale(tmp_path, capsys):
    ledger = str(ledger_of(tmp_path, bundles_of([Verdict("j", "g", f"a{n}", (2, 2, 2, 1, 1)) for n in range(5)])))
    (row,) = output(capsys, "aggregate", ledger)["rows"]
    low, high = row["total"]["ci95"]
    assert (low, high) == pytest.approx((8 * 0.025**0.2, 10 - 2 * 0.025**0.2), abs=1e-6)
    assert output(capsys, "aggregate", ledger, "--interval", "t")["rows"][0]["flags"] == ["no_spread"]
    assert main(["aggregate", ledger, "--cells", "mean-ci", "--places", "2"]) == 0
    assert "8.00 [3.83, 9.04]" in capsys.readouterr().out


def test_units_of_one_artifact_are_one_cluster_and_the_table_says_so(tmp_path, capsys):
    study = [
        Verdict("j", f"g{generator}", f"a{artifact}", ((artifact * 7 + generator) % 3, 1, 1, 1, 1))
        for artifact in range(12)
        for generator in range(4)
    ]
    ledger = str(ledger_of(tmp_path, bundles_of(study)))
    (row,) = output(capsys, "aggregate", ledger)["rows"]
    assert (row["n"], row["n_items"]) == (48, 12)
    items = gather([Fraction(sum(each.scores)) for each in study], [each.artifact for each in study])
    expected = mean_interval(items, (Fraction(0), Fraction(10)))
    assert row["total"]["ci95"] == pytest.approx([float(end) for end in expected], abs=1e-6)
    assert main(["aggregate", ledger]) == 0
    head, line, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["n", "items", "records"]
    assert line.split()[:3] == ["48", "12", "48"]


def test_units_without_the_key_of_items_are_items_of_their_own(tmp_path, capsys):
    scores = list(truth(16, 3).items())
    bundles = [bundle_of(dict(scores[:8]), "j")]
    bundles += [bundle_of(dict(scores[8 + 2 * n : 10 + 2 * n]), "j", factors={"question": f"q{n}"}) for n in range(4)]
    ledger = str(labelled(tmp_path, "ledger", *bundles))
    capsys.readouterr()
    (row,) = output(capsys, "aggregate", ledger, "--cluster", "factors.question")["rows"]
    assert (row["n"], row["n_items"]) == (16, 12)


def test_an_empty_level_of_the_key_of_items_is_none(tmp_path, capsys):
    """Eight answers whose cell of the question is empty are eight items, in a table and in a comparison."""
    bundles = []
    for model, seed in (("one", 3), ("other", 4)):
        scores = list(truth(16, seed).items())
        bundles.append(bundle_of(dict(scores[:8]), "j", generator_model=model, factors={"question": ""}))
        bundles += [
            bundle_of(dict(scores[at : at + 2]), "j", generator_model=model, factors={"question": f"q{at}"})
            for at in range(8, 16, 2)
        ]
    ledger = str(labelled(tmp_path, "ledger", *bundles))
    rows = output(capsys, "aggregate", ledger, "--by", "generator_model", "--cluster", "factors.question")["rows"]
    assert [(row["n"], row["n_items"]) for row in rows] == [(16, 12)] * 2
    pairs = ["--pair-by", "artifact,factors.question", "--cluster", "factors.question"]
    assert {row["items"] for row in output(capsys, "compare", ledger, *pairs)["contrasts"]} == {12}


def test_all_units_of_one_item_have_no_interval(tmp_path, capsys):
    study = [Verdict("j", "g", f"a{n}", (n % 3, 1, 1, 1, 1), question="q") for n in range(8)]
    ledger = str(ledger_of(tmp_path, bundles_of(study)))
    (row,) = output(capsys, "aggregate", ledger, "--cluster", "factors.question")["rows"]
    assert (row["total"]["ci95"], row["flags"]) == (None, ["one_item"])


@pytest.mark.parametrize("interval", ["gaffke", "t"])
def test_a_summary_does_not_depend_on_names_or_order(tmp_path, capsys, interval):
    study = [Verdict(f"j{n % 2}", f"g{n % 3}", f"a{n // 6}", ((n * 5) % 3, 1, n % 2, 1, 1)) for n in range(48)]
    renamed = [
        each._replace(judge=f"{9 - int(each.judge[1:])}j", generator=f"x{each.generator}", artifact=f"z{each.artifact}")
        for each in reversed(study)
    ]
    rows = []
    for name, verdicts in (("one", study), ("other", renamed)):
        (tmp_path / name).mkdir()
        ledger = str(ledger_of(tmp_path / name, bundles_of(verdicts)))
        rows.append(output(capsys, "aggregate", ledger, "--interval", interval)["rows"])
    assert rows[0] == rows[1]


@pytest.mark.parametrize("block", [1, 7, 1 << 18])
@pytest.mark.parametrize("held", [0, 1 << 24])
@pytest.mark.parametrize("n", [1, 2, 13, 500])
def test_resamples_are_those_of_one_stream_taken_one_after_the_other(monkeypatch, n, held, block):
    monkeypatch.setattr(intervals, "_BLOCK", block)
    monkeypatch.setattr(intervals, "_MOST_HELD", held)
    source = np.random.PCG64(5)
    plain = [[(int(bits) >> 32) * n >> 32 for bits in source.random_raw(n)] for _ in range(9)]
    drawn = draw_blocks(Method(resamples=9, seed=5), n)
    assert [row for rows in drawn for row in rows.tolist()] == plain
