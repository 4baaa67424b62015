"""Noise and plans against SciPy and statsmodels, and by hand."""

import json
from fractions import Fraction

import contract_spec as spec
import numpy as np
import pytest
import statsmodels.formula.api as smf
from scipy.stats import f
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.power import TTestIndPower, TTestPower

from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.noise.components import components, variances
from normalizer.noise.overview import PowerTarget, plan
from normalizer.noise.sample_size import items_needed, power_of
from normalizer.tables.pretty import dumps
from tests.support.labelling import bundle_of, labelled, noisy, truth

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def runs():
    real = truth(30, 2)
    return [noisy(real, seed, 0.3) for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory, runs):
    folder = tmp_path_factory.mktemp("noise")
    other = [noisy(run, 9, 0.3) for run in runs[:2]]
    bundles = [bundle_of(run, "judge", run_id=f"r{place}") for place, run in enumerate(runs)]
    bundles += [bundle_of(run, "judge", generator_model="w-2", run_id=f"o{place}") for place, run in enumerate(other)]
    return labelled(folder, "repeats", *bundles)


def test_the_parts_of_the_variance_are_those_of_an_analysis_of_variance(ledger, runs):
    document = plan((ledger,), Options(where={"generator_model": "writer"}), None)
    assert spec.violations("eval/plan.json", json.loads(dumps(document))) == []
    [row] = [each for each in document["results"] if each["measure"] == "total"]
    frame = pd.DataFrame([(f, sum(s.values())) for run in runs for f, s in run.items()], columns=["item", "value"])
    table = anova_lm(smf.ols("value ~ C(item)", frame).fit())
    above, within = table["mean_sq"]["C(item)"], table["mean_sq"]["Residual"]
    between = max((above - within) / 3, 0)
    assert float(row["within_sd"]) == pytest.approx(np.sqrt(within), abs=1e-6)
    assert float(row["between_sd"]) == pytest.approx(np.sqrt(between), abs=1e-6)
    assert float(row["noise_share"]) == pytest.approx(within / (within + between), abs=1e-6)
    # Shrout and Fleiss (1979), case 1: the interval of the ICC of three repeats, of which the share is the rest.
    ratio, items = above / within, len(runs[0])
    ends = [ratio / f.ppf(0.975, items - 1, 2 * items), ratio * f.ppf(0.975, 2 * items, items - 1)]
    expected = [1 - (end - 1) / (end + 2) for end in reversed(ends)]
    assert [float(end) for end in row["noise_share_ci95"]] == pytest.approx(expected, abs=1e-6)
    totals = [[sum(run[file].values()) for run in runs] for file in runs[0]]
    changed = np.mean([x[i] != x[j] for x in totals for i, j in ((0, 1), (0, 2), (1, 2))])
    assert float(row["changed"]) == pytest.approx(changed, abs=1e-6)


@pytest.mark.parametrize(("gap", "deviation"), [(0.3, 1.0), (0.5, 2.0), (1.0, 1.0), (0.05, 0.7)])
def test_the_items_needed_are_those_of_statsmodels(gap, deviation):
    solver = TTestPower()
    needed = items_needed(gap, deviation, 0.8, 0.05)
    assert needed == max(int(np.ceil(solver.solve_power(gap / deviation, power=0.8, alpha=0.05))), 10)
    for items in (needed, needed + 7):
        upper = solver.power(gap / deviation, items, 0.025, alternative="larger")
        assert power_of(gap, deviation, items, 0.05) == pytest.approx(upper, abs=1e-9)


def test_more_repeats_need_fewer_items_and_pairing_never_needs_more(ledger):
    document = plan((ledger,), Options(), PowerTarget(0.3))
    assert spec.violations("eval/plan.json", json.loads(dumps(document))) == []
    for row in document["results"]:
        for name in ("paired_least", "paired", "unpaired"):
            needed = [line[name] for line in row["plan"]]
            assert needed == sorted(needed, reverse=True)
        for line in row["plan"]:
            assert line["paired_least"] <= min(line["paired"], line["unpaired"])


