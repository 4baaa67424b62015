"""Intervals of the means of groups: items are clusters, and the ends of the scale are never left."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from normalizer.aggregate.intervals import Method, middle
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
    means = [Fraction(at) for at in range(resamples)]
    assert middle(means, n) == (Fraction(cut), Fraction(resamples - 1 - cut))
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


def test_all_units_of_one_item_have_no_interval(tmp_path, capsys):
    study = [Verdict("j", "g", f"a{n}", (n % 3, 1, 1, 1, 1), question="q") for n in range(8)]
    ledger = str(ledger_of(tmp_path, bundles_of(study)))
    (row,) = output(capsys, "aggregate", ledger, "--cluster", "factors.question")["rows"]
    assert (row["total"]["ci95"], row["flags"]) == (None, ["one_item"])


def test_generators_with_different_artifacts_are_flagged_and_none_is_bold(tmp_path, capsys):
    """`hard` is better on all artifacts that both have, and its mean is lower, because it was also given hard ones."""
    study = [Verdict("j", "easy", f"a{n}", (1, 1, 1, 1, 1)) for n in range(6)]
    study += [Verdict("j", "hard", f"a{n}", (2, 1, 1, 1, 1) if n < 6 else (0, 0, 0, 0, 0)) for n in range(12)]
    ledger = str(ledger_of(tmp_path, bundles_of(study)))
    rows = output(capsys, "aggregate", ledger, "--by", "generator_model")["rows"]
    assert [row["flags"] for row in rows] == [["different_artifacts"]] * 2
    paper = ["aggregate", ledger, "--by", "generator_model", "--cells", "mean", "--bold", "highest", "--format", "md"]
    assert main(paper) == 0
    printed = capsys.readouterr().out
    assert "**" not in printed
    assert r"different\_artifacts" in printed


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