def test_a_ledger_without_repeats_says_why_there_is_no_plan(tmp_path, capsys):
    ledger = labelled(tmp_path, "once", bundle_of(truth(12, 1), "judge"))
    assert main(["plan", str(ledger), "--detect", "0.3"]) == 0
    assert "no item with two labels" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["json", "csv", "md", "text"])
def test_the_command_writes_every_format(ledger, capsys, form):
    assert main(["plan", str(ledger), "--detect", "0.3", "--format", form]) == 0
    assert "judge" in capsys.readouterr().out


@pytest.mark.parametrize(("gap", "deviation"), [(0.3, 1.0), (0.5, 2.0), (1.0, 1.0), (0.05, 0.7)])
def test_runs_on_items_of_their_own_need_what_a_test_of_two_groups_needs(gap, deviation):
    found = items_needed(gap, deviation * np.sqrt(2), 0.8, 0.05, groups=2)
    expected = TTestIndPower().solve_power(gap / deviation, power=0.8, alpha=0.05, ratio=1)
    assert found == max(10, int(np.ceil(expected)))


def test_a_change_of_the_prompt_is_not_taken_for_noise(tmp_path, runs, capsys):
    ledger = labelled(
        tmp_path,
        "prompts",
        *(bundle_of(run, "judge", judge_prompt_version=f"v{place}") for place, run in enumerate(runs[:2])),
        bundle_of(runs[2], "judge", judge_prompt_version="v1", run_id="again"),
    )
    assert main(["plan", str(ledger)]) == 2
    assert "choose one with --where judge_prompt_version=v1" in capsys.readouterr().err
    assert main(["plan", str(ledger), "--where", "judge_prompt_version=v1"]) == 0


def test_what_distinguishes_generators_is_no_difference_of_items():
    """A generator that is 6 better than another does not make items harder to tell apart."""
    rng = np.random.default_rng(4)
    levels = [Fraction(round(1000 * value), 1000) for value in rng.normal(0, 1, 20)]
    noise = [Fraction(round(300 * value), 1000) for value in rng.normal(0, 1, 80)]
    tables = [
        [[level + gap + noise[4 * place + 2 * at], level + gap + noise[4 * place + 2 * at + 1]]
         for place, level in enumerate(levels)]
        for at, gap in enumerate((0, 6))
    ]  # fmt: skip
    found = variances(tables)
    assert found is not None
    within, between, _ = found
    values = np.array([[[float(label) for label in row] for row in table] for table in tables])
    means = values.mean(axis=2)
    assert float(within) == pytest.approx(values.var(axis=2, ddof=1).mean())
    assert float(within + 2 * between) == pytest.approx(2 * means.var(axis=1, ddof=1).mean())
    assert 0.4 < float(between) < 2


def test_the_noise_share_of_pass_and_fail_has_the_interval_of_items_under_random_weights():
    """By another way: weights that are drawn; and a judge that never changed its mind may still do so."""
    rows = [[1, 1, 1]] * 12 + [[0, 0, 0]] * 5 + [[1, 1, 0]] * 2 + [[0, 0, 1]]
    labels = [[Fraction(label) for label in row] for row in rows]
    found = components([labels])
    values = np.array(rows, dtype=float)
    means, n = values.mean(axis=1), len(rows)
    noise = values.var(axis=1, ddof=1)
    whole = values.var(axis=1) + (means - means.mean()) ** 2 * n / (n - 1)
    weights = np.random.default_rng(3).exponential(size=(100_000, n + 1))
    expected = []
    for more, size, share in ((0.0, whole.max(), 0.025), (0.5, 0.25, 0.975)):
        ratios = (weights @ [*noise, more]) / (weights @ [*whole, size])
        expected.append(np.quantile(ratios, share))
    assert [float(end) for end in found["noise_share_ci95"]] == pytest.approx(expected, abs=0.005)
    steady = components([labels[:17]])
    assert steady["noise_share"] == 0
    assert [float(end) for end in steady["noise_share_ci95"]] == [0, pytest.approx(0.4, abs=0.25)]
